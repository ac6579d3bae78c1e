"""The shortest way in: messages that are published one by one, in memory, and are put into batches a moment later.

An open batch takes the next messages of one client for one topic. Each message has its partition and its offset at
once: nothing else can happen meanwhile, because every call of the broker closes the open batches first, which appends
what is in them. So no caller sees a broker that lacks a message, and a batch is paid for once, not once a message.

OpenBatches are opened and closed under the host's lock; joining one that is open takes none. See NOTES.md.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Iterator
from itertools import groupby

from broker_core.broker.broker import Broker
from broker_core.broker.state import PlainQueue
from broker_core.clock import NS_PER_MS
from broker_core.log.batch import MAX_BATCH_RECORDS
from broker_core.log.partition_log import PartitionLog
from broker_core.log.partitioners import Partitioner
from broker_core.messages import Message, StoredMessage
from broker_core.queues.lease import Lease

_log = logging.getLogger(__name__)
# All messages of a tail have the time at which it was opened: as exact as the timestamps of records are.
OPEN_NS = NS_PER_MS
# What nobody asks for becomes an event not later than this; so long does a queue's tail hand out what it has.
IDLE_NS = 5 * NS_PER_MS
_TAIL_BYTES = 1_048_576
_LAST_PLACE = MAX_BATCH_RECORDS - 1
_END = Message(None)  # stands behind the last message of a part that is closed

Placed = tuple[int, int]  # partition, offset


class _Part:
    """The open end of one partition."""

    __slots__ = ("first", "messages", "partition")

    def __init__(self, log: PartitionLog) -> None:
        self.partition = log.partition
        self.first = log.end_offset
        self.messages: list[Message] = []  # appended to by whoever joins, without a lock

    def close(self) -> list[Message]:
        """What is stored: the messages that came before the end."""
        messages = self.messages
        end = len(messages)
        messages.append(_END)
        while messages[end] is not _END:  # somebody came in between
            end += 1
        return messages[:end]

    def missed(self, place: int) -> bool:
        """Whether what is at `place` of a closed part came after the end."""
        return any(message is _END for message in self.messages[:place])


class _Tail:
    __slots__ = ("client", "closed", "closes_at_ns", "opened_ns", "part", "partitioner", "parts", "room_bytes", "stay")

    def __init__(self, now_ns: int, client: str, logs: list[PartitionLog], partitioner: Partitioner) -> None:
        self.client = client
        self.opened_ns = now_ns
        self.closes_at_ns = 0  # on the monotonic clock; 0 where a part is full
        self.closed = False
        self.parts = [_Part(log) for log in logs]
        self.partitioner = partitioner
        self.room_bytes = min(_TAIL_BYTES, logs[0].config.max_message_bytes)
        self.part, self.stay = self.parts[0], 0  # where messages without a key go, and how many more may

    def turn(self) -> None:
        """Choose the part for the next messages without a key."""
        number, stay = self.partitioner.stay(len(self.parts))
        # In this order: whoever finds that more may go finds where.
        self.part = self.parts[number]
        self.stay = stay


class QueueTail(_Tail):
    """Also hands out what it took, where nothing else is ready, and notes what is acknowledged."""

    __slots__ = ("deadline_ns", "first", "held", "holder", "messages", "name", "place", "timestamp_ms", "turns")

    def __init__(self, now_ns: int, client: str, name: str, queue: PlainQueue, epoch_ms: int) -> None:
        super().__init__(now_ns, client, [queue.log], Partitioner(sticky_messages=MAX_BATCH_RECORDS))
        self.name = name
        self.first = self.part.first
        self.deadline_ns = now_ns + queue.lease_ns
        self.timestamp_ms = epoch_ms + now_ns // NS_PER_MS
        self.messages = self.part.messages
        self.place = 0  # of the message that is taken next
        self.holder: str | None = None  # who took the one before
        self.turns: list[tuple[int, str]] = []  # from which place on who took
        # The offsets of what somebody has in hand. Whoever gets an entry out decides what becomes of it: its holder,
        # who acknowledges it with that, or the tail that closes. It is one step, so the holder needs no lock.
        self.held: dict[int, bool] = {}

    def take(self, holder: str) -> StoredMessage | None:
        """The next message, leased for the first time, under the host's lock; None where there is none here."""
        place = self.place
        messages = self.messages
        if place >= len(messages):
            return None
        self.place = place + 1
        if holder is not self.holder:
            self.holder = holder
            self.turns.append((place, holder))
        message = messages[place]
        offset = self.first + place
        self.held[offset] = True
        return StoredMessage(self.name, 0, offset, self.timestamp_ms, self.opened_ns, message.key, message.value)

    def lease(self, message: StoredMessage, holder: str) -> Lease:
        """What the queue knows of `message`, which `holder` took from here, once the tail is closed."""
        return Lease(self.name, 0, message.offset, holder, 1, self.deadline_ns, message)

    def end(self) -> Iterator[tuple[str, bool, int]]:
        """Hand out and acknowledge nothing more: (holder, whether they have them in hand, how many), run by run."""
        self.messages = []
        held = set()
        while self.held:
            with contextlib.suppress(KeyError):  # the last one was acknowledged just now
                held.add(self.held.popitem()[0] - self.first)
        ends = [*(place for place, _ in self.turns[1:]), self.place]
        for (place, holder), end in zip(self.turns, ends, strict=False):
            if not held:
                yield holder, False, end - place
                continue
            for in_hand, run in groupby(range(place, end), held.__contains__):
                yield holder, in_hand, len(list(run))


