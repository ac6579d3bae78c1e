"""The part of a producer that runs under the host's lock: it puts messages into batches. Time is the loop's."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from broker_core.broker.broker import Broker
from broker_core.broker.publishing import Published
from broker_core.clients.batch_sender import BatchSender
from broker_core.clients.batches import NO_OFFSET, Batch, Receipt, halved, largest_of, put_all, size_of, sum_of
from broker_core.clients.message_form import check_form, explained
from broker_core.clients.partition_queue import PartitionQueue
from broker_core.clients.producer_config import ProducerConfig
from broker_core.clients.record_accumulator import RecordAccumulator
from broker_core.clock import ns_from_ms
from broker_core.engine.loop import Loop
from broker_core.errors import BrokerError, ErrorCode
from broker_core.messages import Message
from broker_core.replies import Reply

_MANY_TIMES = 16  # batches of `send_many` may be this many times larger than `batch_bytes`


class Sender(BatchSender):
    """Puts messages into batches. A batch is sent when it is full, or after `linger_ms`."""

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
        """See `BatchSender`."""
        super().__init__(broker, loop, client_id, config, identity=identity, on_settled=on_settled)
        self.accumulator = RecordAccumulator(broker, loop, config, self)

    def send(
        self, topic: str, message: Message, partition: int | None = None, *, linger: bool = True, alone: bool = False
    ) -> tuple[Batch, int] | None:
        """Put `message` into a batch. Returns (batch, index in it), or None where the buffer is full.

        Without `linger` the batch is sent at once. With `alone` the message gets a batch of its own, which can be
        withdrawn. Raises UNKNOWN_TOPIC_OR_PARTITION, MESSAGE_TOO_LARGE or INVALID_RECORD.
        """
        self.accumulator.drain()
        return self._placed(topic, message, partition, linger=linger, alone=alone)

    def _placed(
        self, topic: str, message: Message, partition: int | None, *, linger: bool, alone: bool = False
    ) -> tuple[Batch, int] | None:
        check_form(message)
        size_bytes = size_of(message)
        self._check(topic, (message,), size_bytes)
        if self.buffered_bytes + size_bytes > self.config.buffer_bytes:
            return None
        number = self._broker.logs.partition_for(topic, message) if partition is None else partition
        self._broker.logs.partition(topic, number)
        queue = self._queue_of(topic, number)
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
        if self._fenced is not None:
            raise self._fenced
        if not messages:
            return []
        self.accumulator.drain()
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
            queue = self._queue_of(topic, number)
            self._seal(queue)
            for first in range(0, len(part), most):
                for messages_of_one, size_bytes in halved(part[first : first + most], largest_bytes, most_bytes):
                    batch = queue.open = self._new_batch(topic, number)
                    batch.fill(messages_of_one, size_bytes)
                    batch.closed = True  # the result names where exactly these messages were stored
                    self.buffered_bytes += size_bytes
                    batches.append(batch)
                    self._seal(queue)
        return batches

    def _last_waiting(self, queue: PartitionQueue, size_bytes: int) -> Batch | None:
        """The last queued batch, where one more message fits into it."""
        last = queue.waiting[-1] if queue.waiting else None
        if last is None or last.closed or last not in self.pending or len(last.messages) >= self.config.batch_messages:
            return None
        return last if last.size_bytes + size_bytes <= self.config.batch_bytes else None

    def store(self, topic: str, message: Message) -> Reply[Published | None] | None:
        """Append `message` to the log in a batch of its own. None where it has to go through `send`.

        That is so while other batches are pending, and for topics whose messages are checked one by one.
        """
        if self.pending or self.accumulator.scheduled or self._fenced is not None:
            return None
        try:
            # A message that a flow policy or a schema refuses needs the retries of `send`.
            if self._broker.publishing.takes_batches(topic):
                return self._broker.publishing.publish(self._loop.now_ns, topic, message, client=self.client_id)
        except BrokerError:
            pass  # `send` raises it again, or retries
        return None

    def space(self) -> Reply[None]:
        """A reply that is settled when a batch has left the buffer."""
        reply: Reply[None] = Reply()
        self._space_waiters.append(reply)
        return reply

    def flush(self) -> Reply[None]:
        """Send all open batches. The reply is settled when every batch that was sent so far is stored or has failed."""
        self.accumulator.drain()
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

    def finish(self) -> Reply[None]:
        """`flush`, after which nothing is accepted without the lock."""
        self.accumulator.refuse()
        return self.flush()

    def abandon(self, error: BrokerError) -> None:
        """See `BatchSender.abandon`; accumulated messages fail too."""
        self._fenced = self._fenced or error
        self.accumulator.close()
        super().abandon(error)

    # -- from the accumulator

    @property
    def full(self) -> bool:
        """True while the buffer has no space."""
        return self.buffered_bytes >= self.config.buffer_bytes

    @property
    def fenced(self) -> bool:
        """True once the producer can store nothing more."""
        return self._fenced is not None

    def seal(self, topic: str, partition: int) -> None:
        """Send the open batch of the partition."""
        queue = self._queues.get((topic, partition))
        if queue is not None:
            self._seal(queue)

    def put(self, topic: str, partition: int, receipts: list[Receipt], messages: list[Message]) -> None:
        """Add the messages to the open batch of `partition`, or to several where they exceed its limits."""
        count, most_bytes, most = len(messages), self.config.batch_bytes, self.config.batch_messages
        size_bytes = sum_of(messages)
        if count > 1 and (size_bytes > most_bytes or count > most):
            half = count // 2
            self.put(topic, partition, receipts[:half], messages[:half])
            self.put(topic, partition, receipts[half:], messages[half:])
            return
        queue = self._queue_of(topic, partition)
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

    def put_or_fail(self, topic: str, receipt: Receipt, message: Message) -> None:
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

    def _check(self, topic: str, messages: Sequence[Message], size_bytes: int) -> None:
        if self._fenced is not None:
            raise self._fenced
        if messages:
            self._broker.publishing.check(topic, messages)
        if size_bytes > self.config.buffer_bytes:
            raise BrokerError(
                ErrorCode.MESSAGE_TOO_LARGE, f"{size_bytes} bytes; the producer's buffer has {self.config.buffer_bytes}"
            )
