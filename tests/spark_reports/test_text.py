"""Numbers and times as people read them."""

from __future__ import annotations

import pytest

from spark_reports import text


@pytest.mark.parametrize(
    ("value_ns", "shown"),
    [
        (None, "n/a"),
        (0, "0 s"),
        (850, "850 ns"),
        (14_800, "14.8 µs"),
        (999_600, "1.00 ms"),
        (12_011_696_436, "12.0 s"),
        (12_000_000_000, "12 s"),
        (14_800_000, "14.8 ms"),
        (3_200_000_000, "3.2 s"),
        (60_000_000_000, "60 s"),
        (125_000_000_000, "2 min 05 s"),
        (7_380_000_000_000, "2 h 03 min"),
    ],
)
def test_durations_have_the_unit_that_fits(value_ns: int | None, shown: str) -> None:
    assert text.duration(value_ns).replace(text.NBSP, " ") == shown


@pytest.mark.parametrize(
    ("value_ns", "shown"),
    [(0, "00:00.0"), (42_460_000_000, "00:42.5"), (59_960_000_000, "01:00.0"), (3_723_400_000_000, "1:02:03.4")],
)
def test_session_time_is_a_clock(value_ns: int, shown: str) -> None:
    assert text.clock(value_ns) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0 %"),
        (0.0004, "below 0.1 %"),
        (0.016, "1.6 %"),
        (0.0996, "10 %"),
        (0.42, "42 %"),
        (0.999, "99.9 %"),
        (1, "100 %"),
    ],
)
def test_shares_never_round_to_all_or_nothing(value: float, shown: str) -> None:
    assert text.share(value).replace(text.NBSP, " ") == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (12, "12 B"),
        (2_749_065, "2.62 MiB"),
        (1_536, "1.5 KiB"),
        (10_956, "10.7 KiB"),
        (5 * 2**40, "5 TiB"),
        (None, "n/a"),
    ],
)
def test_sizes(value: float | None, shown: str) -> None:
    assert text.size(value).replace(text.NBSP, " ") == shown


@pytest.mark.parametrize(("value", "shown"), [(12_207, "12,207"), (None, "n/a"), (0, "0")])
def test_counts(value: int | None, shown: str) -> None:
    assert text.count(value) == shown


def test_lists_name_a_few_and_count_the_rest() -> None:
    assert text.listed(["a"]) == "a"
    assert text.listed(["a", "b"]) == "a and b"
    assert text.listed(list("abcdef")) == "a, b, c and 3 more"
    assert text.listed([]) == ""


@pytest.mark.parametrize(
    ("value", "shown"), [(0, "0"), (4.256, "4.26"), (45.25, "45.2"), (1_234.5, "1,234"), (None, "n/a")]
)
def test_rates_have_three_digits(value: float | None, shown: str) -> None:
    assert text.rate(value) == shown


def test_a_partition_of_a_topic_written_from_right_to_left_keeps_its_number_behind() -> None:
    assert text.place("orders", 3) == "orders/3"
    assert text.place("\u0637\u0644\u0628", 3) == "\u2068\u0637\u0644\u0628\u2069/3"


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [(28_900, "ns", "28.9 µs"), (12.5, "ms", "12.5 ms"), (2, "s", "2 s"), (5 * 2**20, "bytes", "5 MiB"),
     (351.2, "", "351"), (1_300.0, "count", "1,300"), (None, "s", "n/a")],
)  # fmt: skip
def test_figures_have_their_unit(value: float | None, unit: str, shown: str) -> None:
    assert text.measured(value, unit).replace(text.NBSP, " ") == shown


def test_figures_have_names_in_words() -> None:
    assert text.label("process_cpu") == "Processor time"
    assert text.label("frame_cost_p99") == "Frame cost p99"
