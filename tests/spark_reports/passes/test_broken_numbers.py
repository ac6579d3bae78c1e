"""A recording with holes says where they are."""

from __future__ import annotations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from spark_reports.passes.broken_numbers import broken
from spark_reports.tables import recording
from tests.spark_reports.tables.rows import S, check


def _recording(numbers: list[int], first: int = 0) -> pl.DataFrame:
    """Each event happens at ten times its number; those before the first follow one another."""
    seen = pl.DataFrame(
        {"seq": numbers, "time_ns": [10 * number for number in numbers]}, {"seq": pl.Int64, "time_ns": pl.Int64}
    )
    return broken(seen, first - 1, 0)


def test_a_whole_recording_has_no_gaps() -> None:
    check(_recording(list(range(200))), recording.SCHEMA, [])
    check(_recording(list(range(100, 200)), 100), recording.SCHEMA, [])
    check(_recording([]), recording.SCHEMA, [])


def test_gaps_and_doubles_are_placed() -> None:
    doubled = [number for number in range(120, 130) for _ in range(2)]
    numbers = [*range(10, 100), *range(101, 120), *doubled, *range(400, 513), 512, 512]
    found = _recording(numbers).rows()
    assert found == [
        (0, 9, 10, 0, 0, 100),
        (100, 100, 1, 0, 990, 1010),
        (120, 129, 0, 10, 1200, 1290),
        (130, 399, 270, 0, 1290, 4000),
        (512, 512, 0, 2, 5120, 5120),
    ]


@given(st.sets(st.integers(0, 700), max_size=40))
def test_every_missing_event_is_counted(missing: set[int]) -> None:
    numbers = [number for number in range(701) if number not in missing]
    answer = _recording(numbers).rows(named=True)
    seen = {number for number in missing if number < numbers[-1]}
    assert sum(row["missing"] for row in answer) == len(seen)
    assert {number for row in answer for number in range(row["first_seq"], row["last_seq"] + 1)} == seen


def test_what_a_session_cost_has_its_units_and_what_follows() -> None:
    noted = {
        "wall_s": 4.0,
        "process_cpu_s": 2.0,
        "peak_memory_bytes": 5e6,
        "frames_drawn_count": 300.0,
        "frame_cost_p99_ms": 12.5,
    }
    check(
        recording.cost(noted, 1000, 8 * S),
        recording.COST_SCHEMA,
        [
            ("frame_cost_p99", 12.5, "ms"),
            ("frames_drawn", 300.0, "count"),
            ("peak_memory", 5e6, "bytes"),
            ("process_cpu", 2.0, "s"),
            ("process_cpu_an_event", 2_000_000.0, "ns"),
            ("session_seconds_a_second", 2.0, ""),
            ("wall", 4.0, "s"),
        ],
    )
    check(recording.cost({}, 0, 8 * S), recording.COST_SCHEMA, [])
