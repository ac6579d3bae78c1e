"""The shortest way in: messages that are published one by one, in memory, and are put into batches a moment later.

A tail takes the next messages of one client for one topic. Each has its partition and its offset at once, for nothing
else can happen meanwhile: whoever touches the broker closes the tails first, which appends what is in them. So nobody
ever sees a broker that lacks a message, and a batch costs what it costs once, not once a message. See NOTES.md.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from itertools import groupby

from broker_core.broker import Broker
from broker_core.broker_state import PlainQueue
from broker_core.clock import NS_PER_MS
from broker_core.log.batch import MAX_BATCH_RECORDS
from broker_core.log.partition_log import PartitionLog
from broker_core.log.partitioners import Partitioner
from broker_core.messages import Message, StoredMessage
from broker_core.queues.lease import Lease

_log = logging.getLogger(__name__)
# All messages of a tail have the time at which it was opened: as exact as the timestamps of records are.
OPEN_NS = NS_PER_MS
# What nobody asks for becomes an event not later than this.
IDLE_NS = 5 * NS_PER_MS
_TAIL_BYTES = 1_048_576

Placed = tuple[int, int]  # partition, offset


class _Part:
    """The open end of one partition."""

    __slots__ = ("log", "messages", "next_offset")

    def __init__(self, log: PartitionLog) -> None:
        self.log = log
        self.messages: list[Message] = []
        self.next_offset = log.end_offset


class _Tail:
    __slots__ = ("client", "closes_ns", "opened_ns", "part", "partitioner", "parts", "room_bytes", "stay")

    def __init__(self, now_ns: int, client: str, logs: list[PartitionLog], partitioner: Partitioner) -> None:
        self.client = client
        self.opened_ns = now_ns
        self.closes_ns = now_ns + OPEN_NS
        self.parts = [_Part(log) for log in logs]
        self.partitioner = partitioner
        self.room_bytes = min(_TAIL_BYTES, logs[0].config.max_message_bytes)
        self.part, self.stay = self.parts[0], 0  # where messages without a key go, and how many more may

    def turn(self) -> _Part:
        """The part for the next messages without a key."""
        number, self.stay = self.partitioner.stay(len(self.parts))
        self.part = self.parts[number]
        return self.part


class _QueueTail(_Tail):
    """Also hands out what it took, where nothing else is ready, and notes what is acknowledged."""

    __slots__ = ("deadline_ns", "first", "held", "holders", "timestamp_ms")

    def __init__(self, now_ns: int, client: str, queue: PlainQueue, epoch_ms: int) -> None:
        super().__init__(now_ns, client, [queue.log], Partitioner())
        self.first = queue.log.end_offset
        self.deadline_ns = now_ns + queue.lease_ns
        self.timestamp_ms = epoch_ms + now_ns // NS_PER_MS
        # By place, who got the message; None where what lay there before comes first.
        self.holders: list[str] | None = [] if queue.nothing_ready else None
        self.held: set[int] = set()


class Tails:
    """The open tails of a broker, one a topic or queue. Every method is called under the host's lock."""

    def __init__(
        self,
        broker: Broker,
        start_ns: int,
        arm: Callable[[int], object],
        is_due: Callable[[int], bool] = lambda _time_ns: False,
    ) -> None:
        """`start_ns` is session time 0 on the monotonic clock; `arm(time_ns)` has `close` called then.

        While `is_due(time_ns)`, none is opened: what was to happen before must happen before.
        """
        self._broker = broker
        self._start_ns = start_ns
        self._arm = arm
        self._is_due = is_due
        self._armed_ns = -1
        self._stopped = False
        self.open: dict[str, _Tail] = {}

    def put(self, client: str, topic: str, value: bytes, key: bytes | None) -> Placed | None:
        """Where the message is stored; None where it has to go the long way."""
        now_ns = time.monotonic_ns() - self._start_ns
        tail = self.open.get(topic)
        if tail is not None and (now_ns >= tail.closes_ns or tail.client is not client):
            self.close()  # all of them, so that the events of all topics are in the order of time
            tail = None
        if tail is None:
            tail = self._opened(now_ns, client, topic)
            if tail is None:
                return None
        room_bytes = tail.room_bytes - len(value)
        if key is None:
            part = tail.part if tail.stay else tail.turn()
        else:
            room_bytes -= len(key)
            part = tail.parts[tail.partitioner.choose(key, len(tail.parts))]
        if room_bytes < 0:
            return None
        tail.room_bytes = room_bytes
        part.messages.append(Message(value, key))
        offset = part.next_offset
        part.next_offset = offset + 1
        if key is None:
            tail.stay -= 1
        if len(part.messages) == MAX_BATCH_RECORDS:
            self.close()
        return part.log.partition, offset

    def take(self, queue: str, holder: str) -> Lease | None:
        """The next message of `queue`, leased for the first time; None where that is not for a tail to say."""
        tail = self.open.get(queue)
        if not isinstance(tail, _QueueTail) or tail.holders is None:
            return None
        place = len(tail.holders)
        messages = tail.parts[0].messages
        if place >= len(messages) or time.monotonic_ns() - self._start_ns >= tail.closes_ns:
            return None
        message, offset = messages[place], tail.first + place
        stored = StoredMessage(queue, 0, offset, tail.timestamp_ms, tail.opened_ns, message.key, message.value)
        tail.holders.append(holder)
        tail.held.add(offset)
        return Lease(queue, 0, offset, holder, 1, tail.deadline_ns, stored)

    def ack(self, lease: Lease) -> bool:
        """True where the message was taken from a tail that is open still; then it is acknowledged."""
        tail = self.open.get(lease.queue)
        if (
            not isinstance(tail, _QueueTail)
            or lease.offset not in tail.held
            or tail.holders is None
            or tail.holders[lease.offset - tail.first] != lease.holder
            or time.monotonic_ns() - self._start_ns >= tail.closes_ns
        ):
            return False
        tail.held.discard(lease.offset)
        return True

    def close(self) -> None:
        """Append what is in the tails, hand out and acknowledge what was."""
        tails, self.open = self.open, {}
        for topic, tail in tails.items():
            if tail.stay:
                tail.partitioner.give_back(tail.stay)
            for part in tail.parts:
                if part.messages:
                    self._do(tail, self._append, topic, part)
            if isinstance(tail, _QueueTail) and tail.holders:
                self._do(tail, self._hand_out, topic, tail.holders)

    def stop(self) -> None:
        """Append what is in the tails, and open none any more."""
        self._stopped = True
        self.close()

    @staticmethod
    def _do(tail: _Tail, action: Callable[..., None], *arguments: object) -> None:
        try:
            action(tail, *arguments)
        except Exception:
            # Whoever listens to the events has failed: that costs neither the messages nor whoever came along.
            _log.exception("a listener failed")

    def _append(self, tail: _Tail, topic: str, part: _Part) -> None:
        self._broker.publish_batch(tail.opened_ns, topic, part.log.partition, part.messages, client=tail.client)

    def _hand_out(self, tail: _QueueTail, name: str, holders: list[str]) -> None:
        queue = self._broker.queue(name)
        fates = ((holder, tail.first + place in tail.held) for place, holder in enumerate(holders))
        for (holder, held), group in groupby(fates):
            count = len(list(group))
            if held:
                queue.take(tail.opened_ns, holder, max_messages=count)
            else:
                queue.pass_through(tail.opened_ns, holder, count)

    def _opened(self, now_ns: int, client: str, topic: str) -> _Tail | None:
        tail: _Tail | None = None
        if self._stopped or self._is_due(now_ns):
            return None
        if (logs := self._broker.plain_logs(topic)) is not None:
            tail = _Tail(now_ns, client, *logs)
        elif (queue := self._broker.plain_queue(topic)) is not None:
            tail = _QueueTail(now_ns, client, queue, self._broker.epoch_ms)
        if tail is None:
            return None
        self.open[topic] = tail
        if self._armed_ns <= now_ns:
            self._armed_ns = now_ns + IDLE_NS
            self._arm(self._armed_ns)
        return tail
