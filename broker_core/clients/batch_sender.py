"""Batches on their way to the log: order, retries, idempotence, and what becomes of each. Time is the loop's.

A partition has one batch under way to the log at a time, so that order holds whatever is retried; those that are in the
log and wait for the disk hold up nobody. A retry carries the sequence numbers of the first attempt, and the log knows
the last five batches, so it is stored once (KIP-98).
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Sequence

from broker_core.broker.broker import Broker, Published
from broker_core.clients.batches import NO_OFFSET, Batch, dropped
from broker_core.clients.message_form import explained
from broker_core.clients.pace import Pace, accepted
from broker_core.clients.partition_queue import PartitionQueue
from broker_core.clients.producer_config import ProducerConfig
from broker_core.clock import ns_from_ms
from broker_core.engine.loop import Loop
from broker_core.errors import BrokerError, ErrorCode
from broker_core.log.batch import SEQUENCES, ProducerStamp
from broker_core.plurals import counted
from broker_core.replies import Reply

_log = logging.getLogger(__name__)
# The broker may have stored what it did not answer.
_DOUBTFUL = frozenset({ErrorCode.REQUEST_TIMED_OUT, ErrorCode.CONNECTION_LOST, ErrorCode.INTERNAL_ERROR})
_DOUBT = "it may be stored all the same"


class BatchSender:
    """Gets batches stored. `on_settled(batch)` is called when the fate of one is known."""

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
        self._lanes: dict[tuple[str, int], PartitionQueue] = {}
        self.pending: dict[Batch, None] = {}  # batches whose fate is not known yet
        self._flushes: list[Callable[[Batch], object]] = []
        self._rooms: deque[Reply[None]] = deque()
        self._pace = None if config.adaptive is None else Pace(config.adaptive, loop, self._pump_all)
        self._fenced: BrokerError | None = None
        self.buffered_bytes = 0
        self.failures: list[tuple[Batch, BrokerError]] = []  # of batches that nobody had asked for by then

    def abandon(self, error: BrokerError) -> None:
        """Everything that is not stored fails with `error`."""
        self._fenced = self._fenced or error
        for lane in self._lanes.values():
            lane.waiting.clear()
            lane.open = None
        for batch in list(self.pending):
            self.withdraw(batch, error)
        for lane in self._lanes.values():
            lane.sending = None
        self._broker.disconnect(self._loop.now_ns, self.client_id)

    def withdraw(self, batch: Batch, error: BrokerError) -> None:
        """Give `batch` up with `error`, which says whether it may be stored all the same."""
        if batch not in self.pending:
            return
        lane = self._lane(batch.topic, batch.partition)
        if batch is lane.open:
            lane.open = None
        under_way = lane.sending is batch
        doubtful = batch.doubtful or (batch.attempts > 0 and not under_way)
        if under_way and batch.attempt is not None:
            batch.withdrawn = True
            if not self._broker.withdraw(self._loop.now_ns, batch.topic, batch.attempt):
                # Its answer is still to come, and what follows it waits for that.
                batch.withdrawn, under_way, doubtful = False, False, True
        about = _DOUBT if doubtful else "it is withdrawn, and not stored"
        outcome = BrokerError(error.code, f"{error.about}; {about}", possibly_stored=doubtful)
        if under_way:
            if self._pace is not None and batch.withdrawn:
                self._pace.end(accepted=False)
            self._give_up(lane, batch, outcome)
        else:
            self._settle(batch, outcome)

    def give_up(self, batches: Sequence[Batch], timeout_s: float | None) -> None:
        """Withdraw those of `batches` that are not stored: who has waited for them for so long waits no longer."""
        for batch in batches:
            what = f"{counted(len(batch.messages), 'message')} for {batch.topic}, after {timeout_s} s"
            self.withdraw(batch, BrokerError(ErrorCode.REQUEST_TIMED_OUT, what))

    def close(self) -> BrokerError | None:
        """Abandon everything that is not stored; what there is to say of it where nobody else was told."""
        left = list(self.pending)
        self.abandon(BrokerError(ErrorCode.CLOSED, self.client_id))
        errors = {batch: batch.settled.error for batch in left if isinstance(batch.settled.error, BrokerError)}
        # The host may have been closed before.
        errors |= {batch: error for batch, error in self.failures if error.code is ErrorCode.CLOSED}
        if not errors:
            return None
        names = ", ".join(sorted({batch.topic for batch in errors}))
        count = counted(sum(len(batch.messages) for batch in errors), "message")
        about = f"{self.client_id} was closed and gave up {count} for {names}; wait longer, or send less"
        possibly_stored = any(error.possibly_stored for error in errors.values())
        given_up = BrokerError(ErrorCode.REQUEST_TIMED_OUT, about, possibly_stored=possibly_stored)
        _log.warning("%s", given_up)
        return None if all(batch.told for batch in errors) else given_up

    def raise_failure(self) -> None:
        """Raise the first error since the last time that nobody was told."""
        failures, self.failures = self.failures, []
        for batch, error in failures:
            if not batch.told:
                raise error

    # -- inside

    def _lane(self, topic: str, partition: int) -> PartitionQueue:
        lane = self._lanes.get((topic, partition))
        if lane is None:
            lane = self._lanes[topic, partition] = PartitionQueue()
        return lane

    def _new_batch(self, topic: str, partition: int) -> Batch:
        batch = Batch(topic, partition)
        self.pending[batch] = None
        return batch

    def _seal(self, lane: PartitionQueue) -> None:
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

    def _pump(self, lane: PartitionQueue) -> None:
        """Send what waits, one after the other."""
        if lane.pumping:
            return
        lane.pumping = True
        try:
            while lane.sending is None and lane.waiting:
                if self._pace is not None and not self._pace.free:
                    return
                batch = lane.sending = lane.waiting.popleft()
                if batch in self.pending:
                    self._attempt(lane, batch)
                else:
                    lane.sending = None
        finally:
            lane.pumping = False

    def _pump_all(self) -> None:
        for lane in list(self._lanes.values()):
            self._pump(lane)

    def _attempt(self, lane: PartitionQueue, batch: Batch) -> None:
        batch.attempts += 1
        batch.attempt = None
        if self._pace is not None:
            self._pace.begin()
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
            if self._pace is not None:
                self._pace.end(accepted=True)  # its own fault: the broker has refused nothing
            self._failed(lane, batch, explained(batch.messages, error))
        else:
            if not reply.done:
                batch.attempt = reply
            reply.then(lambda done: self._answered(lane, batch, done))

    def _appended(self, lane: PartitionQueue, batch: Batch, published: Published) -> None:
        if lane.sending is not batch:
            return
        lane.sending = None
        if batch.stamp is not None and batch.stamp[:2] == self._identity:
            lane.sequence = (lane.sequence + len(batch.messages)) % SEQUENCES
        if self.config.acks != "all":
            self._settle(batch, published)
        self._pump(lane)

    def _answered(self, lane: PartitionQueue, batch: Batch, reply: Reply[Published | None]) -> None:
        if batch.withdrawn:
            return
        under_way = lane.sending is batch
        batch.attempt = None
        if self._pace is not None:
            self._pace.end(accepted(reply))
        error = None if reply.error is None else explained(batch.messages, reply.error)
        if error is not None and under_way:
            self._failed(lane, batch, error)
        elif error is not None:
            # It is in the log, but the disk refused.
            self._settle(batch, BrokerError(error.code, error.about, possibly_stored=True))
        elif (published := reply.result()) is not None:
            if under_way and published.topic == batch.topic:
                self._appended(lane, batch, published)  # it has waited for room, and its answer is there first
            self._settle(batch, published)
            if lane.sending is batch:  # it is in the bin of its topic, and used up no number
                lane.sending = None
                self._pump(lane)
        else:
            lane.sending = None
            self._settle(batch, dropped(batch))
            self._pump(lane)

    def _failed(self, lane: PartitionQueue, batch: Batch, error: BrokerError) -> None:
        """An attempt has failed: try again where that may help, else say so."""
        batch.doubtful = batch.doubtful or error.possibly_stored or error.code in _DOUBTFUL
        if error.retriable and batch.attempts <= self.config.retries and batch in self.pending:
            due_ns = self._loop.now_ns + ns_from_ms(self.config.retry_backoff_ms)
            if self._pace is not None:
                due_ns = max(due_ns, self._pace.next_ns)
            self._loop.timers.at(due_ns, lambda _at: self._again(lane, batch))
            return
        if error.code is ErrorCode.INVALID_PRODUCER_EPOCH:
            self.abandon(error)
            return
        self._give_up(lane, batch, error)

    def _again(self, lane: PartitionQueue, batch: Batch) -> None:
        if lane.sending is not batch:
            return
        if batch in self.pending:
            self._attempt(lane, batch)
        else:
            self._give_up(lane, batch, BrokerError(ErrorCode.REQUEST_TIMED_OUT, "it was given up"))  # and is settled

    def _give_up(self, lane: PartitionQueue, batch: Batch, error: BrokerError) -> None:
        lane.sending = None
        if batch.doubtful and self._identity is not None:
            # Nobody knows which number comes next: begin anew, under an id that no log has seen.
            self._identity = self._broker.producer_ids.register(self.config.name)
            for each in self._lanes.values():
                each.sequence = 0
        if batch.doubtful and not error.possibly_stored:
            error = BrokerError(error.code, f"{error.about}; {_DOUBT}", possibly_stored=True)
        self._settle(batch, error)
        self._pump(lane)

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
