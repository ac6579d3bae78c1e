"""Open batches: the fast path of messages that are published one by one to a topic or queue in memory.

An open batch collects the messages of one client for one topic. A message has its partition and offset at once,
because every call of the broker first closes the open batches, which appends them. So no caller sees a broker that
lacks a message, and the cost of an append is paid once a batch.

Batches are opened and closed under the host's lock; joining an open one takes no lock. See NOTES.md.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Iterator
from itertools import groupby

from broker_core.broker.broker import Broker
from broker_core.broker.publishing import PlainQueue
from broker_core.clock import NS_PER_MS
from broker_core.limits import MAX_BATCH_RECORDS
from broker_core.log.partition_log import PartitionLog
from broker_core.log.partitioners import Partitioner
from broker_core.messages import Message, StoredMessage
from broker_core.queues.lease import Lease

_log = logging.getLogger(__name__)
# All messages of a batch have its opening time: the resolution of record timestamps.
OPEN_NS = NS_PER_MS
# A batch is closed after this at the latest; so long may the batch of a queue deliver its messages.
IDLE_NS = 5 * NS_PER_MS
_BATCH_BYTES = 1_048_576
_LAST_PLACE = MAX_BATCH_RECORDS - 1
_END = Message(None)  # marks the end of a closed batch

Placed = tuple[int, int]  # partition, offset


class _PartitionBatch:
    __slots__ = ("first", "messages", "partition")

    def __init__(self, log: PartitionLog) -> None:
        self.partition = log.partition
        self.first = log.end_offset
        self.messages: list[Message] = []  # `join` appends without a lock

    def close(self) -> list[Message]:
        """Append the end mark. Returns the messages before it."""
        messages = self.messages
        end = len(messages)
        messages.append(_END)
        while messages[end] is not _END:  # another thread appended in between
            end += 1
        return messages[:end]

    def missed(self, place: int) -> bool:
        """Whether the message at `place` came after the end mark."""
        return any(message is _END for message in self.messages[:place])


class _OpenBatch:
    __slots__ = ("client", "closed", "closes_at_ns", "opened_ns", "part", "partitioner", "parts", "room_bytes", "stay")

    def __init__(self, now_ns: int, client: str, logs: list[PartitionLog], partitioner: Partitioner) -> None:
        self.client = client
        self.opened_ns = now_ns
        self.closes_at_ns = 0  # on the monotonic clock; 0 if a part is full
        self.closed = False
        self.parts = [_PartitionBatch(log) for log in logs]
        self.partitioner = partitioner
        self.room_bytes = min(_BATCH_BYTES, logs[0].config.max_message_bytes)
        self.part, self.stay = self.parts[0], 0  # the part for messages without a key, and how many more may join it

    def choose_part(self) -> None:
        number, stay = self.partitioner.stay(len(self.parts))
        # In this order: a thread that sees the new count sees the new part.
        self.part = self.parts[number]
        self.stay = stay


class OpenQueueBatch(_OpenBatch):
    """The open batch of a queue. It also delivers its messages, if no others are ready, and acknowledges them."""

    __slots__ = ("deadline_ns", "first", "held", "holder", "messages", "name", "place", "timestamp_ms", "turns")

    def __init__(self, now_ns: int, client: str, name: str, queue: PlainQueue, epoch_ms: int) -> None:
        super().__init__(now_ns, client, [queue.log], Partitioner(sticky_messages=MAX_BATCH_RECORDS))
        self.name = name
        self.first = self.part.first
        self.deadline_ns = now_ns + queue.lease_ns
        self.timestamp_ms = epoch_ms + now_ns // NS_PER_MS
        self.messages = self.part.messages
        self.place = 0  # of the next message to take
        self.holder: str | None = None  # of the last taken message
        self.turns: list[tuple[int, str]] = []  # (first place, holder) of each run of takes
        # Offsets that are held. Removing an entry is atomic and decides: the holder removes it to acknowledge, without
        # the lock; the batch removes what is left when it closes.
        self.held: dict[int, bool] = {}

    def take(self, holder: str) -> StoredMessage | None:
        """Take the next message, under the host's lock; None if there is none."""
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
        return Lease(self.name, 0, message.offset, holder, 1, self.deadline_ns, message)

    def finish(self) -> Iterator[tuple[str, bool, int]]:
        """Stop taking and acknowledging. Yields (holder, whether the messages are still held, count) run by run."""
        self.messages = []
        held = set()
        while self.held:
            with contextlib.suppress(KeyError):  # the last one was just acknowledged
                held.add(self.held.popitem()[0] - self.first)
        run_ends = [*(place for place, _ in self.turns[1:]), self.place]
        for (place, holder), end in zip(self.turns, run_ends, strict=False):
            if not held:
                yield holder, False, end - place
                continue
            for is_held, run in groupby(range(place, end), held.__contains__):
                yield holder, is_held, len(list(run))


