"""Fetches of consumer groups, waiting ones included, and the record of deliveries.

A fetch without messages waits until its deadline, and is served when one of its partitions grows. The first delivery of
an offset to a group is attempt 1; later ones are redeliveries.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from broker_core.errors import BrokerError
from broker_core.events import EventKind, EventStream
from broker_core.limits import MAX_FETCH_BYTES, MAX_PARTITION_FETCH_BYTES
from broker_core.messages import Run, StoredMessage
from broker_core.replies import Reply
from broker_core.timers import Timer, Timers

TopicPartition = tuple[str, int]
FetchReply = Reply[list[StoredMessage]]


class ReadableLog(Protocol):
    """A partition log as fetches read it."""

    @property
    def start_offset(self) -> int:
        """The first available offset."""

    @property
    def end_offset(self) -> int:
        """The offset of the next message."""

    @property
    def last_stable_offset(self) -> int:
        """Below it no message belongs to an open transaction."""

    def read(
        self, offset: int, *, max_messages: int, max_bytes: int, end_offset: int | None = None
    ) -> list[StoredMessage]:
        """Messages from `offset` on, at least one whatever its size; `max_bytes` counts keys and values."""

    def messages_between(self, offset: int, end_offset: int) -> int:
        """The number of offsets between the two that are not markers, including removed messages."""

    def runs(self, offset: int, end_offset: int) -> list[Run]:
        """The messages from `offset` up to `end_offset`, by time of publishing."""


class _WaitingFetch:
    """A waiting fetch."""

    __slots__ = ("client", "group", "max_messages", "positions", "stable", "timer")

    def __init__(
        self,
        group: str,
        client: str,
        positions: Mapping[TopicPartition, int],
        max_messages: int,
        stable: bool,
        timer: Timer,
    ) -> None:
        self.group = group
        self.stable = stable
        self.client = client
        self.positions = positions
        self.max_messages = max_messages
        self.timer = timer


class Fetches:
    """All fetches of all groups. Counts are in messages."""

    def __init__(self, events: EventStream, timers: Timers, log: Callable[[str, int], ReadableLog]) -> None:
        self._events = events
        self._timers = timers
        self._log = log
        self._waiting: dict[FetchReply, _WaitingFetch] = {}
        self._waiting_for: dict[TopicPartition, dict[FetchReply, None]] = {}
        self._positions: dict[tuple[str, str, int], int] = {}
        self._delivered_end: dict[tuple[str, str, int], int] = {}
        self._starts: dict[tuple[str, str, int], int] = {}
        # The owner that has read since its assignment, with its first and end offset.
        self._held: dict[tuple[str, str, int], tuple[str, int, int]] = {}
        self._readers: dict[str, dict[str, None]] = {}
        self._waits_from: dict[tuple[str, str, int], int] = {}
        self._turn: dict[str, int] = {}
        self._waits: Callable[[], object] = lambda: None
        self.delivered = 0
        self.redelivered = 0
        self.acknowledged = 0

    def begin(self, group: str, topic: str, partition: int, offset: int) -> None:
        """The group reads the partition from `offset` on, after an assignment or a seek."""
        key = (group, topic, partition)
        self._positions[key] = offset
        self._starts.setdefault(key, offset)
        self._readers.setdefault(topic, {})[group] = None

    def waits_from(self, group: str, topic: str, partition: int, offset: int) -> None:
        """A fetch of the group's owner waits for messages from `offset` on."""
        if self._waits_from.get((group, topic, partition)) != offset:
            self._waits_from[group, topic, partition] = offset
            self._waits()

    def reads_from(self, group: str, topic: str, partition: int) -> int | None:
        """Where the group began to read, or waits for the first message to read; None where it did neither."""
        key = (group, topic, partition)
        return self._starts.get(key, self._waits_from.get(key))

    def on_wait(self, action: Callable[[], object]) -> None:
        """Call `action()` when a group waits at another offset than before, which is no event."""
        self._waits = action

    def assigned(self, group: str, topic: str, partition: int) -> None:
        """The partition was assigned: its owner has no uncommitted deliveries yet."""
        self._held.pop((group, topic, partition), None)

    def held(
        self, group: str, topic: str, partition: int, client: str, committed: int | None
    ) -> tuple[int, int | None]:
        """How many messages were delivered to `client` as the owner and are not committed, and the first offset."""
        holder, first, end = self._held.get((group, topic, partition), ("", 0, 0))
        if holder != client:
            return 0, None
        first = max(committed or 0, first)
        return self._log(topic, partition).messages_between(first, end) if first < end else 0, first

    def position(self, group: str, topic: str, partition: int) -> int | None:
        """The next offset that the group's owner reads; None where the group never read."""
        return self._positions.get((group, topic, partition))

    def start(self, group: str, topic: str, partition: int) -> int | None:
        """The offset at which the group began to read; None where it never did."""
        return self._starts.get((group, topic, partition))

    def readers(self, topic: str) -> list[str]:
        """The groups that have read the topic, in the order of their first read."""
        return list(self._readers.get(topic, ()))

    def awaited(self, topic: str, partitions: int) -> bool:
        """Whether a fetch waits for messages of the topic."""
        return any(self._waiting_for.get((topic, partition)) for partition in range(partitions))

    def forget_topic(self, topic: str) -> None:
        """Forget a deleted topic."""
        self._readers.pop(topic, None)
        for known in (self._positions, self._delivered_end, self._starts, self._held, self._waits_from):
            for key in [key for key in known if key[1] == topic]:
                del known[key]

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
    ) -> FetchReply:
        """Messages from `positions` on: at once where there are any, otherwise when some come, or [] at the deadline.

        With `stable`, they end at the last stable offset; aborted messages are among them, as in Kafka.
        Partitions take turns in being read first, so that none starves. A partition that cannot be read does not block
        the others: its error (OFFSET_OUT_OF_RANGE, DAMAGED, UNKNOWN_TOPIC_OR_PARTITION) is raised when they have no
        messages.
        """
        messages = self._read(now_ns, group, client, positions, max_messages, stable)
        if messages or deadline_ns <= now_ns:
            return Reply.of(messages)
        reply: FetchReply = Reply()
        timer = self._timers.at_end_of_wait(deadline_ns, lambda _at: self._end(reply, []))
        self._waiting[reply] = _WaitingFetch(group, client, dict(positions), max_messages, stable, timer)
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
                messages = self._read(
                    now_ns, waiting.group, waiting.client, waiting.positions, waiting.max_messages, waiting.stable
                )
            except BrokerError as error:
                # The error belongs to the reader, not to the producer that has just published.
                self._withdraw(reply)
                reply.fail(error)
                continue
            if messages:
                self._end(reply, messages)

    def committed(self, now_ns: int, group: str, client: str, topic: str, partition: int, old: int, new: int) -> None:
        """The group's committed offset advanced from `old` to `new`: the messages between are acknowledged."""
        for run in self._log(topic, partition).runs(old, new):
            self.acknowledged += run.count
            self._events.emit(
                now_ns,
                EventKind.ACKNOWLEDGED,
                topic=topic,
                partition=partition,
                offset=run.offset,
                count=run.count,
                size_bytes=run.size_bytes,
                client=client,
                group=group,
                published_ns=run.published_ns,
            )

    def _end(self, reply: FetchReply, messages: list[StoredMessage]) -> None:
        if self._withdraw(reply):
            reply.resolve(messages)

    def _withdraw(self, reply: FetchReply) -> bool:
        waiting = self._waiting.pop(reply, None)
        if waiting is None:
            return False
        waiting.timer.cancel()
        for topic_partition in waiting.positions:
            self._waiting_for[topic_partition].pop(reply, None)
        return True

    def _read(
        self,
        now_ns: int,
        group: str,
        client: str,
        positions: Mapping[TopicPartition, int],
        max_messages: int,
        stable: bool,
    ) -> list[StoredMessage]:
        owned = list(positions)
        turn = self._turn.get(client, 0) % len(owned) if owned else 0
        messages: list[StoredMessage] = []
        room_bytes = MAX_FETCH_BYTES
        failed: BrokerError | None = None
        for topic, partition in owned[turn:] + owned[:turn]:
            room = max_messages - len(messages)
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
                first = read[0]
                self.hand_over(now_ns, group, client, first.topic, first.partition, first.offset, read[-1].offset + 1)
        if failed is not None and not messages:
            raise failed
        return messages

    def hand_over(
        self, now_ns: int, group: str, client: str, topic: str, partition: int, offset: int, end_offset: int
    ) -> None:
        """Record the delivery of the messages from `offset` up to `end_offset` to `client` of `group`."""
        key = (group, topic, partition)
        known_end = self._delivered_end.get(key, 0)
        self._positions[key] = end_offset
        self._delivered_end[key] = max(known_end, end_offset)
        holder, held_from, held_end = self._held.get(key, ("", 0, 0))
        same = holder == client
        self._held[key] = (client, held_from if same else offset, max(held_end if same else 0, end_offset))
        log = self._log(topic, partition)
        # Offsets below the furthest delivered one are redeliveries.
        boundary = min(max(known_end, offset), end_offset)
        for start, end, attempt in ((offset, boundary, 2), (boundary, end_offset, 1)):
            for run in log.runs(start, end) if start < end else ():
                self.delivered += run.count
                if attempt > 1:
                    self.redelivered += run.count
                self._events.emit(
                    now_ns,
                    EventKind.DELIVERED,
                    topic=topic,
                    partition=partition,
                    offset=run.offset,
                    count=run.count,
                    size_bytes=run.size_bytes,
                    client=client,
                    group=group,
                    attempt=attempt,
                    published_ns=run.published_ns,
                )
