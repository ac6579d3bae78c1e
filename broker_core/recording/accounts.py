"""Accounts for every message and each of its readers: one reducer over the event stream, independent of the broker's
counters.

A message is *missing* if nothing that was recorded explains where it is: it was published or redriven, and is neither
read or acknowledged, waiting, in flight, dead-lettered, taken out or deleted, skipped by a reset, nor aborted.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from functools import partial
from typing import NamedTuple

from broker_core.events import Event, EventKind
from broker_core.messages import TopicPartition
from broker_core.recording.markers import Markers
from broker_core.snapshots import Snapshot


class Offsets:
    """Offsets, mostly in few runs: adding at the end costs nothing."""

    __slots__ = ("_ends", "_starts")

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []

    def add(self, start: int, end: int) -> None:
        if start >= end:
            return
        if self._ends and start == self._ends[-1]:
            self._ends[-1] = end
            return
        first, last = bisect_left(self._ends, start), bisect_right(self._starts, end)
        if first < last:
            start, end = min(start, self._starts[first]), max(end, self._ends[last - 1])
        self._starts[first:last] = [start]
        self._ends[first:last] = [end]

    def remove(self, start: int, end: int) -> None:
        kept = [
            (low, high)
            for first, stop in zip(self._starts, self._ends, strict=True)
            for low, high in ((first, min(stop, start)), (max(first, end), stop))
            if low < high
        ]
        self._starts, self._ends = [low for low, _ in kept], [high for _, high in kept]

    def gaps(self, start: int, end: int) -> list[tuple[int, int]]:
        """(first, end) of those between that are not in it."""
        found = []
        at = start
        for number in range(bisect_right(self._ends, start), len(self._starts)):
            if self._starts[number] >= end:
                break
            if self._starts[number] > at:
                found.append((at, self._starts[number]))
            at = self._ends[number]
        if at < end:
            found.append((at, end))
        return found

    def between(self, start: int, end: int) -> int:
        return max(0, end - start) - sum(stop - first for first, stop in self.gaps(start, end))


_GIVEN = frozenset({EventKind.DELIVERED, EventKind.PASSED_OVER})
_TAKEN_OUT = frozenset({EventKind.EVICTED, EventKind.EXPIRED, EventKind.PURGED, EventKind.DAMAGE})


class Account(NamedTuple):
    """Where the messages of one topic or queue are for one `reader`: a group, a subscription, "" for the queue itself.
    A redriven message counts as published once, as redriven each time. `aborted`: passed over by a reader of committed
    messages.
    """

    source: str
    reader: str
    published: int
    redriven: int
    done: int
    waiting: int
    in_flight: int
    dead: int
    taken_out: int
    skipped: int
    aborted: int

    @property
    def missing(self) -> int:
        """Published or redriven, and nowhere."""
        came = self.published + self.redriven
        return came - sum(self[4:])


class _Read:
    """The offsets of a partition that a group was `given`, `skipped` by resets, or lost (`deleted`, up to
    `deleted_to`)."""

    def __init__(self, first: int) -> None:
        self.first = first
        self.end = first  # where it goes on, by what it was given and by resets
        self.given = Offsets()
        self.passed_over = Offsets()  # of those, what was aborted
        self.skipped = Offsets()
        self.deleted = 0
        self.deleted_to = 0

    def take(self, first: int, end: int) -> None:
        self.first = min(self.first, first)
        self.given.add(first, end)
        self.end = max(self.end, end)

    def reset(self, offset: int) -> None:
        if offset > self.end:
            self.skipped.add(self.end, offset)
            self.end = offset
        elif offset < self.first:
            self.skipped.add(offset, self.first)
            self.first = offset

    def delete(self, end: int, messages: Callable[[int, int], int]) -> None:
        for first, stop in self.given.gaps(max(self.first, self.deleted_to), end):
            self.deleted += messages(first, stop) - _common(self.skipped, first, stop, messages)
        self.deleted_to = max(self.deleted_to, end)


def _common(offsets: Offsets, start: int, end: int, messages: Callable[[int, int], int]) -> int:
    """How many messages from `start` up to `end` are in `offsets`."""
    return messages(start, end) - sum(messages(*gap) for gap in offsets.gaps(start, end))


class Accounts:
    """Give it every event of a session; then `compared` with the state after them."""

    def __init__(self, *, unseen_seeks: bool = False) -> None:
        """With `unseen_seeks`, what a group has committed and was never given counts as skipped."""
        self._unseen_seeks = unseen_seeks
        self._published: Counter[str] = Counter()
        self._taken: Counter[str] = Counter()
        self._reads: dict[tuple[str, str, int], _Read] = {}
        self.markers = Markers()
        # Offsets of messages that were redriven into a topic: these are published events, too.
        self._again: dict[tuple[str, int], list[int]] = {}

    def __call__(self, event: Event) -> None:
        if event.kind is EventKind.PUBLISHED:
            self._published[event.topic] += event.count
        elif event.kind is EventKind.REDRIVEN and event.to_partition is not None and event.to_offset is not None:
            self._again.setdefault((event.to_topic, event.to_partition), []).append(event.to_offset)
        elif event.kind is EventKind.TRANSACTION_ENDED:
            self.markers.add(event)
        elif event.kind in _TAKEN_OUT:
            self._taken[event.group] += event.count if event.offset is not None else 0
        elif event.kind is EventKind.USER_ACTION and "runs" in event.told:
            self._taken[event.group or event.topic] -= event.count  # a purge is undone, or the offsets are reset
        else:
            self._read(event)

    def compared(self, snapshot: Snapshot, compacted: Collection[str] = ()) -> list[Account]:
        """The account of each reader at `snapshot`; `compacted` topics lose messages by design."""
        return [*self._queues(snapshot), *self._groups(snapshot, compacted)]

    def _read(self, event: Event) -> None:
        if event.kind in _GIVEN and event.partition is not None and event.offset is not None:
            first, end = event.offset, event.offset + event.count
            read = self._reads.setdefault((event.group, *event.place), _Read(first))
            read.take(first, end)
            if event.kind is EventKind.PASSED_OVER:
                read.passed_over.add(first, end)
        elif event.kind is EventKind.OFFSETS_RESET:
            for topic, partition, _old, new in event.told.get("changes", ()):
                if (event.group, topic, partition) in self._reads:
                    self._reads[event.group, topic, partition].reset(new)
        elif event.kind is EventKind.RECORDS_DELETED and event.offset is not None:
            for (_group, topic, number), read in self._reads.items():
                if (topic, number) == (event.topic, event.partition):
                    read.delete(event.offset + event.count, partial(self._messages, (topic, number)))

    def _messages(self, place: TopicPartition, first: int, end: int) -> int:
        return end - first - self.markers.between(place, first, end)

    def _queues(self, snapshot: Snapshot) -> Iterator[Account]:
        for queue in snapshot.queues:
            own = queue.topic in {"", queue.name}
            came = self._published[queue.topic or queue.name]
            redriven = queue.redriven
            if not own:
                redriven = sum(
                    len(places) for (topic, _partition), places in self._again.items() if topic == queue.topic
                )
                came -= redriven
            waiting = queue.ready + queue.delayed
            taken_out = self._taken[queue.name]
            yield Account(
                queue.topic or queue.name,
                "" if own else queue.name,
                came,
                redriven,
                queue.acknowledged,
                waiting,
                queue.in_flight,
                queue.dead_lettered,
                taken_out,
                0,
                0,
            )

    def _groups(self, snapshot: Snapshot, compacted: Collection[str]) -> Iterator[Account]:
        for group in snapshot.groups:
            for topic in snapshot.topics:
                committed = {at.partition: at.committed for at in group.offsets if at.topic == topic.name}
                if not committed:
                    continue
                came = done = waiting = taken = redriven = skipped = aborted = 0
                for part in topic.partitions:
                    place, goes_on = (topic.name, part.partition), committed.get(part.partition)
                    read = self._reads.get((group.name, *place)) or _Read(max(goes_on or 0, part.start_offset))
                    messages = partial(self._messages, place)
                    came += messages(read.first, part.end_offset)
                    places = self._again.get(place, ())
                    redriven += sum(1 for offset in places if offset >= read.first)
                    done += _common(read.given, read.first, part.end_offset, messages)
                    taken += read.deleted
                    aborted += _common(read.passed_over, read.first, part.end_offset, messages)
                    for first, end in read.given.gaps(max(read.first, read.deleted_to), part.end_offset):
                        # What it has not got and not committed it waits for; what it has committed was passed over.
                        passed = min(end, max(first, goes_on or 0))
                        gone = min(end, max(passed, part.start_offset))
                        unread = messages(first, passed)
                        skipped += unread if self._unseen_seeks else _common(read.skipped, first, passed, messages)
                        taken += messages(passed, gone)
                        waiting += messages(gone, end)
                found = Account(
                    *(topic.name, group.name, came - redriven, redriven, done - aborted),
                    *(waiting, 0, 0, taken, skipped, aborted),
                )
                if topic.name in compacted:
                    found = found._replace(taken_out=taken + max(0, found.missing))
                yield found
