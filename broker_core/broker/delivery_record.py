"""The record of deliveries: what each group was given and has acknowledged, and where its owners read on.

It is the same for a broker of our own and for an observed cluster. `Deliveries` says what is given again, and why.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Protocol

import msgspec

from broker_core.broker.deliveries import Deliveries
from broker_core.broker.partition_owners import GroupPlace, PartitionOwners, Reader
from broker_core.events import BEYOND_END, BEYOND_GIVEN, FETCHED_AGAIN, EventKind, EventStream
from broker_core.messages import MessageRun, TopicPartition
from resources.account import CONNECTION_LOST

PUBLISHED_NOT_KNOWN = -1  # when what was deleted was published


class Aborted(Protocol):
    def aborted_ranges(self, start: int, end: int, /) -> list[range]: ...


class ReadLog(Protocol):
    """What the record needs to know of a partition."""

    @property
    def start_offset(self) -> int: ...
    @property
    def end_offset(self) -> int: ...
    @property
    def segments(self) -> Aborted: ...
    def messages_between(self, start: int, end: int, /) -> int: ...
    def runs(self, start: int, end: int, /) -> list[MessageRun]: ...


class Committed(Protocol):
    def committed(self, group: str, topic: str, partition: int) -> int | None: ...


class DeliveryRecord(msgspec.Struct, eq=False, dict=True):
    """What each group was given; counts are in messages. `member` is a member id, or the id of a reader by hand."""

    _events: EventStream
    _log: Callable[[str, int], ReadLog]
    _groups: Callable[[], Committed]
    _by_hand: dict[str, dict[GroupPlace, None]] = {}  # what each reader by hand was given
    _positions: dict[GroupPlace, int] = {}
    _deliveries: dict[GroupPlace, Deliveries] = {}
    _stable: set[GroupPlace] = set()  # where a group was given committed messages only, last
    # The owner that has read since its assignment, with its first and end offset.
    _held: dict[GroupPlace, tuple[str, int, int]] = {}
    _readers: dict[str, dict[str, None]] = {}  # groups by topic
    delivered: int = 0
    redelivered: int = 0
    fetched_again: int = 0
    acknowledged: int = 0

    def __post_init__(self) -> None:
        self._owners = PartitionOwners(self._deliveries, self._deliveries.get)
        self._events.attach(self._owners)

    def begin(self, group: str, topic: str, partition: int, offset: int, *, holds_up: bool = True) -> None:
        """The group reads from `offset` on. With `holds_up`, producers wait for it although it has not committed
        anything.
        """
        self._positions[group, topic, partition] = offset
        if holds_up:
            self._readers.setdefault(topic, {})[group] = None

    def assigned(self, group: str, topic: str, partition: int) -> None:
        """The partition was assigned: its owner has no uncommitted deliveries yet."""
        self._held.pop((group, topic, partition), None)

    def position(self, group: str, topic: str, partition: int) -> int | None:
        """The next offset that the group's owner reads; None if the group never read."""
        return self._positions.get((group, topic, partition))

    def held(
        self, group: str, topic: str, partition: int, member: str, committed: int | None
    ) -> tuple[int, int | None]:
        """How many messages were delivered to `member` as the owner and are not committed, and the first offset."""
        holder, first, end = self._held.get((group, topic, partition), ("", 0, 0))
        if holder != member:
            return 0, None
        first = max(committed or 0, first)
        return self._log(topic, partition).messages_between(first, end) if first < end else 0, first

    def has_given(self, place: GroupPlace) -> bool:
        return place in self._deliveries

    def readers(self, topic: str) -> list[str]:
        return list(self._readers.get(topic, ()))

    def hand_over(
        self, now_ns: int, reader: Reader, place: TopicPartition, offset: int, end_offset: int, *, stable: bool = False
    ) -> None:
        """Record that `reader` is given the messages from `offset` up to `end_offset`. With `stable`, aborted ones are
        passed over.
        """
        key, member = (reader.group, *place), reader.member
        deliveries = self._deliveries.get(key)
        if deliveries is None:
            deliveries = self._deliveries[key] = Deliveries.of_group(self._groups().committed(*key))
        self._positions[key] = end_offset
        if stable:
            self._stable.add(key)
        else:
            self._stable.discard(key)
        holder, held_from, held_end = self._held.get(key, ("", 0, 0))
        same = holder == member
        self._held[key] = (member, held_from if same else offset, max(held_end if same else 0, end_offset))
        log = self._log(*place)
        if member in self._by_hand:
            self._by_hand[member][key] = None
        lost = self._owners.why_lost(key, member)
        for part in deliveries.give(offset, end_offset, reader.client, member, lost=lost):
            attempt = None if part.again == FETCHED_AGAIN else 2 if part.again else 1
            for run, live in self._runs(log, part.first, part.end, stable=stable):
                self.delivered += run.count * live
                if live and part.again:
                    self.redelivered += run.count * (attempt is not None)
                    self.fetched_again += run.count * (attempt is None)
                kind = EventKind.DELIVERED if live else EventKind.PASSED_OVER
                self._say(now_ns, kind, reader, place, run, attempt=attempt, cause=part.again)

    def committed(
        self,
        now_ns: int,
        reader: Reader,
        place: TopicPartition,
        old: int,
        new: int,
        *,
        judged: Collection[str] = (BEYOND_END, BEYOND_GIVEN),
    ) -> None:
        """The group's committed offset advanced from `old` to `new`: the messages between are acknowledged. It is said
        if that is beyond what is `judged`.
        """
        key, log = (reader.group, *place), self._log(*place)
        beyond, what = self._beyond(key, old, new)
        gone: list[tuple[MessageRun, bool]] = []  # deleted meanwhile, while somebody had them in hand
        if key in self._deliveries:
            deliveries = self._deliveries[key]
            held = deliveries.runs.split(old, min(new, log.start_offset)) if old < log.start_offset else ()
            gone = [
                (MessageRun(first, end - first, 0, PUBLISHED_NOT_KNOWN), True)
                for first, end, delivery in held
                if delivery and delivery.state == "in_hand"
            ]
            deliveries.acknowledge(old, min(new, log.end_offset))
        for run, live in (*gone, *self._runs(log, old, new, stable=key in self._stable)):
            self.acknowledged += run.count * live
            kind, cause = (EventKind.ACKNOWLEDGED, "") if live else (EventKind.PASSED_OVER, "acknowledged")
            self._say(now_ns, kind, reader, place, run, cause=cause)
        if beyond and what in judged:
            self.say_beyond(now_ns, reader, place, new, beyond, what)

    def say_beyond(
        self, now_ns: int, reader: Reader, place: TopicPartition, offset: int, count: int, what: str
    ) -> None:
        """`reader` has committed `offset`, so many messages beyond `what`."""
        run = MessageRun(offset, count, 0, PUBLISHED_NOT_KNOWN)
        self._say(now_ns, EventKind.COMMIT_BEYOND, reader, place, run, cause=what)

    def reader_came(self, reader: str) -> None:
        self._by_hand.setdefault(reader, {})

    def reader_gone(self, now_ns: int, reader: str) -> None:
        """A reader by hand will acknowledge nothing more."""
        for key in self._by_hand.pop(reader, ()):
            found = self._deliveries.get(key)
            if found is not None and found.committed is not None and found.lose(reader, CONNECTION_LOST):
                group, topic, partition = key
                who = {"group": group, "client": reader, "member": reader, "cause": CONNECTION_LOST}
                self._events.emit(now_ns, EventKind.READING_ENDED, topic=topic, partition=partition, **who)

    def forget_topic(self, topic: str) -> None:
        self._readers.pop(topic, None)
        for known in (self._positions, self._deliveries, self._held):
            for key in [key for key in known if key[1] == topic]:
                del known[key]
        self._stable = {key for key in self._stable if key[1] != topic}

    # -- inside

    def _beyond(self, key: GroupPlace, old: int, offset: int) -> tuple[int, str]:
        """How many messages a commit from `old` to `offset` is beyond the end, or beyond all that its group was given,
        and which of these it is.
        """
        log, found = self._log(*key[1:]), self._deliveries.get(key)
        if offset > log.end_offset:
            return offset - log.end_offset, BEYOND_END
        given = old if found is None else max(old, found.given_end, found.begin or 0)
        return log.messages_between(given, offset) if given < offset else 0, BEYOND_GIVEN

    @staticmethod
    def _runs(log: ReadLog, start: int, end: int, *, stable: bool) -> list[tuple[MessageRun, bool]]:
        """The messages between, and whether they are live: one that reads committed messages drops aborted ones."""
        found: list[tuple[MessageRun, bool]] = []
        for span in log.segments.aborted_ranges(start, end) if stable else ():
            first, stop = max(start, span.start), min(span.stop, end)
            found += [(run, True) for run in (log.runs(start, first) if start < first else ())]
            found += [(run, False) for run in log.runs(first, stop)]
            start = stop
        return found + [(run, True) for run in (log.runs(start, end) if start < end else ())]

    def _say(
        self, now_ns: int, kind: EventKind, reader: Reader, place: TopicPartition, run: MessageRun, **more: Any
    ) -> None:
        self._events.emit(
            now_ns,
            kind,
            topic=place[0],
            partition=place[1],
            offset=run.offset,
            count=run.count,
            size_bytes=run.size_bytes,
            client=reader.client,
            group=reader.group,
            published_ns=None if run.published_ns == PUBLISHED_NOT_KNOWN else run.published_ns,
            member=reader.member,
            **more,
        )
