"""The half of a producer that lives in the core: which message goes into which batch. Time is the loop's."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from broker_core.broker.broker import Broker, Published
from broker_core.clients.batch_sender import BatchSender
from broker_core.clients.batches import NO_OFFSET, Batch, Receipt, halved, largest_of, put_all, size_of, sum_of
from broker_core.clients.message_form import check_form, explained
from broker_core.clients.partition_queue import PartitionQueue
from broker_core.clients.producer_config import ProducerConfig
from broker_core.clients.record_accumulator import Inboxes
from broker_core.clock import ns_from_ms
from broker_core.engine.loop import Loop
from broker_core.errors import BrokerError, ErrorCode
from broker_core.messages import Message
from broker_core.replies import Reply

_MANY_TIMES = 16  # a batch of many that come at once may be so many times as large as one that lingers


class Sender(BatchSender):
    """Puts messages into batches, which are sent when they are full or have lingered."""

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
        """As `BatchSender`."""
        super().__init__(broker, loop, client_id, config, identity=identity, on_settled=on_settled)
        self.inboxes = Inboxes(broker, loop, config, self)

    def send(
        self, topic: str, message: Message, partition: int | None = None, *, linger: bool = True, alone: bool = False
    ) -> tuple[Batch, int] | None:
        """Put `message` into a batch; the batch and its place there, None where the buffer is full.

        Without `linger` the batch goes at once; `alone` it is in a batch of its own, which can be withdrawn.

        Raises what is wrong with the message itself: UNKNOWN_TOPIC_OR_PARTITION, MESSAGE_TOO_LARGE, INVALID_RECORD.
        """
        self.inboxes.gather()
        return self._placed(topic, message, partition, linger=linger, alone=alone)

    def _placed(
        self, topic: str, message: Message, partition: int | None, *, linger: bool, alone: bool = False
    ) -> tuple[Batch, int] | None:
        check_form(message)
        size_bytes = size_of(message)
        self._check(topic, (message,), size_bytes)
        if self.buffered_bytes + size_bytes > self.config.buffer_bytes:
            return None
        number = self._broker.partition_for(topic, message) if partition is None else partition
        self._broker.partition(topic, number)
        lane = self._lane(topic, number)
        batch = lane.open
        # A flow policy, or a schema, judges every message by itself.
        alone = alone or not self._takes_batches(topic)
        if batch is not None and (alone or batch.size_bytes + size_bytes > self.config.batch_bytes):
            self._seal(lane)
            batch = None
        lingers = linger and self.config.linger_ms > 0
        if batch is None and not (lingers or alone) and (batch := self._last_waiting(lane, size_bytes)) is not None:
            self.buffered_bytes += size_bytes
            return batch, batch.add(message, size_bytes)
        if batch is None:
            batch = lane.open = self._new_batch(topic, number)
            if lingers:
                self.inboxes.note(topic)
                due_ns = self._loop.now_ns + ns_from_ms(self.config.linger_ms)
                batch.timer = self._loop.timers.at(due_ns, lambda _at: self._seal(lane))
        place = batch.add(message, size_bytes)
        batch.closed = alone
        self.buffered_bytes += size_bytes
        full = len(batch.messages) >= self.config.batch_messages or batch.size_bytes >= self.config.batch_bytes
        if full or alone or not lingers:
            self._seal(lane)
        return batch, place

    def send_many(self, topic: str, messages: Sequence[Message]) -> list[Batch]:
        """Full batches at once, after what was sent before; the buffer is not asked, the caller waits anyway."""
        if self._fenced is not None:
            raise self._fenced
        if not messages:
            return []
        self.inboxes.gather()
        try:
            largest_bytes = largest_of(messages)
            self._broker.check(topic, messages, largest_bytes)
            parts = self._broker.by_partition(topic, messages)
        except BrokerError:
            raise
        except Exception as error:
            raise explained(messages, error) from error
        most = self.config.batch_messages if self._takes_batches(topic) else 1
        most_bytes = _MANY_TIMES * self.config.batch_bytes
        batches: list[Batch] = []
        for number, part in parts.items():
            lane = self._lane(topic, number)
            self._seal(lane)
            for first in range(0, len(part), most):
                for messages_of_one, size_bytes in halved(part[first : first + most], largest_bytes, most_bytes):
                    batch = lane.open = self._new_batch(topic, number)
                    batch.fill(messages_of_one, size_bytes)
                    batch.closed = True  # its caller is told where just these were stored
                    self.buffered_bytes += size_bytes
                    batches.append(batch)
                    self._seal(lane)
        return batches

    def _last_waiting(self, lane: PartitionQueue, size_bytes: int) -> Batch | None:
        """The batch that waits for the one on its way, where one more message fits in: both go out together."""
        last = lane.waiting[-1] if lane.waiting else None
        if last is None or last.closed or last not in self.pending or len(last.messages) >= self.config.batch_messages:
            return None
        return last if last.size_bytes + size_bytes <= self.config.batch_bytes else None

    def store(self, topic: str, message: Message) -> Reply[Published | None] | None:
        """Straight into the log, in a batch of its own, where nothing else is under way; None where `send` must do it.

        There is nothing to be repeated: it is stored, or it is not and may be sent.
        """
        if self.pending or self.inboxes.awaited or self._fenced is not None:
            return None
        try:
            # What a flow policy or a schema refuses may have to be tried again, or given up for good.
            if self._broker.takes_batches(topic):
                return self._broker.publish(self._loop.now_ns, topic, message, client=self.client_id)
        except BrokerError:
            pass  # `send` says what to do about it
        return None

    def room(self) -> Reply[None]:
        """There when something has left the buffer."""
        reply: Reply[None] = Reply()
        self._rooms.append(reply)
        return reply

    def flush(self) -> Reply[None]:
        """Send what lingers; there when the fate of everything that was sent so far is known."""
        self.inboxes.gather()
        for lane in list(self._lanes.values()):
            self._seal(lane)
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

    def abandon(self, error: BrokerError) -> None:
        """See `BatchSender.abandon`; what was sent without the lock fails too."""
        self._fenced = self._fenced or error
        self.inboxes.close()
        super().abandon(error)

    # -- what was sent without the lock

    @property
    def full(self) -> bool:
        """True where no more is to be sent before something has left."""
        return self.buffered_bytes >= self.config.buffer_bytes

    @property
    def fenced(self) -> bool:
        """True where nothing is stored any more."""
        return self._fenced is not None

    def seal(self, topic: str, partition: int) -> None:
        """What lingers goes now."""
        lane = self._lanes.get((topic, partition))
        if lane is not None:
            self._seal(lane)

    def put(self, topic: str, partition: int, receipts: list[Receipt], messages: list[Message]) -> None:
        """Put these into one batch of `partition`, or where they are too many into several."""
        count, most_bytes, most = len(messages), self.config.batch_bytes, self.config.batch_messages
        size_bytes = sum_of(messages)
        if count > 1 and (size_bytes > most_bytes or count > most):
            half = count // 2
            self.put(topic, partition, receipts[:half], messages[:half])
            self.put(topic, partition, receipts[half:], messages[half:])
            return
        lane = self._lane(topic, partition)
        batch = lane.open
        if batch is not None and (batch.size_bytes + size_bytes > most_bytes or len(batch.messages) + count > most):
            self._seal(lane)
            batch = None
        if batch is None:
            batch = lane.open = self._new_batch(topic, partition)
        put_all(receipts, batch, len(batch.messages))
        batch.messages += messages
        batch.size_bytes += size_bytes
        self.buffered_bytes += size_bytes

    def put_or_fail(self, topic: str, receipt: Receipt, message: Message) -> None:
        """Put this into a batch as `send` does, or say why not."""
        try:
            placed = self._placed(topic, message, None, linger=True)
            if placed is None:
                raise BrokerError(ErrorCode.REQUEST_TIMED_OUT, f"{self.client_id} had no room for it")
            put_all((receipt,), *placed)
        except BrokerError as error:
            batch = self._new_batch(topic, NO_OFFSET)
            put_all((receipt,), batch, batch.add(message, 0))
            self._settle(batch, error)

    # -- inside

    def _takes_batches(self, topic: str) -> bool:
        return self.config.adaptive is None and self._broker.takes_batches(topic)

    def _check(self, topic: str, messages: Sequence[Message], size_bytes: int) -> None:
        if self._fenced is not None:
            raise self._fenced
        if messages:
            self._broker.check(topic, messages)
        if size_bytes > self.config.buffer_bytes:
            raise BrokerError(
                ErrorCode.MESSAGE_TOO_LARGE, f"{size_bytes} bytes, and the producer buffers {self.config.buffer_bytes}"
            )
