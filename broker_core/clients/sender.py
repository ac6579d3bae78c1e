"""The part of a producer that runs under the host's lock: it puts messages into batches and sends them to the log.

One batch of a partition is appended at a time, so that a retry cannot overtake; a batch that is in the log and waits
for the disk does not block the next. A retry carries the sequence numbers of the first attempt, and the log remembers
the last five batches of a producer, so a batch is stored once (KIP-98). Time is the loop's.
"""

from __future__ import annotations

import logging
from collections import defaultdict, deque
from collections.abc import Callable, Sequence

import msgspec

from broker_core.broker.broker import Broker
from broker_core.broker.publishing import Published
from broker_core.clients.batches import (
    NO_OFFSET,
    Batch,
    Receipt,
    halved,
    largest_of,
    messages_of,
    put_all,
    size_of,
    sum_of,
)
from broker_core.clients.message_form import check_form, explained
from broker_core.clients.producer_config import ProducerConfig
from broker_core.clients.record_accumulator import MOST_ENTRIES, NEVER, RecordAccumulator, TopicRecords
from broker_core.clock import ns_from_ms, ns_from_s
from broker_core.engine.loop import Loop
from broker_core.errors import BrokerError, ErrorCode
from broker_core.flow.adaptive import AdaptiveConfig, AdaptiveInterval
from broker_core.log.batch import SEQUENCES, ProducerStamp
from broker_core.messages import Message
from broker_core.plurals import counted
from broker_core.replies import Reply


class PartitionQueue(msgspec.Struct, eq=False):
    """`open` is being filled, `sending` is being appended. `sequence` is the next number."""

    open: Batch | None = None
    waiting: deque[Batch] = msgspec.field(default_factory=deque)
    sending: Batch | None = None
    sequence: int = 0
    pumping: bool = False


_MANY_TIMES = 16  # batches of `send_many` may be this many times larger than `batch_bytes`
_log = logging.getLogger(__name__)
_NEVER_NS = 1 << 62
# Errors after which the batch may have been stored.
_DOUBTFUL = frozenset({ErrorCode.REQUEST_TIMED_OUT, ErrorCode.CONNECTION_LOST, ErrorCode.INTERNAL_ERROR})
_DOUBT = "it may have been stored all the same"


