"""What groups read: fetches that wait for messages, and what was handed to whom.

A fetch that finds nothing is parked with a deadline and served when one of its partitions grows. The first handing over
of an offset to a group is attempt 1; any later one is a redelivery and counted as such.
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
    """What is read of a partition's log."""

    @property
    def start_offset(self) -> int:
        """The first offset that is still there."""

    @property
    def end_offset(self) -> int:
        """The offset that the next message gets."""

    def read(self, offset: int, *, max_messages: int, max_bytes: int) -> list[StoredMessage]:
        """Messages from `offset` on, the first of them whatever its size; `max_bytes` counts keys and values."""

    def runs(self, offset: int, end_offset: int) -> list[Run]:
        """The messages in between by time of publishing."""


class _Waiting:
    """A parked fetch."""

    __slots__ = ("client", "group", "max_messages", "positions", "timer")

    def __init__(
        self, group: str, client: str, positions: Mapping[TopicPartition, int], max_messages: int, timer: Timer
    ) -> None:
        self.group = group
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
        self._waiting: dict[FetchReply, _Waiting] = {}
        self._waiting_for: dict[TopicPartition, dict[FetchReply, None]] = {}
        self._positions: dict[tuple[str, str, int], int] = {}
        self._delivered_end: dict[tuple[str, str, int], int] = {}
        self._starts: dict[tuple[str, str, int], int] = {}
        # Who has got messages since the partition was assigned to it: from which offset on, and up to which.
        self._held: dict[tuple[str, str, int], tuple[str, int, int]] = {}
        self._readers: dict[str, dict[str, None]] = {}
        self._turn: dict[str, int] = {}
        self.delivered = 0
        self.redelivered = 0
        self.acknowledged = 0

    def begin(self, group: str, topic: str, partition: int, offset: int) -> None:
        """The group reads the partition from `offset` on, as after an assignment or a seek."""
        key = (group, topic, partition)
        self._positions[key] = offset
        self._starts.setdefault(key, offset)
        self._readers.setdefault(topic, {})[group] = None

    def assigned(self, group: str, topic: str, partition: int) -> None:
        """The partition has a new owner, or one that begins anew: it holds nothing yet."""
        self._held.pop((group, topic, partition), None)

    def held(self, group: str, topic: str, partition: int, client: str, committed: int | None) -> int:
        """Messages that were handed to `client` as the owner, and are not committed."""
        holder, first, end = self._held.get((group, topic, partition), ("", 0, 0))
        return max(0, end - max(committed or 0, first)) if holder == client else 0

    def position(self, group: str, topic: str, partition: int) -> int | None:
        """The offset that the group's owner reads next; None where nobody ever read."""
        return self._positions.get((group, topic, partition))

    def start(self, group: str, topic: str, partition: int) -> int | None:
        """Where the group began to read; None where it never did."""
        return self._starts.get((group, topic, partition))

    def readers(self, topic: str) -> list[str]:
        """The groups that have ever read the topic, in the order in which they came."""
        return list(self._readers.get(topic, ()))

    def awaited(self, topic: str, partitions: int) -> bool:
        """True where a fetch waits for the topic to grow."""
        return any(self._waiting_for.get((topic, partition)) for partition in range(partitions))

    def forget_topic(self, topic: str) -> None:
        """The topic is gone; one of the same name starts anew."""
        self._readers.pop(topic, None)
        for known in (self._positions, self._delivered_end, self._starts, self._held):
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
    ) -> FetchReply:
        """Messages from `positions` on: at once where there are any, else when some come, or [] at the deadline.

        Partitions take turns in being read first, so that a busy one starves no other. One that cannot be read holds up
        no other either: what is wrong with it (OFFSET_OUT_OF_RANGE, DAMAGED, UNKNOWN_TOPIC_OR_PARTITION) is raised when
        the others have nothing to give.
        """
        messages = self._read(now_ns, group, client, positions, max_messages)
        if messages or deadline_ns <= now_ns:
            return Reply.of(messages)
        reply: FetchReply = Reply()
        timer = self._timers.at(deadline_ns, lambda _at: self._end(reply, []))
        self._waiting[reply] = _Waiting(group, client, dict(positions), max_messages, timer)
        for topic_partition in positions:
            self._waiting_for.setdefault(topic_partition, {})[reply] = None
        return reply

    def cancel(self, reply: FetchReply) -> None:
        """A parked fetch is no longer wanted; nothing is handed over by it any more."""
        self._end(reply, [])

    def appended(self, now_ns: int, topic: str, partition: int) -> None:
        """The partition has grown: serve who waits for it, first come first."""
        for reply in list(self._waiting_for.get((topic, partition), ())):
            waiting = self._waiting.get(reply)
            if waiting is None or reply.done:
                self._end(reply, [])
                continue
            try:
                messages = self._read(now_ns, waiting.group, waiting.client, waiting.positions, waiting.max_messages)
            except BrokerError as error:
                # Its reader's trouble, not that of whoever has just published.
                self._withdraw(reply)
                reply.fail(error)
                continue
            if messages:
                self._end(reply, messages)

    def committed(self, now_ns: int, group: str, client: str, topic: str, partition: int, old: int, new: int) -> None:
        """The group's committed offset went from `old` to `new`: what lies between is acknowledged."""
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
        self, now_ns: int, group: str, client: str, positions: Mapping[TopicPartition, int], max_messages: int
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
                read = log.read(offset, max_messages=room, max_bytes=most) if offset != log.end_offset else []
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
        """`client` was given the messages from `offset` up to `end_offset` on behalf of `group`."""
        key = (group, topic, partition)
        known_end = self._delivered_end.get(key, 0)
        self._positions[key] = end_offset
        self._delivered_end[key] = max(known_end, end_offset)
        holder, held_from, held_end = self._held.get(key, ("", 0, 0))
        same = holder == client
        self._held[key] = (client, held_from if same else offset, max(held_end if same else 0, end_offset))
        log = self._log(topic, partition)
        # An offset that was handed over before is a redelivery, up to where the group had got.
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
