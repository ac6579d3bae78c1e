"""Arrivals from files and by rates."""

import gzip
import json
import random
from collections import Counter
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest

import resources
from broker_core.clock import NS_PER_S
from broker_core.errors import ArrivalError
from broker_core.simulation.arrival_files import FileArrivals
from broker_core.simulation.arrivals import BurstyArrivals, MadeArrivals, RampArrivals, RateArrivals, arrivals

ROWS = [
    {"time": 1000, "who": 7, "what": "a"},
    {"time": 1000 + 43_200, "who": 8, "what": "b"},
    {"time": 1000 + 86_400, "who": 7, "what": "c"},
    {"time": 1000 + 86_000, "who": 7, "what": "late"},
]


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(json.dumps(row) for row in ROWS).encode()))
    return path


def read(path: Path, **options: object) -> list[tuple[int, bytes | None, bytes | None]]:
    spec = FileArrivals(file=path.name, **options)  # type: ignore[arg-type]
    return [(at_ns, m.key, m.value) for at_ns, m in arrivals(spec, random.Random(1), lambda _name: path)]


def test_gaps_are_scaled_and_order_is_kept(rows: Path) -> None:
    came = read(rows, key="who", seconds_per_day=2)
    assert [at_ns for at_ns, _, _ in came] == [0, NS_PER_S, 2 * NS_PER_S, 2 * NS_PER_S]
    assert [key for _, key, _ in came] == [b"7", b"8", b"7", b"7"]
    assert [json.loads(value or b"")["what"] for _, _, value in came] == ["a", "b", "c", "late"]


