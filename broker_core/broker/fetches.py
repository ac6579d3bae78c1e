"""Fetches of consumer groups. A fetch without messages waits until its deadline, and is served when one of its
partitions grows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from broker_core.broker.delivery_record import DeliveryRecord
from broker_core.broker.partition_owners import Reader
from broker_core.errors import BrokerError
from broker_core.limits import MAX_FETCH_BYTES, MAX_PARTITION_FETCH_BYTES
from broker_core.log.partition_log import PartitionLog
from broker_core.messages import StoredMessage, TopicPartition
from broker_core.replies import Reply
from broker_core.timers import Timer, Timers

FetchReply = Reply[list[StoredMessage]]


class _Fetch(msgspec.Struct, eq=False):
    reader: Reader
    positions: Mapping[TopicPartition, int]
    max_messages: int
    stable: bool
    timer: Timer | None = None


class Fetches(msgspec.Struct, eq=False):
    _record: DeliveryRecord
    _timers: Timers
    _log: Callable[[str, int], PartitionLog]
    _waiting: dict[FetchReply, _Fetch] = {}
    _waiting_for: dict[TopicPartition, dict[FetchReply, None]] = {}
    _turn: dict[str, int] = {}  # of which of its partitions a client's next fetch reads first

    def awaited(self, topic: str, partitions: int) -> bool:
        return any(self._waiting_for.get((topic, partition)) for partition in range(partitions))

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
        asked = _Fetch(Reader(group, client, member), dict(positions), max_messages, stable)
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
        client, positions, stable = asked.reader.client, asked.positions, asked.stable
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
                given = (read[0].offset, read[-1].offset + 1)
                self._record.hand_over(now_ns, asked.reader, (topic, partition), *given, stable=stable)
        if failed is not None and not messages:
            raise failed
        return messages
