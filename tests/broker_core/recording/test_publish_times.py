"""When the first message at or behind an offset was published, where some offsets are those of markers."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pyarrow as pa

from broker_core.events import EventKind
from broker_core.recording.event_index import EventIndex
from broker_core.recording.publish_times import FolderTimes, PublishTimes

PLACE = ("orders", 0)


def test_an_offset_between_two_runs_is_a_marker_and_the_next_message_counts() -> None:
    times = PublishTimes()
    times.add(PLACE, 10, 3, 100)
    times.add(PLACE, 14, 2, 200)
    found = {offset: times.of(PLACE, offset) for offset in (9, 10, 12, 13, 14, 15, 16)}
    assert found == {9: None, 10: 100, 12: 100, 13: 200, 14: 200, 15: 200, 16: None}


class _Part:
    """Of a recording: one `published` each of (offset, count, time_ns)."""

    def __init__(self, *rows: tuple[int, int, int]) -> None:
        self._rows = rows

    def load(self, columns: list[str]) -> pa.Table:
        rows = [
            {"kind": EventKind.PUBLISHED.value, "topic": "orders", "partition": 0}
            | {"offset": offset, "count": count, "time_ns": time_ns, "published_ns": None}
            for offset, count, time_ns in self._rows
        ]
        return pa.Table.from_pylist(rows).select(columns)


def test_the_next_message_may_stand_in_a_later_part_of_the_recording() -> None:
    parts: list[Any] = [_Part((8, 4, 300)), _Part((4, 3, 200)), _Part((0, 3, 100))]
    index = SimpleNamespace(newest_first=lambda _folder, _time_ns: iter(parts))
    times = FolderTimes(cast(EventIndex, index))
    found = {offset: times.of(PLACE, offset, 1_000) for offset in (2, 3, 4, 7, 8)}
    assert found == {2: 100, 3: 200, 4: 200, 7: 300, 8: 300}
    assert times.of(PLACE, 7, 250) is None  # not published yet