def test_rows_can_be_chosen_and_skipped(rows: Path) -> None:
    assert [json.loads(v or b"")["what"] for _, _, v in read(rows, where={"who": 7}, skip=1)] == ["c", "late"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'{"time": 1}\nnot json\n', "line 2: this is not JSON"),
        (b'{"when": 1}\n', "line 1: there is no column 'time'"),
        (b'{"time": "noon"}\n', "line 1: 'time' is not a time"),
        (b"[1]\n", "line 1: a row must be a JSON object"),
        (b"\xff\xfe\n", "line 1: this is not JSON"),
    ],
)
def test_a_bad_row_is_named(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_bytes(content)
    with pytest.raises(ArrivalError, match=words):
        read(path)


def test_a_torn_gzip_file_is_an_error_after_what_can_be_read(tmp_path: Path, rows: Path) -> None:
    torn = tmp_path / "torn.jsonl.gz"
    torn.write_bytes(rows.read_bytes()[:-12])
    with pytest.raises(ArrivalError, match="cannot be read"):
        read(torn)


def test_a_damaged_gzip_file_is_an_error(tmp_path: Path, rows: Path) -> None:
    damaged = bytearray(rows.read_bytes())
    damaged[10:40] = bytes(each ^ 0xFF for each in damaged[10:40])
    path = tmp_path / "damaged.jsonl.gz"
    path.write_bytes(damaged)
    with pytest.raises(ArrivalError, match="cannot be read"):
        read(path)


def test_constant_rate_has_equal_gaps_and_poisson_the_same_mean() -> None:
    constant = arrivals(RateArrivals(per_s=50, limit=100), random.Random(1), Path)
    times = [at_ns for at_ns, _ in constant]
    assert {later - earlier for earlier, later in pairwise(times)} == {NS_PER_S // 50}
    poisson = arrivals(RateArrivals(per_s=50, spacing="poisson", keys=3), random.Random(1), Path)
    drawn = list(islice(poisson, 5_000))
    assert 95 * NS_PER_S < drawn[-1][0] < 105 * NS_PER_S
    assert set(Counter(message.key for _, message in drawn)) == {b"key-0", b"key-1", b"key-2"}


def test_the_sample_data_starts_lively_and_is_small() -> None:
    path = resources.path("sample_data", "commits.jsonl.gz")
    assert path.stat().st_size <= 300_000
    first_minute = sum(at_ns < 60 * NS_PER_S for at_ns, _, _ in read(path, key="author"))
    assert first_minute > 500


# -- files


CSV = 'time,who,what,level\n2024-02-03T10:00:00,ann,"a, b",2\n2024-02-03T22:00:00+00:00,bob,c,0\n'


@pytest.mark.parametrize("name", ["rows.csv", "rows.csv.gz"])
def test_csv_columns_become_key_value_headers_time_and_priority(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(CSV.encode()) if name.endswith(".gz") else CSV.encode())
    spec = FileArrivals(file=name, key="who", value="what", headers={"by": "who"}, priority="level", seconds_per_day=10)
    came = list(arrivals(spec, random.Random(1), lambda _name: path))
    assert [at_ns for at_ns, _ in came] == [0, 5 * NS_PER_S]
    (first, second) = (message for _, message in came)
    assert (first.key, first.value, first.headers, first.priority) == (b"ann", b"a, b", (("by", b"ann"),), 2)
    assert (second.key, second.value, second.priority) == (b"bob", b"c", 0)


def test_a_csv_row_without_a_value_column_is_sent_as_json_and_can_be_chosen(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("time,n\n1,7\n2,8\n")
    spec = FileArrivals(file="rows.csv", where={"n": 8})
    ((_, message),) = arrivals(spec, random.Random(1), lambda _name: path)
    assert json.loads(message.value or b"") == {"time": "2", "n": "8"}


def test_a_json_value_that_is_no_text_is_sent_as_json_and_null_is_a_tombstone(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"time": 1, "k": 5, "v": {"a": [1]}}\n{"time": 2, "k": "x", "v": null}\n')
    assert [(key, value) for _, key, value in read(path, key="k", value="v")] == [(b"5", b'{"a":[1]}'), (b"x", None)]


def test_a_limit_counts_kept_rows_after_those_that_are_skipped(rows: Path) -> None:
    assert [json.loads(v or b"")["what"] for _, _, v in read(rows, skip=1, limit=2)] == ["b", "c"]


@pytest.mark.parametrize(
    ("name", "content", "options", "words"),
    [
        ("a.csv", "time,n\n1\n", {}, "line 2: the row must have 2 columns"),
        ("a.csv", "time,n\n1,2,3\n", {}, "line 2: the row must have 2 columns"),
        ("a.csv", 'time,n\n1,"2\n', {}, "is not CSV"),
        ("a.csv", "n\n1\n", {}, "no column 'time'"),
        ("a.csv", "time,n\nnoon,1\n", {}, "line 2: 'time' is not a time"),
        ("a.jsonl", '{"time": 1, "p": "high"}\n', {"priority": "p"}, "line 1: 'p' is not a whole number"),
        ("a.jsonl", '{"time": NaN}\n', {}, "line 1: 'time' is not a time"),
        ("a.jsonl", '{"time": 1' + "0" * 400 + "}\n", {}, "line 1: 'time' is not a time"),
        ("a.jsonl", '{"time": 0}\n{"time": 1e308}\n', {}, "line 2: 'time' is not a time"),
        ("a.jsonl", '{"time": 1, "p": Infinity}\n', {"priority": "p"}, "line 1: 'p' is not a whole number"),
        ("a.jsonl", '{"time": 1, "k": "\\ud800"}\n', {"key": "k"}, "line 1: 'k' has a lone surrogate"),
        ("a.jsonl", '{"time": 1, "k": "\\ud800"}\n', {"headers": {"h": "k"}}, "line 1: 'k' has a lone surrogate"),
        ("a.jsonl", '{"time": 1}\n' + '{"x": "' + "y" * 1_100_000 + '"}\n', {}, "line 2: more than"),
        ("a.csv", "time,n\n1," + "x" * 1_100_000 + "\n", {}, "line 2: more than"),
        ("a.csv", 'time,n\n1,"' + "x\n" * 550_000 + '"\n', {}, "is not CSV"),
        ("a.csv", "time,n\n1" + ',"x\n"' * 220_000 + "\n", {}, "line [0-9]+: more than .* bytes in a row"),
        ("a.csv", "time,n\n1," + "ä" * 600_000 + "\n", {}, "line 2: more than .* bytes in a row"),
        ("a.jsonl", '{"time": 1}\n' + "[" * 100_000 + "\n", {}, "line 2: this is not JSON"),
    ],
)
def test_a_row_that_cannot_be_used_is_named(
    tmp_path: Path, name: str, content: str, options: dict[str, Any], words: str
) -> None:
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(ArrivalError, match=words):
        read(path, **options)


# -- made


def times_s(spec: MadeArrivals, count: int, seed: int = 1) -> list[float]:
    return [at_ns / NS_PER_S for at_ns, _ in islice(arrivals(spec, random.Random(seed), Path), count)]


def test_bursts_have_their_rate_and_pauses_their_silence() -> None:
    came = times_s(BurstyArrivals(per_s=10, on_s=2, off_s=3), 100)
    assert all((at_s % 5 or 5) <= 2 or at_s % 5 == 0 for at_s in came)
    assert [sum(low <= at_s < low + 5 for at_s in came[:99]) for low in (0, 5, 10, 15)] == [19, 20, 20, 20]


def test_a_ramp_rises_evenly_and_stays() -> None:
    came = times_s(RampArrivals(from_per_s=1, to_per_s=21, over_s=20), 430)
    assert sum(at_s <= 10 for at_s in came) == pytest.approx(60, abs=1)
    assert sum(at_s <= 20 for at_s in came) == pytest.approx(220, abs=1)
    late = [at_s for at_s in came if at_s > 20]
    assert late[-1] - late[0] == pytest.approx((len(late) - 1) / 21)


def test_a_ramp_may_fall_and_may_be_level() -> None:
    falling = times_s(RampArrivals(from_per_s=21, to_per_s=1, over_s=20), 230)
    assert sum(at_s <= 10 for at_s in falling) == pytest.approx(160, abs=1)
    level = times_s(RampArrivals(from_per_s=4, to_per_s=4, over_s=10), 80)
    assert level == pytest.approx(times_s(RateArrivals(per_s=4), 80))


@pytest.mark.parametrize(
    "spec",
    [
        RateArrivals(per_s=40, spacing="poisson"),
        BurstyArrivals(per_s=80, on_s=1, off_s=1, spacing="poisson"),
        RampArrivals(from_per_s=20, to_per_s=60, over_s=50, spacing="poisson"),
    ],
)
def test_poisson_spacing_keeps_the_mean_and_the_order(spec: MadeArrivals) -> None:
    came = times_s(spec, 2_000)
    assert came == sorted(came)
    assert came[-1] == pytest.approx(50, rel=0.08)
    assert came == times_s(spec, 2_000)
    assert came != times_s(spec, 2_000, seed=2)


def test_the_first_message_comes_when_it_is_told_to() -> None:
    assert times_s(RateArrivals(per_s=2, first_s=0), 3) == [0, 0.5, 1.0]
    assert times_s(RateArrivals(per_s=2, first_s=7, limit=2), 3) == [7, 7.5]
    assert times_s(BurstyArrivals(per_s=2, on_s=1, off_s=1, first_s=3), 4) == [3, 3.5, 5, 5.5]


def test_keys_priorities_and_time_to_live_are_drawn_as_asked() -> None:
    spec = RateArrivals(per_s=1, keys=50, hot_share=0.4, priorities=(1, 0, 3), ttl_ms=50)
    drawn = [message for _, message in islice(arrivals(spec, random.Random(1), Path), 4_000)]
    keys = Counter(message.key for message in drawn)
    assert keys[b"key-0"] / 4_000 == pytest.approx(0.4 + 0.6 / 50, abs=0.03)
    assert len(keys) == 50
    priorities = Counter(message.priority for message in drawn)
    assert set(priorities) == {0, 2}
    assert priorities[0] / 4_000 == pytest.approx(0.25, abs=0.03)
    assert {message.ttl_ms for message in drawn} == {50}


@pytest.mark.parametrize(
    "wrong",
    [
        {"value_bytes": 0},
        {"keys": -1},
        {"hot_share": 1.5},
        {"priorities": (0, 0)},
        {"priorities": (-1, 2)},
        {"first_s": -1},
        {"ttl_ms": 0},
        {"per_s": float("nan")},
        {"per_s": float("inf")},
        {"limit": -1},
    ],
)
def test_senseless_arrivals_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        msgspec.convert({"kind": "rate", "per_s": 1, **wrong}, RateArrivals)


@pytest.mark.parametrize("wrong", [{"skip": -1}, {"limit": -1}, {"seconds_per_day": 0}])
def test_senseless_arrivals_from_a_file_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        msgspec.convert({"kind": "file", "file": "rows.csv", **wrong}, FileArrivals)