class OpenBatches:
    """The open batches of a broker by topic or queue. All methods but `join` need the host's lock."""

    def __init__(
        self,
        broker: Broker,
        now_ns: Callable[[], int],
        arm: Callable[[int], object],
        is_due: Callable[[int], bool] = lambda _time_ns: False,
    ) -> None:
        """`now_ns` gives session time. `arm(delay_ns)` schedules a call of `close`, on the machine's clock.

        No batch is opened while `is_due(time_ns)`: what is due has to run first.
        """
        self._broker = broker
        self._now_ns = now_ns
        self._arm = arm
        self._is_due = is_due
        self._armed_ns = -1  # on the monotonic clock
        self._stopped = False
        self.open: dict[str, _OpenBatch] = {}
        # Batches of queues without other ready messages: their messages are the next to take.
        self.serving: dict[str, OpenQueueBatch] = {}

    def join(self, client: str, topic: str, value: bytes, key: bytes | None) -> Placed | None:
        """Add a message to an open batch. Returns (partition, offset), None if no batch accepts it. Lock-free."""
        batch = self.open.get(topic)
        if batch is None or batch.client is not client or time.monotonic_ns() >= batch.closes_at_ns:
            return None
        if key is None:
            room_bytes = batch.room_bytes - len(value)
            stay = batch.stay - 1
            part = batch.part
        else:
            room_bytes = batch.room_bytes - len(value) - len(key)
            stay = batch.stay
            part = batch.parts[batch.partitioner.choose(key, len(batch.parts))]
        if room_bytes < 0 or stay < 0:
            return None
        # Two threads may overwrite each other's count: neither has to be exact.
        batch.room_bytes = room_bytes
        batch.stay = stay
        message = Message(value, key)
        messages = part.messages
        place = len(messages)
        messages.append(message)
        while messages[place] is not message:  # another thread appended in between
            place += 1
        if place >= _LAST_PLACE:
            batch.closes_at_ns = 0
        # Checked after the append: while the batch is not closed, the end mark comes behind this message.
        if batch.closed and part.missed(place):
            return None
        return part.partition, part.first + place

    def put(self, client: str, topic: str, value: bytes, key: bytes | None) -> Placed | None:
        """`join`, opening a batch if needed. None if the message has to be published the regular way."""
        batch = self.open.get(topic)
        if batch is None or batch.client is not client or time.monotonic_ns() >= batch.closes_at_ns:
            batch = self._opened(client, topic)
            if batch is None:
                return None
        if key is None and batch.stay <= 0:
            batch.choose_part()
        return self.join(client, topic, value, key)

    def close(self) -> None:
        """Append the messages of all open batches; apply the takes and acknowledgements to the queues."""
        open_batches, self.open = self.open, {}
        self.serving.clear()
        for topic, batch in open_batches.items():
            batch.closed = True
            if batch.stay > 0:
                batch.partitioner.give_back(batch.stay)
            for part in batch.parts:
                if messages := part.close():
                    self._do(self._append, batch, topic, part.partition, messages)
            if isinstance(batch, OpenQueueBatch):
                self._do(self._deliver, batch)

    def stop(self) -> None:
        self._stopped = True
        self.close()

    @staticmethod
    def _do(action: Callable[..., None], *arguments: object) -> None:
        try:
            action(*arguments)
        except Exception:
            # Mostly of a listener to the events: neither the other messages nor the present caller may suffer.
            _log.exception("an open batch could not be applied completely")

    def _append(self, batch: _OpenBatch, topic: str, partition: int, messages: list[Message]) -> None:
        self._broker.publishing.publish_batch(batch.opened_ns, topic, partition, messages, client=batch.client)

    def _deliver(self, batch: OpenQueueBatch) -> None:
        queue = self._broker.queues.queue(batch.name)
        for holder, is_held, count in batch.finish():
            if is_held:
                queue.take(batch.opened_ns, holder, max_messages=count)
            else:
                queue.pass_through(batch.opened_ns, holder, count)

    def _opened(self, client: str, topic: str) -> _OpenBatch | None:
        if topic in self.open:
            self.close()  # all batches, so that events of all topics are in time order
        now_ns = self._now_ns()
        if self._stopped or self._is_due(now_ns):
            return None
        batch: _OpenBatch
        if (logs := self._broker.publishing.plain_logs(topic)) is not None:
            batch = _OpenBatch(now_ns, client, *logs)
        elif (queue := self._broker.publishing.plain_queue(topic)) is not None:
            batch = OpenQueueBatch(now_ns, client, topic, queue, self._broker.logs.epoch_ms)
            if queue.nothing_ready:
                self.serving[topic] = batch
        else:
            return None
        opened_ns = time.monotonic_ns()
        batch.closes_at_ns = opened_ns + OPEN_NS
        self.open[topic] = batch
        if self._armed_ns <= opened_ns:
            self._armed_ns = opened_ns + IDLE_NS
            self._arm(IDLE_NS)
        return batch
