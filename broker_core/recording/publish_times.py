"""When messages were published, as far as events tell it: how old is what a group has not committed?"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterable
from operator import attrgetter
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from broker_core.events import Event, EventKind
from broker_core.messages import TopicPartition
from broker_core.recording.event_index import EventIndex, RowGroup
from broker_core.recording.schema import MESSAGES
from broker_core.recording.unsealed_stream import Written

Part = RowGroup | Written

PARTS_KEPT: Final = 128
_COLUMNS: Final = ["kind", "topic", "partition", "offset", "count", "time_ns", "published_ns"]


def spread(since_ns: int, until_ns: int, number: int, count: int) -> int:
    """The time of message `number` of `count` that came evenly in between."""
    return (
        since_ns + (until_ns - since_ns) * (2 * number + 1) // (2 * max(1, count)) if until_ns > since_ns else until_ns
    )


class _Run(NamedTuple):
    first: int
    end: int
    since_ns: int
    time_ns: int


class PublishTimes:
    """Runs of each partition in the order of offsets; those between two runs are markers."""

    def __init__(self) -> None:
        self._runs: dict[TopicPartition, list[_Run]] = {}

    def published(self, event: Event) -> None:
        if event.partition is not None and event.offset is not None:
            place = (event.topic, event.partition)
            self.add(place, event.offset, event.count, event.time_ns, event.published_ns)

    def add(self, place: TopicPartition, first: int, count: int, time_ns: int, since_ns: int | None = None) -> None:
        """`count` messages from offset `first` on were published at `time_ns`, or evenly from `since_ns` up to it."""
        run = _Run(first, first + count, time_ns if since_ns is None else since_ns, time_ns)
        self._runs.setdefault(place, []).append(run)

    def of(self, place: TopicPartition, offset: int, later_ns: int | None = None) -> int | None:
        """When the message at or behind `offset` was published; None before, `later_ns` after all that is known."""
        runs = self._runs.get(place, [])
        at = bisect_right(runs, offset, key=attrgetter("first")) - 1
        if at < 0:
            return None
        if offset >= runs[at].end:
            at += 1
        if at >= len(runs):
            return later_ns
        run = runs[at]
        return spread(run.since_ns, run.time_ns, max(0, offset - run.first), run.end - run.first)

    def first_ns(self, place: TopicPartition) -> int | None:
        runs = self._runs.get(place)
        return runs[0].time_ns if runs else None


class FolderTimes:
    """Publish times of a folder, read backwards on demand; the last part is cached."""

    def __init__(self, index: EventIndex) -> None:
        self._index = index
        self._read: OrderedDict[Part, PublishTimes] = OrderedDict()

    def of(self, place: TopicPartition, offset: int, time_ns: int) -> int | None:
        """When the message at `offset`, or the first one behind it, was published; None if not by `time_ns`."""
        later_ns: int | None = None
        for part in self._index.newest_first(MESSAGES, time_ns):
            times = self._of(part)
            found = times.of(place, offset, later_ns)
            # A topic that was deleted and made anew has an offset twice.
            if found is not None and found <= time_ns:
                return found
            later_ns = None if found is not None else times.first_ns(place) or later_ns
        return None

    def _of(self, part: Part) -> PublishTimes:
        times = self._read.pop(part, None)
        if times is None:
            try:
                times = _published([part.load()] if isinstance(part, Written) else part.load(_COLUMNS).to_batches())
            except FileNotFoundError:  # sealed a moment ago: it is among those that come next
                return PublishTimes()
        self._read[part] = times
        while len(self._read) > PARTS_KEPT:
            self._read.popitem(last=False)
        return times


def _published(batches: Iterable[pa.RecordBatch]) -> PublishTimes:
    times = PublishTimes()
    for batch in batches:
        rows = batch.filter(pc.equal(batch.column("kind"), EventKind.PUBLISHED.value))
        columns = (rows.column(name).to_pylist() for name in _COLUMNS[1:])
        for topic, partition, offset, count, time_ns, since_ns in zip(*columns, strict=True):
            times.add((topic, partition), offset, count, time_ns, since_ns)
    return times
