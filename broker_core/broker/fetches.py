"""Fetches of consumer groups, waiting ones included, and the record of deliveries.

A fetch without messages waits until its deadline, and is served when one of its partitions grows. Which offsets of a
delivery are given for the first time is decided by `Deliveries`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import msgspec

from broker_core.errors import BrokerError
from broker_core.events import FETCHED_AGAIN, EventKind, EventStream, is_by_hand
from broker_core.groups.coordinator import GroupCoordinator
from broker_core.limits import MAX_FETCH_BYTES, MAX_PARTITION_FETCH_BYTES
from broker_core.log.partition_log import PartitionLog
from broker_core.messages import Run, StoredMessage, TopicPartition
from broker_core.replies import Reply
from broker_core.timers import Timer, Timers

_AGAIN = 2  # the attempt; the third is not told from the second
Part = tuple[int, int, int | None]  # from an offset up to another, as which attempt; None is fetched again


class Deliveries:
    """Of one group and partition. `reader` is a member id or a reader by hand."""

    __slots__ = ("_acknowledged", "_end", "_runs")

    def __init__(self, acknowledged: int | None) -> None:
        """The offset before which everything was acknowledged; None if nothing was."""
        self._acknowledged = acknowledged
        self._end = 0  # of the furthest delivery
        self._runs: list[tuple[int, int, str]] = []  # what is not acknowledged, by offset, and who got it last

    def acknowledge(self, offset: int) -> None:
        """Everything before `offset` is acknowledged, once and for all: going back is a delivery again."""
        if self._acknowledged is None or offset > self._acknowledged:
            self._acknowledged = offset
            self._runs = _without(self._runs, 0, offset)

    def take(self, start: int, end: int, reader: str, is_gone: Callable[[str], bool]) -> list[Part]:
        """Offsets from `start` to `end` are given to `reader`. `is_gone(reader)` tells who can acknowledge no more."""
        done = self._acknowledged or 0
        if start >= self._end and start >= done:
            self._add(start, end, reader)
            self._end = end
            return [(start, end, 1)]
        parts: list[Part] = []
        at = start
        if at < done:
            at = min(end, done)
            parts.append((start, at, _AGAIN))
        for first, stop, before in [run for run in self._runs if run[0] < end and run[1] > at]:
            if first > at:
                _join(parts, at, first, 1)
            again = before != reader and self._was_lost(before, is_gone)
            _join(parts, max(at, first), min(stop, end), _AGAIN if again else None)
            at = min(stop, end)
        if at < end:
            _join(parts, at, end, 1)
        if end > done:
            start = max(start, done)
            self._runs = _without(self._runs, start, end)
            self._add(start, end, reader)
            self._end = max(self._end, end)
        return parts

    def _was_lost(self, reader: str, is_gone: Callable[[str], bool]) -> bool:
        """Whether `reader` has gone. One by hand that acknowledges nothing keeps its offsets itself."""
        return is_gone(reader) and (self._acknowledged is not None or not is_by_hand(reader))

    def _add(self, start: int, end: int, reader: str) -> None:
        runs = self._runs
        if runs and runs[-1][1] == start and runs[-1][2] == reader:
            runs[-1] = (runs[-1][0], end, reader)
            return
        runs.append((start, end, reader))
        if len(runs) > 1 and runs[-2][0] > start:
            runs.sort()


def _join(parts: list[Part], start: int, end: int, attempt: int | None) -> None:
    if parts and parts[-1][2] == attempt:
        parts[-1] = (parts[-1][0], end, attempt)
    else:
        parts.append((start, end, attempt))


def _without(runs: list[tuple[int, int, str]], start: int, end: int) -> list[tuple[int, int, str]]:
    """The runs without the offsets from `start` to `end`."""
    return [
        (low, high, reader)
        for first, stop, reader in runs
        for low, high in ((first, min(stop, start)), (max(first, end), stop))
        if low < high
    ]


FetchReply = Reply[list[StoredMessage]]


class _Fetch(msgspec.Struct, eq=False):
    """A pending request; the `timer` ends its wait."""

    group: str
    client: str
    member: str
    positions: Mapping[TopicPartition, int]
    max_messages: int
    stable: bool
    timer: Timer | None = None


class Fetches(msgspec.Struct, eq=False, dict=True):
    """All fetches of all groups. Counts are in messages. `member` is a member id, or a reader by hand."""

    _events: EventStream
    _timers: Timers
    _log: Callable[[str, int], PartitionLog]
    _groups: Callable[[], GroupCoordinator]
    _by_hand: set[str] = set()  # readers by hand that are there
    _waiting: dict[FetchReply, _Fetch] = {}
    _waiting_for: dict[TopicPartition, dict[FetchReply, None]] = {}
    _positions: dict[tuple[str, str, int], int] = {}
    _deliveries: dict[tuple[str, str, int], Deliveries] = {}
    _stable: set[tuple[str, str, int]] = set()  # where a group was given committed messages only, last
    # The owner that has read since its assignment, with its first and end offset.
    _held: dict[tuple[str, str, int], tuple[str, int, int]] = {}
    _readers: dict[str, dict[str, None]] = {}
    _turn: dict[str, int] = {}
    delivered: int = 0
    redelivered: int = 0
    fetched_again: int = 0
    acknowledged: int = 0

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

    def held(
        self, group: str, topic: str, partition: int, member: str, committed: int | None
    ) -> tuple[int, int | None]:
        """How many messages were delivered to `member` as the owner and are not committed, and the first offset."""
        holder, first, end = self._held.get((group, topic, partition), ("", 0, 0))
        if holder != member:
            return 0, None
        first = max(committed or 0, first)
        return self._log(topic, partition).messages_between(first, end) if first < end else 0, first

    def position(self, group: str, topic: str, partition: int) -> int | None:
        """The next offset that the group's owner reads; None if the group never read."""
        return self._positions.get((group, topic, partition))

    def came(self, reader: str) -> None:
        self._by_hand.add(reader)

    def gone(self, reader: str) -> None:
        """A reader by hand will acknowledge nothing more."""
        self._by_hand.discard(reader)

    def readers(self, topic: str) -> list[str]:
        return list(self._readers.get(topic, ()))

    def awaited(self, topic: str, partitions: int) -> bool:
        return any(self._waiting_for.get((topic, partition)) for partition in range(partitions))

    def forget_topic(self, topic: str) -> None:
        self._readers.pop(topic, None)
        for known in (self._positions, self._deliveries, self._held):
            for key in [key for key in known if key[1] == topic]:
                del known[key]
        self._stable = {key for key in self._stable if key[1] != topic}

    def fetch(
        self,
        now_ns: int,
        group: str,
        client: str,
        positions: Mapping[TopicPartition, int],
        *,
        max_messages: int,
        deadline_ns: int,
        stable: bool = False,
        member: str = "",
    ) -> FetchReply:
        """Messages from `positions` on: at once if there are any, otherwise when some come, or [] at the deadline.

        With `stable`, they end at the last stable offset; aborted messages are among them, as in Kafka. Partitions take
        turns in being read first, so that none starves. A partition that cannot be read does not block the others: its
        error (OFFSET_OUT_OF_RANGE, DAMAGED, UNKNOWN_TOPIC_OR_PARTITION) is raised when they have no messages.
        """
        asked = _Fetch(group, client, member, dict(positions), max_messages, stable)
        messages = self._read(now_ns, asked)
        if messages or deadline_ns <= now_ns:
            return Reply.of(messages)
        reply: FetchReply = Reply()
        asked.timer = self._timers.at_end_of_wait(deadline_ns, lambda _at: self._end(reply, []))
        self._waiting[reply] = asked
        for topic_partition in positions:
            self._waiting_for.setdefault(topic_partition, {})[reply] = None
        return reply

    def cancel(self, reply: FetchReply) -> None:
        """Cancel a waiting fetch; its reply is []."""
        self._end(reply, [])

    def appended(self, now_ns: int, topic: str, partition: int) -> None:
        """The partition has grown: serve waiting fetches, first come, first served."""
        for reply in list(self._waiting_for.get((topic, partition), ())):
            waiting = self._waiting.get(reply)
            if waiting is None or reply.done:
                self._end(reply, [])
                continue
            try:
                messages = self._read(now_ns, waiting)
            except BrokerError as error:
                # The error belongs to the reader, not to the producer that has just published.
                self._withdraw(reply)
                reply.fail(error)
                continue
            if messages:
                self._end(reply, messages)

    def committed(
        self, now_ns: int, group: str, client: str, member: str, topic: str, partition: int, old: int, new: int
    ) -> None:
        """The group's committed offset advanced from `old` to `new`: the messages between are acknowledged."""
        key = (group, topic, partition)
        if key in self._deliveries:
            self._deliveries[key].acknowledge(min(new, self._log(topic, partition).end_offset))
        for run, live in self._runs(self._log(topic, partition), old, new, stable=key in self._stable):
            self.acknowledged += run.count * live
            kind, cause = (EventKind.ACKNOWLEDGED, "") if live else (EventKind.PASSED_OVER, "acknowledged")
            self._say(now_ns, kind, key, run, client, member, cause=cause)

    @staticmethod
    def _runs(log: PartitionLog, start: int, end: int, *, stable: bool) -> list[tuple[Run, bool]]:
        """The messages between, and whether they are live: one that reads committed messages drops aborted ones."""
        found: list[tuple[Run, bool]] = []
        for span in log.segments.aborted_ranges(start, end) if stable else ():
            first, stop = max(start, span.start), min(span.stop, end)
            found += [(run, True) for run in (log.runs(start, first) if start < first else ())]
            found += [(run, False) for run in log.runs(first, stop)]
            start = stop
        return found + [(run, True) for run in (log.runs(start, end) if start < end else ())]

    def _end(self, reply: FetchReply, messages: list[StoredMessage]) -> None:
        if self._withdraw(reply):
            reply.resolve(messages)

    def _withdraw(self, reply: FetchReply) -> bool:
        waiting = self._waiting.pop(reply, None)
        if waiting is None:
            return False
        if waiting.timer is not None:
            waiting.timer.cancel()
        for topic_partition in waiting.positions:
            self._waiting_for[topic_partition].pop(reply, None)
        return True

    def _read(self, now_ns: int, asked: _Fetch) -> list[StoredMessage]:
        client, positions, stable = asked.client, asked.positions, asked.stable
        owned = list(positions)
        turn = self._turn.get(client, 0) % len(owned) if owned else 0
        messages: list[StoredMessage] = []
        room_bytes = MAX_FETCH_BYTES
        failed: BrokerError | None = None
        for topic, partition in owned[turn:] + owned[:turn]:
            room = asked.max_messages - len(messages)
            if room <= 0 or room_bytes <= 0:
                break
            try:
                log = self._log(topic, partition)
                offset = max(positions[topic, partition], log.start_offset)
                most = min(room_bytes, MAX_PARTITION_FETCH_BYTES)
                end = log.last_stable_offset if stable else log.end_offset
                nothing = end <= offset <= log.end_offset
                read = [] if nothing else log.read(offset, max_messages=room, max_bytes=most, end_offset=end)
            except BrokerError as error:
                failed = failed or error
                continue
            if read:
                messages.extend(read)
                if len(owned) * MAX_PARTITION_FETCH_BYTES > MAX_FETCH_BYTES:
                    room_bytes -= sum(message.size_bytes for message in read)
                self._turn[client] = owned.index((topic, partition)) + 1
                place = (topic, partition, read[0].offset, read[-1].offset + 1)
                self.hand_over(now_ns, asked.group, client, asked.member, *place, stable=stable, handled=True)
        if failed is not None and not messages:
            raise failed
        return messages

    def hand_over(
        self,
        now_ns: int,
        group: str,
        client: str,
        member: str,
        topic: str,
        partition: int,
        offset: int,
        end_offset: int,
        *,
        stable: bool = False,
        handled: bool = False,
    ) -> None:
        """Record the delivery of the messages from `offset` up to `end_offset` to `client` of `group`.

        With `stable`, aborted messages are passed over. With `handled`, the program has what it is given, and a client
        fetches nothing ahead for it.
        """
        key = (group, topic, partition)
        deliveries = self._deliveries.get(key)
        if deliveries is None:
            deliveries = self._deliveries[key] = Deliveries(self._groups().committed(group, topic, partition))
        self._positions[key] = end_offset
        if stable:
            self._stable.add(key)
        else:
            self._stable.discard(key)
        holder, held_from, held_end = self._held.get(key, ("", 0, 0))
        same = holder == member
        self._held[key] = (member, held_from if same else offset, max(held_end if same else 0, end_offset))
        log = self._log(topic, partition)
        is_gone = (lambda _reader: True) if handled else partial(self._is_gone, group)
        for start, end, attempt in deliveries.take(offset, end_offset, member, is_gone):
            for run, live in self._runs(log, start, end, stable=stable):
                self.delivered += run.count * live
                if live and attempt != 1:
                    self.redelivered += run.count * (attempt is not None)
                    self.fetched_again += run.count * (attempt is None)
                kind, cause = EventKind.DELIVERED if live else EventKind.PASSED_OVER, "" if attempt else FETCHED_AGAIN
                self._say(now_ns, kind, key, run, client, member, attempt=attempt, cause=cause)

    def _say(
        self, now_ns: int, kind: EventKind, key: tuple[str, str, int], run: Run, client: str, member: str, **more: Any
    ) -> None:
        self._events.emit(
            now_ns,
            kind,
            topic=key[1],
            partition=key[2],
            offset=run.offset,
            count=run.count,
            size_bytes=run.size_bytes,
            client=client,
            group=key[0],
            published_ns=run.published_ns,
            member=member,
            **more,
        )

    def _is_gone(self, group: str, reader: str) -> bool:
        return reader not in self._by_hand if is_by_hand(reader) else not self._groups().is_member(group, reader)
