"""The panel Log on disk: how a partition is cleaned up, which of its segments are damaged, and the sum of all logs."""

from __future__ import annotations

from typing import Any

import pytest

from app.presenters.segments import partition_facts, rows_of, summary_of
from broker_core.log.config import LogConfig
from broker_core.log.segment import SegmentView
from broker_core.operations.browse import PartitionState

SEGMENTS = tuple(SegmentView(f"{base}.log", base, base + 10, 1_000, 1) for base in (0, 10, 20))


def state(config: LogConfig | None = None, **more: Any) -> PartitionState:
    fields: dict[str, Any] = {
        "topic": "orders",
        "partition": 0,
        "start_offset": 0,
        "end_offset": 30,
        "size_bytes": 3_000,
    }
    fields |= {"segments": SEGMENTS, "lost": (), "read_only": "", "compacted_to": 0, "notes": ()}
    return PartitionState(**fields | more, config=config or LogConfig(durability="file"))


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({}, "nothing: all segments are kept"),
        ({"cleanup": "none", "retention_ms": 60_000}, "nothing: all segments are kept"),
        ({"retention_ms": 60_000}, "deleting segments older than 1 min 00 s"),
        ({"cleanup": "compact", "retention_ms": 60_000}, "compaction: the latest of each key"),
        ({"cleanup": "delete,compact"}, "compaction: the latest of each key"),
        (
            {"cleanup": "delete,compact", "retention_bytes": 2_048},
            "deleting segments beyond 2 KiB; compaction: the latest of each key",
        ),
    ],
)
def test_what_is_deleted_and_compacted_is_what_the_log_does(config: dict[str, Any], words: str) -> None:
    facts = {name: value for name, value, *_ in partition_facts(state(LogConfig(**config)))}
    assert facts["Cleaned up by"] == words


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({}, "after 1 MiB or 168 h 00 min"),
        ({"segment_ms": None}, "after 1 MiB"),
        ({"cleanup": "compact", "max_compaction_lag_ms": 60_000}, "after 1 MiB or 1 min 00 s"),
        ({"cleanup": "compact", "max_compaction_lag_ms": 60_000, "segment_ms": None}, "after 1 MiB or 1 min 00 s"),
    ],
)
def test_a_new_segment_begins_when_the_log_rolls_it(config: dict[str, Any], words: str) -> None:
    made = state(LogConfig(segment_bytes=1 << 20, **config))
    assert {name: value for name, value, *_ in partition_facts(made)}["New segment"] == words


def test_only_the_segments_are_damaged_that_have_lost_something() -> None:
    rows = rows_of([state(lost=((12, 25, "'10.log' is damaged from byte 100 on"),)), state()])
    assert [row.damaged for row in rows] == [False, True, True, False, False, False]


@pytest.mark.parametrize(("lost", "name"), [((0, 10), "10.log"), ((15, 20), "10.log"), ((10, 20), "0.log")])
def test_of_a_file_that_is_missing_or_ends_early_the_segment_beside_it_is_damaged(
    lost: tuple[int, int], name: str
) -> None:
    left = [each for each in SEGMENTS if each.base_offset != lost[0]]
    rows = rows_of([state(segments=tuple(left), lost=((*lost, "the file is missing or ends early"),))])
    assert [row.segment.name for row in rows if row.damaged] == [name]


def test_the_sum_tells_corrupt_partitions_from_those_that_are_read_only() -> None:
    lost = state(lost=((12, 25, "damaged"),))
    assert summary_of([]) == ""
    assert summary_of([state(LogConfig())]) == "2.93 KiB in memory, nothing on disk"
    assert summary_of([state(), lost]) == "5.86 KiB on disk; corrupt partitions: 1"
    assert summary_of([state(read_only="a sync failed")]) == "2.93 KiB on disk; read-only partitions: 1"