class Sender:
    """Puts messages into batches, sent when full or after `linger_ms`. `on_settled(batch)`: it is stored or failed."""

    def __init__(
        self,
        broker: Broker,
        loop: Loop,
        client_id: str,
        config: ProducerConfig,
        *,
        identity: tuple[int, int] | None = None,
        on_settled: Callable[[Batch], object] = lambda batch: None,
    ) -> None:
        """`identity` is (producer id, epoch) of an idempotent producer."""
        self._broker = broker
        self._loop = loop
        self.client_id = client_id
        self.config = config
        self._identity = identity
        self._on_settled = on_settled
        self._queues: defaultdict[tuple[str, int], PartitionQueue] = defaultdict(PartitionQueue)
        self.pending: dict[Batch, None] = {}  # batches that are neither stored nor failed
        self._flushes: list[Callable[[Batch], object]] = []
        self._space_waiters: deque[Reply[None]] = deque()
        self._pace = None if config.adaptive is None else AdaptivePace(config.adaptive, loop, self._pump_all)
        self.fenced: BrokerError | None = None  # why nothing is taken any more
        self.buffered_bytes = 0
        self.failures: list[tuple[Batch, BrokerError]] = []  # that no receipt or callback has reported
        self.accumulator = RecordAccumulator(broker, config)

    def abandon(self, error: BrokerError) -> None:
        """Fail every pending batch and accumulated message with `error`, and fence the producer."""
        self.fenced = self.fenced or error
        self.accumulator.stop()
        for records in self.accumulator.scheduled:
            records.drain_scheduled = False
        self.accumulator.scheduled.clear()
        self.drain()
        for queue in self._queues.values():
            queue.waiting.clear()
            queue.open = None
        for batch in list(self.pending):
            self.withdraw(batch, error)
        for queue in self._queues.values():
            queue.sending = None
        self._broker.backpressure.disconnect(self._loop.now_ns, self.client_id)

    def withdraw(self, batch: Batch, error: BrokerError) -> None:
        """Fail `batch` with `error`; `possibly_stored` of the outcome says whether it may be stored anyway."""
        if batch not in self.pending:
            return
        queue = self._queues[batch.topic, batch.partition]
        if batch is queue.open:
            queue.open = None
        under_way = queue.sending is batch
        doubtful = batch.doubtful or (batch.attempts > 0 and not under_way)
        if under_way and batch.attempt is not None:
            batch.withdrawn = True
            if not self._broker.publishing.withdraw(self._loop.now_ns, batch.topic, batch.attempt):
                # Its answer is still to come, and the batches behind it wait for that.
                batch.withdrawn, under_way, doubtful = False, False, True
        about = _DOUBT if doubtful else "it is withdrawn, and not stored"
        outcome = BrokerError(error.code, f"{error.about}; {about}", possibly_stored=doubtful)
        if under_way:
            if self._pace is not None and batch.withdrawn:
                self._pace.end(accepted=False)
            self._give_up(queue, batch, outcome)
        else:
            self._settle(batch, outcome)

    def give_up(self, batches: Sequence[Batch], timeout_s: float | None) -> None:
        for batch in batches:
            what = f"{counted(len(batch.messages), 'message')} for {batch.topic}, after {timeout_s} s"
            self.withdraw(batch, BrokerError(ErrorCode.REQUEST_TIMED_OUT, what))

    def close(self, *, timed_out: bool) -> BrokerError | None:
        """Abandon every pending batch. Returns the error to raise, None if all failures have been reported.

        It is REQUEST_TIMED_OUT if closing `timed_out`, else CLOSED: messages were sent meanwhile.
        """
        left = list(self.pending)
        self.abandon(BrokerError(ErrorCode.CLOSED, self.client_id))
        errors = {batch: batch.settled.error for batch in left if isinstance(batch.settled.error, BrokerError)}
        # The host may have been closed before.
        errors |= {batch: error for batch, error in self.failures if error.code is ErrorCode.CLOSED}
        if not errors:
            return None
        names = ", ".join(sorted({batch.topic for batch in errors}))
        count = counted(sum(len(batch.messages) for batch in errors), "message")
        what = f"{self.client_id} was closed and abandoned {count} for {names}"
        code, why = (
            (ErrorCode.REQUEST_TIMED_OUT, "wait longer, or send less")
            if timed_out
            else (ErrorCode.CLOSED, "close it only after the last one has been sent")
        )
        possibly_stored = any(error.possibly_stored for error in errors.values())
        given_up = BrokerError(code, f"{what}; {why}", possibly_stored=possibly_stored)
        _log.warning("%s", given_up)
        return None if all(batch.reported for batch in errors) else given_up

    def raise_failure(self) -> None:
        """Raise the first error since the last call that no receipt and no callback has reported."""
        failures, self.failures = self.failures, []
        for batch, error in failures:
            if not batch.reported:
                raise error

    # -- inside

    def _new_batch(self, topic: str, partition: int) -> Batch:
        batch = Batch(topic, partition)
        self.pending[batch] = None
        return batch

    def _seal(self, queue: PartitionQueue) -> None:
        batch, queue.open = queue.open, None
        if batch is None:
            return
        if batch.timer is not None:
            batch.timer.cancel()
            batch.timer = None
        sealed_ns = self._loop.now_ns
        queue.waiting.append(batch)
        if self.config.acks == 0:
            # With acks 0 the outcome is not waited for.
            batch.settled.resolve(Published(batch.topic, batch.partition, NO_OFFSET, (), len(batch.messages)))
        self._pump(queue)
        if batch in self.pending:
            deadline_ns = sealed_ns + ns_from_ms(self.config.delivery_timeout_ms)
            batch.timer = self._loop.timers.at(deadline_ns, lambda _at: self._time_out(batch))

    def _pump(self, queue: PartitionQueue) -> None:
        if queue.pumping:
            return
        queue.pumping = True
        try:
            while queue.sending is None and queue.waiting:
                if self._pace is not None and not self._pace.free:
                    return
                batch = queue.sending = queue.waiting.popleft()
                if batch in self.pending:
                    self._attempt(queue, batch)
                else:
                    queue.sending = None
        finally:
            queue.pumping = False

    def _pump_all(self) -> None:
        for queue in list(self._queues.values()):
            self._pump(queue)

    def _attempt(self, queue: PartitionQueue, batch: Batch) -> None:
        batch.attempts += 1
        batch.attempt = None
        if self._pace is not None:
            self._pace.begin()
        if self._identity is not None and batch.stamp is None:
            batch.stamp = ProducerStamp(*self._identity, queue.sequence)
        try:
            reply = self._broker.publishing.publish_batch(
                self._loop.now_ns,
                batch.topic,
                batch.partition,
                batch.messages,
                client=self.client_id,
                producer=batch.stamp,
                on_appended=lambda published: self._appended(queue, batch, published),
            )
        except Exception as error:
            if self._pace is not None:
                self._pace.end(accepted=True)  # an error of the client, not a refusal by the broker
            self._failed(queue, batch, explained(batch.messages, error))
        else:
            if not reply.done:
                batch.attempt = reply
            reply.then(lambda done: self._answered(queue, batch, done))

    def _appended(self, queue: PartitionQueue, batch: Batch, published: Published) -> None:
        if queue.sending is not batch:
            return
        queue.sending = None
        if batch.stamp is not None and batch.stamp[:2] == self._identity:
            queue.sequence = (queue.sequence + len(batch.messages)) % SEQUENCES
        if self.config.acks != "all":
            self._settle(batch, published)
        self._pump(queue)

    def _answered(self, queue: PartitionQueue, batch: Batch, reply: Reply[Published | None]) -> None:
        if batch.withdrawn:
            return
        under_way = queue.sending is batch
        batch.attempt = None
        if self._pace is not None:
            self._pace.end(_accepted(reply))
        error = None if reply.error is None else explained(batch.messages, reply.error)
        if error is not None and under_way:
            self._failed(queue, batch, error)
        elif error is not None:
            # It is in the log, but writing it to the disk failed.
            self._settle(batch, BrokerError(error.code, error.about, possibly_stored=True))
        elif (published := reply.result()) is not None:
            if under_way and published.topic == batch.topic:
                self._appended(queue, batch, published)  # it waited at the gate: the answer comes before the append
            self._settle(batch, published)
            if queue.sending is batch:  # it was dead-lettered by a schema, and used no sequence number
                queue.sending = None
                self._pump(queue)
        else:
            queue.sending = None
            about = f"the flow policy of {batch.topic} dropped the message"
            self._settle(batch, BrokerError(ErrorCode.THROTTLED, about))
            self._pump(queue)

    def _failed(self, queue: PartitionQueue, batch: Batch, error: BrokerError) -> None:
        batch.doubtful = batch.doubtful or error.possibly_stored or error.code in _DOUBTFUL
        if error.retriable and batch.attempts <= self.config.retries and batch in self.pending:
            due_ns = self._loop.now_ns + ns_from_ms(self.config.retry_backoff_ms)
            if self._pace is not None:
                due_ns = max(due_ns, self._pace.next_ns)
            self._loop.timers.at(due_ns, lambda _at: self._again(queue, batch))
            return
        if error.code is ErrorCode.INVALID_PRODUCER_EPOCH:
            self.abandon(error)
            return
        self._give_up(queue, batch, error)

    def _again(self, queue: PartitionQueue, batch: Batch) -> None:
        if queue.sending is not batch:
            return
        if batch in self.pending:
            self._attempt(queue, batch)
        else:
            self._give_up(queue, batch, BrokerError(ErrorCode.REQUEST_TIMED_OUT, "it was abandoned"))  # settled before

    def _give_up(self, queue: PartitionQueue, batch: Batch, error: BrokerError) -> None:
        queue.sending = None
        if batch.doubtful and self._identity is not None:
            # The next sequence number is unknown: continue under a new producer id.
            self._identity = self._broker.producer_ids.register(self.config.name)
            for each in self._queues.values():
                each.sequence = 0
        if batch.doubtful and not error.possibly_stored:
            error = BrokerError(error.code, f"{error.about}; {_DOUBT}", possibly_stored=True)
        self._settle(batch, error)
        self._pump(queue)

    def _time_out(self, batch: Batch) -> None:
        what = f"{counted(len(batch.messages), 'message')} for {batch.topic}/{batch.partition}"
        about = f"{what}, no reply within {self.config.delivery_timeout_ms:g} ms"
        self.withdraw(batch, BrokerError(ErrorCode.REQUEST_TIMED_OUT, about))

    def _settle(self, batch: Batch, outcome: Published | BrokerError) -> None:
        if batch not in self.pending:
            return
        del self.pending[batch]
        if batch.timer is not None:
            batch.timer.cancel()
        self.buffered_bytes -= batch.size_bytes
        if isinstance(outcome, BrokerError):
            if batch.settled.fail(outcome) and not batch.reported:
                self.failures.append((batch, outcome))
        else:
            batch.settled.resolve(outcome)
        for count in list(self._flushes):
            count(batch)
        waiters, self._space_waiters = self._space_waiters, deque()
        for waiter in waiters:
            waiter.resolve(None)
        self._on_settled(batch)

    def send(
        self, topic: str, message: Message, partition: int | None = None, *, linger: bool = True, alone: bool = False
    ) -> tuple[Batch, int] | None:
        """Put `message` into a batch. Returns (batch, index in it), or None if the buffer is full.

        Without `linger` the batch is sent at once. With `alone` the message gets a batch of its own, which can be
        withdrawn. Raises UNKNOWN_TOPIC_OR_PARTITION, MESSAGE_TOO_LARGE or INVALID_RECORD.
        """
        self.drain()
        return self._placed(topic, message, partition, linger=linger, alone=alone)

    def _placed(
        self, topic: str, message: Message, partition: int | None, *, linger: bool, alone: bool = False
    ) -> tuple[Batch, int] | None:
        check_form(message)
        size_bytes = size_of(message)
        if self.fenced is not None:
            raise self.fenced
        self._broker.publishing.check(topic, (message,))
        if size_bytes > self.config.buffer_bytes:
            about = f"{size_bytes} bytes; the producer's buffer has {self.config.buffer_bytes}"
            raise BrokerError(ErrorCode.MESSAGE_TOO_LARGE, about)
        if self.buffered_bytes + size_bytes > self.config.buffer_bytes:
            return None
        number = self._broker.logs.partition_for(topic, message) if partition is None else partition
        self._broker.logs.partition(topic, number)
        queue = self._queues[topic, number]
        batch = queue.open
        # A flow policy or a schema checks each message by itself.
        alone = alone or not self._takes_batches(topic)
        if batch is not None and (alone or batch.size_bytes + size_bytes > self.config.batch_bytes):
            self._seal(queue)
            batch = None
        lingers = linger and self.config.linger_ms > 0
        if batch is None and not (lingers or alone) and (batch := self._last_waiting(queue, size_bytes)) is not None:
            self.buffered_bytes += size_bytes
            return batch, batch.add(message, size_bytes)
        if batch is None:
            batch = queue.open = self._new_batch(topic, number)
            if lingers:
                self.accumulator.accept(topic)
                due_ns = self._loop.now_ns + ns_from_ms(self.config.linger_ms)
                batch.timer = self._loop.timers.at(due_ns, lambda _at: self._seal(queue))
        place = batch.add(message, size_bytes)
        batch.closed = alone
        self.buffered_bytes += size_bytes
        full = len(batch.messages) >= self.config.batch_messages or batch.size_bytes >= self.config.batch_bytes
        if full or alone or not lingers:
            self._seal(queue)
        return batch, place

    def send_many(self, topic: str, messages: Sequence[Message]) -> list[Batch]:
        """Send `messages` in full batches, after what was sent before. The buffer limit does not apply."""
        if self.fenced is not None:
            raise self.fenced
        if not messages:
            return []
        self.drain()
        try:
            largest_bytes = largest_of(messages)
            self._broker.publishing.check(topic, messages, largest_bytes)
            parts = self._broker.logs.by_partition(topic, messages)
        except BrokerError:
            raise
        except Exception as error:
            raise explained(messages, error) from error
        most = self.config.batch_messages if self._takes_batches(topic) else 1
        most_bytes = _MANY_TIMES * self.config.batch_bytes
        batches: list[Batch] = []
        for number, part in parts.items():
            queue = self._queues[topic, number]
            self._seal(queue)
            for first in range(0, len(part), most):
                for messages_of_one, size_bytes in halved(part[first : first + most], largest_bytes, most_bytes):
                    batch = queue.open = self._new_batch(topic, number)
                    batch.messages, batch.size_bytes = messages_of_one, size_bytes
                    batch.closed = True  # the result names where exactly these messages were stored
                    self.buffered_bytes += size_bytes
                    batches.append(batch)
                    self._seal(queue)
        return batches

    def _last_waiting(self, queue: PartitionQueue, size_bytes: int) -> Batch | None:
        last = queue.waiting[-1] if queue.waiting else None
        if last is None or last.closed or last not in self.pending or len(last.messages) >= self.config.batch_messages:
            return None
        return last if last.size_bytes + size_bytes <= self.config.batch_bytes else None

    def store(self, topic: str, message: Message) -> Reply[Published | None] | None:
        """Append `message` alone. None while others are pending, or if its topic checks messages one by one."""
        if self.pending or self.accumulator.scheduled or self.fenced is not None:
            return None
        try:
            # A message that a flow policy or a schema refuses needs the retries of `send`.
            if self._broker.publishing.takes_batches(topic):
                return self._broker.publishing.publish(self._loop.now_ns, topic, message, client=self.client_id)
        except BrokerError:
            pass  # `send` raises it again, or retries
        return None

    def space(self) -> Reply[None]:
        reply: Reply[None] = Reply()
        self._space_waiters.append(reply)
        return reply

    def flush(self) -> Reply[None]:
        """Send all open batches. The reply is settled when every batch that was sent so far is stored or has failed."""
        self.drain()
        for queue in list(self._queues.values()):
            self._seal(queue)
        waiting = set(self.pending)
        reply: Reply[None] = Reply()

        def count(batch: Batch) -> None:
            waiting.discard(batch)
            if not waiting:
                reply.resolve(None)

        self._flushes.append(count)
        if not waiting:
            reply.resolve(None)
        reply.then(lambda _reply: self._flushes.remove(count))
        return reply

    # -- messages that were sent without the lock

    def schedule_drain(self, records: TopicRecords) -> None:
        """Schedule a drain of `records` after `linger_ms`; drain now if there are MOST_ENTRIES."""
        if not records.drain_scheduled and self.fenced is None:
            records.drain_scheduled = True
            self.accumulator.scheduled[records] = None
            due_ns = self._loop.now_ns + ns_from_ms(self.config.linger_ms)
            self._loop.timers.at(due_ns, lambda _at: self._linger_expired(records))
        if len(records.entries) >= MOST_ENTRIES or self.fenced is not None:
            self._drain_topic(records)

    def drain(self) -> None:
        """Move them into batches. Called before any other send, so that order holds."""
        for records in self.accumulator.by_topic.values():
            if records.entries:
                self._drain_topic(records)

    def accept_no_more(self) -> None:
        self.accumulator.roomy = False
        self.drain()
        self.accumulator.stop()

    def _linger_expired(self, records: TopicRecords) -> None:
        records.drain_scheduled = False
        self.accumulator.scheduled.pop(records, None)
        self._drain_topic(records)
        for number in range(records.partitions):
            if (queue := self._queues.get((records.topic, number))) is not None:
                self._seal(queue)

    def _drain_topic(self, records: TopicRecords) -> None:
        receipts = records.take()
        if self.fenced is not None or records.revision != self._broker.logs.revision:
            # The topic has changed since they were sent: single messages may be refused.
            for receipt, message in zip(receipts, messages_of(receipts), strict=True):
                self._put_or_fail(records.topic, receipt, message)
            return
        for number, part, messages in records.parts(receipts):
            self._put(records.topic, number, part, messages)
        if self.buffered_bytes >= self.config.buffer_bytes:
            records.revision = NEVER  # `send` takes the locked path, which waits for space

    def _put(self, topic: str, partition: int, receipts: list[Receipt], messages: list[Message]) -> None:
        count, most_bytes, most = len(messages), self.config.batch_bytes, self.config.batch_messages
        size_bytes = sum_of(messages)
        if count > 1 and (size_bytes > most_bytes or count > most):
            half = count // 2
            self._put(topic, partition, receipts[:half], messages[:half])
            self._put(topic, partition, receipts[half:], messages[half:])
            return
        queue = self._queues[topic, partition]
        batch = queue.open
        if batch is not None and (batch.size_bytes + size_bytes > most_bytes or len(batch.messages) + count > most):
            self._seal(queue)
            batch = None
        if batch is None:
            batch = queue.open = self._new_batch(topic, partition)
        put_all(receipts, batch, len(batch.messages))
        batch.messages += messages
        batch.size_bytes += size_bytes
        self.buffered_bytes += size_bytes

    def _put_or_fail(self, topic: str, receipt: Receipt, message: Message) -> None:
        """Add the message to a batch as `send` does; an error fails its receipt."""
        try:
            placed = self._placed(topic, message, None, linger=True)
            if placed is None:
                raise BrokerError(ErrorCode.REQUEST_TIMED_OUT, f"the buffer of {self.client_id} was full")
            put_all((receipt,), *placed)
        except BrokerError as error:
            batch = self._new_batch(topic, NO_OFFSET)
            put_all((receipt,), batch, batch.add(message, 0))
            self._settle(batch, error)

    # -- inside

    def _takes_batches(self, topic: str) -> bool:
        return self.config.adaptive is None and self._broker.publishing.takes_batches(topic)


class AdaptivePace:
    """`free` says whether the next message may be sent. `go_on()` is called when the interval is over."""

    def __init__(self, config: AdaptiveConfig, loop: Loop, go_on: Callable[[], object]) -> None:
        self.interval = AdaptiveInterval(config.base_ms / 1_000, config.on_refusal_times, config.on_success_divide)
        self.next_ns = 0
        self._loop = loop
        self._go_on = go_on

    @property
    def free(self) -> bool:
        """Whether no message is in progress and the interval is over."""
        return self._loop.now_ns >= self.next_ns

    def begin(self) -> None:
        self.next_ns = _NEVER_NS

    def end(self, accepted: bool) -> None:
        interval_s = self.interval.accepted() if accepted else self.interval.refused()
        self.next_ns = self._loop.now_ns + ns_from_s(interval_s)
        self._loop.timers.at(self.next_ns, lambda _at: self._go_on())


def _accepted(reply: Reply[Published | None]) -> bool:
    if reply.error is not None:
        return not isinstance(reply.error, BrokerError) or reply.error.code is not ErrorCode.THROTTLED
    published = reply.result()
    return published is not None and not published.missed_by
