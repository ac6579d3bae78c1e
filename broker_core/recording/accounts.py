"""Where every message is, for each of its readers: one reducer over the event stream, beside the broker's counters.

A message is *missing* where nothing that was recorded explains where it is: it was published or redriven, and is
neither read or acknowledged, waiting, in flight, dead-lettered, taken out or deleted, nor skipped by a reset.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from broker_core.events import Event, EventKind
from broker_core.recording.markers import Markers, Place
from broker_core.snapshots import Snapshot

_TAKEN_OUT = frozenset({EventKind.EVICTED, EventKind.EXPIRED, EventKind.PURGED, EventKind.DAMAGE})


class Account(NamedTuple):
    """Where the messages of one topic or queue are, for one `reader`: a group, a subscription, "" a queue itself.

    One that was redriven came again: it is counted as published once, as redriven each time, and where it is now.
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

    @property
    def missing(self) -> int:
        """Published or redriven, and nowhere."""
        came = self.published + self.redriven
        return came - self.done - self.waiting - self.in_flight - self.dead - self.taken_out - self.skipped


@dataclass
class _Read:
    """What a group has read of one partition, by events: each message once, between `first` and `end`.

    `holes` are the (first, end) of what a reset has passed over, `deleted` counts what was gone before it was read.
    """

    first: int
    end: int
    messages: int = 0
    deleted: int = 0
    holes: list[tuple[int, int]] = field(default_factory=list)

    def take(self, first: int, end: int) -> None:
        """Messages were handed out: what was read before is not counted again."""
        self.messages += max(0, end - max(first, self.end))
        self.end = max(self.end, end)
        left: list[tuple[int, int]] = []
        for start, stop in self.holes:
            before, after = (start, min(stop, first)), (max(start, end), stop)
            rest = [(low, high) for low, high in (before, after) if low < high]
            self.messages += stop - start - sum(high - low for low, high in rest)
            left += rest
        self.holes = left

    def reset(self, offset: int) -> None:
        """The group goes on at `offset`."""
        if offset > self.end:
            self.holes.append((self.end, offset))
            self.end = offset
        elif offset < self.first:
            self.holes.append((offset, self.first))
            self.first = offset

    def delete(self, end: int, markers: Callable[[int, int], int]) -> None:
        """What lies before `end` is gone."""
        self.deleted += max(0, end - self.end - markers(self.end, end))
        self.end = max(self.end, end)


class Accounts:
    """Give it every event of a session; then `compared` with the state after them."""

    def __init__(self) -> None:
        self._published: Counter[str] = Counter()
        self._taken: Counter[str] = Counter()
        self._reads: dict[tuple[str, str, int], _Read] = {}
        self._markers = Markers()
        # Offsets of messages that were redriven into a topic: these are published events, too.
        self._again: dict[tuple[str, int], list[int]] = {}

    def __call__(self, event: Event) -> None:
        """Take one event, the next in the session's order."""
        if event.kind is EventKind.PUBLISHED:
            self._published[event.topic] += event.count
        elif event.kind is EventKind.REDRIVEN and event.to_partition is not None and event.to_offset is not None:
            self._again.setdefault((event.to_topic, event.to_partition), []).append(event.to_offset)
        elif event.kind is EventKind.TRANSACTION_ENDED:
            self._markers.add(event)
        elif event.kind in _TAKEN_OUT:
            self._taken[event.group] += event.count if event.offset is not None else 0
        elif event.kind is EventKind.USER_ACTION and "runs" in (event.detail or {}):
            self._taken[event.group or event.topic] -= event.count  # a purge is undone, or the offsets are reset
        else:
            self._read(event)

    def compared(self, snapshot: Snapshot, compacted: Collection[str] = ()) -> list[Account]:
        """The account of each reader at `snapshot`; `compacted` topics lose messages by design."""
        return [*self._queues(snapshot), *self._groups(snapshot, compacted)]

    def _read(self, event: Event) -> None:
        """What an event tells of what groups read."""
        if event.kind is EventKind.DELIVERED and event.partition is not None and event.offset is not None:
            key = (event.group, event.topic, event.partition)
            self._reads.setdefault(key, _Read(event.offset, event.offset)).take(
                event.offset, event.offset + event.count
            )
        elif event.kind is EventKind.OFFSETS_RESET:
            for topic, partition, _old, new in (event.detail or {}).get("changes", ()):
                if (event.group, topic, partition) in self._reads:
                    self._reads[event.group, topic, partition].reset(new)
        elif event.kind is EventKind.RECORDS_DELETED and event.offset is not None:
            for (_group, topic, number), read in self._reads.items():
                if (topic, number) == (event.topic, event.partition):
                    read.delete(event.offset + event.count, partial(self._markers.between, (topic, number)))

    def _messages(self, place: Place, first: int, end: int) -> int:
        """How many of these offsets are those of messages."""
        return end - first - self._markers.between(place, first, end)

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
            )

    def _groups(self, snapshot: Snapshot, compacted: Collection[str]) -> Iterator[Account]:
        for group in snapshot.groups:
            for topic in snapshot.topics:
                if topic.name not in {at.topic for at in group.offsets}:
                    continue
                came = done = waiting = taken = redriven = skipped = 0
                for part in topic.partitions:
                    read = self._reads.get((group.name, topic.name, part.partition))
                    committed = {at.partition: at.committed for at in group.offsets if at.topic == topic.name}
                    goes_on = committed.get(part.partition) or 0
                    if read is None:
                        begin = max(goes_on, part.start_offset)
                        read = _Read(begin, begin)
                    messages = partial(self._messages, (topic.name, part.partition))
                    came += messages(read.first, part.end_offset)
                    places = self._again.get((topic.name, part.partition), ())
                    redriven += sum(1 for offset in places if offset >= read.first)
                    done += read.messages
                    taken += read.deleted
                    for first, end in (*read.holes, (read.end, part.end_offset)):
                        # What lies before the place where the group goes on is nothing that it waits for.
                        passed = min(end, max(first, goes_on)) if (first, end) in read.holes else first
                        gone = min(end, max(passed, part.start_offset))
                        skipped += messages(first, passed)
                        taken += messages(passed, gone)
                        waiting += messages(gone, end)
                if topic.name in compacted:
                    taken += max(0, came - done - waiting - taken - skipped)
                yield Account(topic.name, group.name, came - redriven, redriven, done, waiting, 0, 0, taken, skipped)
