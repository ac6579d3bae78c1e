"""Sends batches to the log: order, retries, idempotence, outcomes. Time is the loop's.

One batch of a partition is appended at a time, so that a retry cannot overtake; a batch that is in the log and waits
for the disk does not block the next. A retry carries the sequence numbers of the first attempt, and the log remembers
the last five batches of a producer, so a batch is stored once (KIP-98).
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Sequence

from broker_core.broker.broker import Broker
from broker_core.broker.publishing import Published
from broker_core.clients.batches import NO_OFFSET, Batch, dropped
from broker_core.clients.message_form import explained
from broker_core.clients.partition_queue import PartitionQueue
from broker_core.clients.producer_config import ProducerConfig
from broker_core.clock import ns_from_ms, ns_from_s
from broker_core.engine.loop import Loop
from broker_core.errors import BrokerError, ErrorCode
from broker_core.flow.adaptive import AdaptiveConfig, AdaptiveInterval
from broker_core.log.batch import SEQUENCES, ProducerStamp
from broker_core.plurals import counted
from broker_core.replies import Reply

_log = logging.getLogger(__name__)
_NEVER_NS = 1 << 62
# Errors after which the batch may have been stored.
_DOUBTFUL = frozenset({ErrorCode.REQUEST_TIMED_OUT, ErrorCode.CONNECTION_LOST, ErrorCode.INTERNAL_ERROR})
_DOUBT = "it may be stored all the same"


class BatchSender:
    """Stores batches. `on_settled(batch)` is called when a batch is stored or has failed."""

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
        self._queues: dict[tuple[str, int], PartitionQueue] = {}
        self.pending: dict[Batch, None] = {}  # batches that are neither stored nor failed
        self._flushes: list[Callable[[Batch], object]] = []
        self._space_waiters: deque[Reply[None]] = deque()
        self._pace = None if config.adaptive is None else AdaptivePace(config.adaptive, loop, self._pump_all)
        self._fenced: BrokerError | None = None
        self.buffered_bytes = 0
        self.failures: list[tuple[Batch, BrokerError]] = []  # that no receipt or callback has reported

    def abandon(self, error: BrokerError) -> None:
        """Fail every pending batch with `error`, and fence the producer."""
        self._fenced = self._fenced or error
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
        queue = self._queue_of(batch.topic, batch.partition)
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
        """Withdraw those of `batches` that were not stored within `timeout_s`."""
        for batch in batches:
            what = f"{counted(len(batch.messages), 'message')} for {batch.topic}, after {timeout_s} s"
            self.withdraw(batch, BrokerError(ErrorCode.REQUEST_TIMED_OUT, what))

    def close(self, *, timed_out: bool) -> BrokerError | None:
        """Abandon every pending batch. Returns the error to raise, None where all failures have been reported.

        It is REQUEST_TIMED_OUT where closing `timed_out`, else CLOSED: messages were sent meanwhile.
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
        what = f"{self.client_id} was closed and gave up {count} for {names}"
        code, why = (
            (ErrorCode.REQUEST_TIMED_OUT, "wait longer, or send less")
            if timed_out
            else (ErrorCode.CLOSED, "close it after the last one was sent")
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

    def _queue_of(self, topic: str, partition: int) -> PartitionQueue:
        queue = self._queues.get((topic, partition))
        if queue is None:
            queue = self._queues[topic, partition] = PartitionQueue()
        return queue

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
        """Send the queued batches, one after the other."""
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
            self._settle(batch, dropped(batch))
            self._pump(queue)

    def _failed(self, queue: PartitionQueue, batch: Batch, error: BrokerError) -> None:
        """An attempt has failed: retry where that may help, otherwise fail the batch."""
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
            self._give_up(queue, batch, BrokerError(ErrorCode.REQUEST_TIMED_OUT, "it was given up"))  # settled before

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
        about = f"{what}, not answered within {self.config.delivery_timeout_ms:g} ms"
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
        """A message was sent; the next one waits for its answer."""
        self.next_ns = _NEVER_NS

    def end(self, accepted: bool) -> None:
        """The answer came: the interval begins."""
        interval_s = self.interval.accepted() if accepted else self.interval.refused()
        self.next_ns = self._loop.now_ns + ns_from_s(interval_s)
        self._loop.timers.at(self.next_ns, lambda _at: self._go_on())


def _accepted(reply: Reply[Published | None]) -> bool:
    """Whether the broker and every subscription had space for the message."""
    if reply.error is not None:
        return not isinstance(reply.error, BrokerError) or reply.error.code is not ErrorCode.THROTTLED
    published = reply.result()
    return published is not None and not published.missed_by