class OpenBatches:
    """The open batches of a broker, one a topic or queue. All but `join` is called under the host's lock."""

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
        # Those of queues where nothing else is ready: what is put in next is what is taken next.
        self.serving: dict[str, QueueTail] = {}

    def join(self, client: str, topic: str, value: bytes, key: bytes | None) -> Placed | None:
        """Where the message is stored; None where no tail that is open already can take it. Needs no lock."""
        tail = self.open.get(topic)
        if tail is None or tail.client is not client or time.monotonic_ns() >= tail.closes_at_ns:
            return None
        if key is None:
            room_bytes = tail.room_bytes - len(value)
            stay = tail.stay - 1
            part = tail.part
        else:
            room_bytes = tail.room_bytes - len(value) - len(key)
            stay = tail.stay
            part = tail.parts[tail.partitioner.choose(key, len(tail.parts))]
        if room_bytes < 0 or stay < 0:
            return None
        # Of two threads that come here at once one may go uncounted: neither has to be exact.
        tail.room_bytes = room_bytes
        tail.stay = stay
        message = Message(value, key)
        messages = part.messages
        place = len(messages)
        messages.append(message)
        while messages[place] is not message:  # another thread came in between
            place += 1
        if place >= _LAST_PLACE:
            tail.closes_at_ns = 0
        # Looked at only now: where it is not closed yet, its end comes behind this message.
        if tail.closed and part.missed(place):
            return None
        return part.partition, part.first + place

    def put(self, client: str, topic: str, value: bytes, key: bytes | None) -> Placed | None:
        """`join`, with a tail opened for it where that can be; None where the message has to go the long way."""
        tail = self.open.get(topic)
        if tail is None or tail.client is not client or time.monotonic_ns() >= tail.closes_at_ns:
            tail = self._opened(client, topic)
            if tail is None:
                return None
        if key is None and tail.stay <= 0:
            tail.turn()
        return self.join(client, topic, value, key)

    def close(self) -> None:
        """Append what is in the open batches, hand out and acknowledge what was."""
        open_batches, self.open = self.open, {}
        self.serving.clear()
        for topic, tail in open_batches.items():
            tail.closed = True
            if tail.stay > 0:
                tail.partitioner.give_back(tail.stay)
            for part in tail.parts:
                if messages := part.close():
                    self._do(self._append, tail, topic, part.partition, messages)
            if isinstance(tail, QueueTail):
                self._do(self._hand_out, tail)

    def stop(self) -> None:
        """Append what is in the open batches, and open none any more."""
        self._stopped = True
        self.close()

    @staticmethod
    def _do(action: Callable[..., None], *arguments: object) -> None:
        try:
            action(*arguments)
        except Exception:
            # Whoever listens to the events has failed: that costs neither the messages nor whoever came along.
            _log.exception("a listener failed")

    def _append(self, tail: _Tail, topic: str, partition: int, messages: list[Message]) -> None:
        self._broker.publish_batch(tail.opened_ns, topic, partition, messages, client=tail.client)

    def _hand_out(self, tail: QueueTail) -> None:
        queue = self._broker.queue(tail.name)
        for holder, in_hand, count in tail.end():
            if in_hand:
                queue.take(tail.opened_ns, holder, max_messages=count)
            else:
                queue.pass_through(tail.opened_ns, holder, count)

    def _opened(self, client: str, topic: str) -> _Tail | None:
        if topic in self.open:
            self.close()  # all of them, so that the events of all topics are in the order of time
        now_ns = time.monotonic_ns() - self._start_ns
        if self._stopped or self._is_due(now_ns):
            return None
        tail: _Tail
        if (logs := self._broker.plain_logs(topic)) is not None:
            tail = _Tail(now_ns, client, *logs)
        elif (queue := self._broker.plain_queue(topic)) is not None:
            tail = QueueTail(now_ns, client, topic, queue, self._broker.epoch_ms)
            if queue.nothing_ready:
                self.serving[topic] = tail
        else:
            return None
        tail.closes_at_ns = self._start_ns + now_ns + OPEN_NS
        self.open[topic] = tail
        if self._armed_ns <= now_ns:
            self._armed_ns = now_ns + IDLE_NS
            self._arm(self._armed_ns)
        return tail
