"""The half of a producer that lives in the core: batches, linger, order, retries, idempotence. Time is the loop's.

A partition has one batch under way to the log at a time, so that order holds whatever is retried; those that are in the
log and wait for the disk hold up nobody. A retry carries the sequence numbers of the first attempt, and the log knows
the last five batches, so it is stored once (KIP-98).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from broker_core.broker import Broker, Published
from broker_core.clients.batches import NO_OFFSET, Batch, Receipt, dropped, halved, largest_of, put_all, size_of, sum_of
from broker_core.clients.inbox import Inboxes
from broker_core.clients.lane import Lane
from broker_core.clients.message_form import check_form, explained
from broker_core.clients.producer_config import ProducerConfig
from broker_core.clock import ns_from_ms
from broker_core.engine.loop import Loop
from broker_core.errors import BrokerError, ErrorCode
from broker_core.log.batch import SEQUENCES, ProducerStamp
from broker_core.messages import Message
from broker_core.plurals import counted
from broker_core.replies import Reply

_MANY_TIMES = 16  # a batch of many that come at once may be so many times as large as one that lingers
# The broker may have stored what it did not answer.
_DOUBTFUL = frozenset({ErrorCode.REQUEST_TIMED_OUT, ErrorCode.CONNECTION_LOST, ErrorCode.INTERNAL_ERROR})


class Sender:
    """Batches messages and gets them stored. `on_settled(batch)` is called when the fate of one is known."""

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
        """`identity` is (producer id, epoch), for a producer that is idempotent."""
        self._broker = broker
        self._loop = loop
        self.client_id = client_id
        self.config = config
        self._identity = identity
        self._on_settled = on_settled
        self._lanes: dict[tuple[str, int], Lane] = {}
        self.inboxes = Inboxes(broker, loop, config, self)
        self.pending: dict[Batch, None] = {}  # batches whose fate is not known yet
        self._flushes: list[Callable[[Batch], object]] = []
        self._rooms: deque[Reply[None]] = deque()
        self._fenced: BrokerError | None = None
        self.buffered_bytes = 0
        self.failures: list[tuple[Batch, BrokerError]] = []  # of batches that nobody had asked for by then

    def send(
        self, topic: str, message: Message, partition: int | None = None, *, linger: bool = True
    ) -> tuple[Batch, int] | None:
        """Put `message` into a batch; the batch and its place there, None where the buffer is full.

        Without `linger` the batch goes at once.

        Raises what is wrong with the message itself: UNKNOWN_TOPIC_OR_PARTITION, MESSAGE_TOO_LARGE, INVALID_RECORD.
        """
        self.inboxes.gather()
        return self._placed(topic, message, partition, linger=linger)

    def _placed(self, topic: str, message: Message, partition: int | None, *, linger: bool) -> tuple[Batch, int] | None:
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
        alone = not self._broker.takes_batches(topic)
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
        most = self.config.batch_messages if self._broker.takes_batches(topic) else 1
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

    def _last_waiting(self, lane: Lane, size_bytes: int) -> Batch | None:
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
        """Everything that is not stored fails with `error`."""
        self._fenced = self._fenced or error
        self.inboxes.close()
        for batch in list(self.pending):
            self._settle(batch, error)
        for lane in self._lanes.values():
            lane.waiting.clear()
            lane.open = lane.sending = None
        self._broker.disconnect(self._loop.now_ns, self.client_id)

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

    def _check(self, topic: str, messages: Sequence[Message], size_bytes: int) -> None:
        if self._fenced is not None:
            raise self._fenced
        if messages:
            self._broker.check(topic, messages)
        if size_bytes > self.config.buffer_bytes:
            raise BrokerError(
                ErrorCode.MESSAGE_TOO_LARGE, f"{size_bytes} bytes, and the producer buffers {self.config.buffer_bytes}"
            )

    def _lane(self, topic: str, partition: int) -> Lane:
        lane = self._lanes.get((topic, partition))
        if lane is None:
            lane = self._lanes[topic, partition] = Lane()
        return lane

    def _new_batch(self, topic: str, partition: int) -> Batch:
        batch = Batch(topic, partition)
        self.pending[batch] = None
        return batch

    def _seal(self, lane: Lane) -> None:
        batch, lane.open = lane.open, None
        if batch is None:
            return
        if batch.timer is not None:
            batch.timer.cancel()
            batch.timer = None
        sealed_ns = self._loop.now_ns
        lane.waiting.append(batch)
        if self.config.acks == 0:
            # Whatever becomes of it: nobody will ask.
            batch.settled.resolve(Published(batch.topic, batch.partition, NO_OFFSET, (), len(batch.messages)))
        self._pump(lane)
        if batch in self.pending:
            deadline_ns = sealed_ns + ns_from_ms(self.config.delivery_timeout_ms)
            batch.timer = self._loop.timers.at(deadline_ns, lambda _at: self._time_out(batch))

    def _pump(self, lane: Lane) -> None:
        """Send what waits, one after the other."""
        if lane.pumping:
            return
        lane.pumping = True
        try:
            while lane.sending is None and lane.waiting:
                batch = lane.sending = lane.waiting.popleft()
                if batch in self.pending:
                    self._attempt(lane, batch)
                else:
                    lane.sending = None
        finally:
            lane.pumping = False

    def _attempt(self, lane: Lane, batch: Batch) -> None:
        batch.attempts += 1
        if self._identity is not None and batch.stamp is None:
            batch.stamp = ProducerStamp(*self._identity, lane.sequence)
        try:
            reply = self._broker.publish_batch(
                self._loop.now_ns,
                batch.topic,
                batch.partition,
                batch.messages,
                client=self.client_id,
                producer=batch.stamp,
                on_appended=lambda published: self._appended(lane, batch, published),
            )
        except Exception as error:
            self._failed(lane, batch, explained(batch.messages, error))
        else:
            reply.then(lambda done: self._answered(lane, batch, done))

    def _appended(self, lane: Lane, batch: Batch, published: Published) -> None:
        if lane.sending is not batch:
            return
        lane.sending = None
        if batch.stamp is not None and batch.stamp[:2] == self._identity:
            lane.sequence = (lane.sequence + len(batch.messages)) % SEQUENCES
        if self.config.acks != "all":
            self._settle(batch, published)
        self._pump(lane)

    def _answered(self, lane: Lane, batch: Batch, reply: Reply[Published | None]) -> None:
        under_way = lane.sending is batch
        error = None if reply.error is None else explained(batch.messages, reply.error)
        if error is not None and under_way:
            self._failed(lane, batch, error)
        elif error is not None:
            self._settle(batch, error)  # it is in the log, but the disk refused
        elif (published := reply.result()) is not None:
            self._settle(batch, published)
            if under_way:  # it is in the bin of its topic, and used up no number
                lane.sending = None
                self._pump(lane)
        else:
            lane.sending = None
            self._settle(batch, dropped(batch))
            self._pump(lane)

    def _failed(self, lane: Lane, batch: Batch, error: BrokerError) -> None:
        """An attempt has failed: try again where that may help, else say so."""
        batch.doubtful = batch.doubtful or error.code in _DOUBTFUL
        if error.retriable and batch.attempts <= self.config.retries and batch in self.pending:
            due_ns = self._loop.now_ns + ns_from_ms(self.config.retry_backoff_ms)
            self._loop.timers.at(due_ns, lambda _at: self._again(lane, batch))
            return
        if error.code is ErrorCode.INVALID_PRODUCER_EPOCH:
            self.abandon(error)
            return
        self._give_up(lane, batch, error)

    def _again(self, lane: Lane, batch: Batch) -> None:
        if lane.sending is not batch:
            return
        if batch in self.pending:
            self._attempt(lane, batch)
        else:
            self._give_up(lane, batch, BrokerError(ErrorCode.REQUEST_TIMED_OUT, "it was given up"))

    def _give_up(self, lane: Lane, batch: Batch, error: BrokerError) -> None:
        lane.sending = None
        if batch.doubtful and self._identity is not None:
            # Nobody knows which number comes next: begin anew, under an id that no log has seen.
            self._identity = self._broker.producer_ids.register(self.config.name)
            for each in self._lanes.values():
                each.sequence = 0
        self._settle(batch, error)
        self._pump(lane)

    def _time_out(self, batch: Batch) -> None:
        what = f"a batch of {counted(len(batch.messages), 'message')} for {batch.topic}/{batch.partition}"
        self._settle(batch, BrokerError(ErrorCode.REQUEST_TIMED_OUT, f"{what} was not stored in time"))

    def _settle(self, batch: Batch, outcome: Published | BrokerError) -> None:
        if batch not in self.pending:
            return
        del self.pending[batch]
        if batch.timer is not None:
            batch.timer.cancel()
        self.buffered_bytes -= batch.size_bytes
        if isinstance(outcome, BrokerError):
            if batch.settled.fail(outcome) and not batch.told:
                self.failures.append((batch, outcome))
        else:
            batch.settled.resolve(outcome)
        for count in list(self._flushes):
            count(batch)
        rooms, self._rooms = self._rooms, deque()
        for room in rooms:
            room.resolve(None)
        self._on_settled(batch)
