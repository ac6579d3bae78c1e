"""Arrivals from files and by rates."""

import gzip
import json
import random
from collections import Counter
from itertools import islice, pairwise
from pathlib import Path

import pytest

import resources
from broker_core.clock import NS_PER_S
from broker_core.lab.arrivals import ArrivalError, FileArrivals, RateArrivals, arrivals

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
