"""Workers of a queue and subscribers of topics: they take, work, acknowledge, and fail now and then."""

from __future__ import annotations

from collections.abc import Mapping

from broker_core.clock import ns_from_s
from broker_core.engine.loop import first_of
from broker_core.errors import BrokerError, ErrorCode
from broker_core.lab.actor import Actor
from broker_core.lab.durations import Duration
from broker_core.lab.specs import Failure, SubscriberSpec, WorkerSpec
from broker_core.messages import StoredMessage
from broker_core.queues.lease import Lease
from broker_core.replies import Reply

TAKE_TIMEOUT_NS = ns_from_s(30)

Leases = Reply[list[Lease]]


class Lessee(Actor):
    """Takes from one queue or several, of which the first comes first, and works on one message after the other."""

    def __init__(
        self, name: str, queues: tuple[str, ...], spec: WorkerSpec | SubscriberSpec, prefetch: int = 1
    ) -> None:
        super().__init__(name)
        self._queues = queues
        self._prefetch = prefetch
        self._processing: Duration = spec.processing
        self._failures = spec.failures
        self._ack_before = spec.ack == "before"

    @property
    def target(self) -> str:
        return self._queues[0]

    @property
    def topics(self) -> tuple[str, ...]:
        return self._queues

    async def run(self) -> None:
        while True:
            self.enter("waiting")
            for lease in await self._next():
                await self._handle(lease)

    async def _next(self) -> list[Lease]:
        """Of what is there, that of the first queue; where nothing is, wait for any of them."""
        for queue in self._queues if len(self._queues) > 1 else ():
            if leases := self._take(queue, 0).result():
                return leases
        waits = {queue: self._take(queue, TAKE_TIMEOUT_NS) for queue in self._queues}
        # The moment one is served the others stand back, so that they lose nothing.
        for wait in waits.values():
            wait.then(lambda served: self._stand_back(waits, served))
        try:
            await first_of(*waits.values())
        finally:
            self._stand_back(waits, None)
        return [lease for wait in waits.values() for lease in wait.result()]

    def _take(self, queue: str, timeout_ns: int) -> Leases:
        now_ns = self.loop.now_ns
        return self.broker.take(
            now_ns,
            queue,
            self.name,
            max_messages=self._prefetch,
            deadline_ns=now_ns + timeout_ns if timeout_ns else None,
        )

    def _stand_back(self, waits: Mapping[str, Leases], served: Leases | None) -> None:
        for queue, wait in waits.items():
            if wait is not served:
                self.broker.cancel_take(queue, wait)

    async def _handle(self, lease: Lease) -> None:
        try:
            if self._ack_before:
                self.broker.ack(self.loop.now_ns, lease)
            await self.work(self._processing)
            failure = self._drawn_failure(lease.message)
            if failure is None:
                if not self._ack_before:
                    self.broker.ack(self.loop.now_ns, lease)
                self.count()
                return
            self.failed += 1
            if self._ack_before:
                return
            if failure.kind == "nack":
                self.broker.nack(self.loop.now_ns, lease, failure.cause)
            elif failure.kind == "hang":
                self.enter("paused")
                await self.loop.wait_until_ns(lease.deadline_ns)
        except BrokerError as error:
            # The work took longer than the lease: somebody else has the message now.
            if error.code is not ErrorCode.INVALID_LEASE:
                raise
            self.failed += 1

    def _drawn_failure(self, message: StoredMessage) -> Failure | None:
        drawn = self.numbers.random()
        for failure in self._failures:
            if failure.when is not None and not failure.when.met_by(message.value):
                continue
            if drawn < failure.rate:
                return failure
            drawn -= failure.rate
        return None


class WorkerActor(Lessee):
    """One of those who share the messages of a queue."""

    def __init__(self, name: str, spec: WorkerSpec) -> None:
        super().__init__(name, (spec.queue,), spec, spec.prefetch)


class SubscriberActor(Lessee):
    """Gets every message of its topics, each through a subscription of its own."""

    def __init__(self, spec: SubscriberSpec) -> None:
        super().__init__(spec.name, tuple(spec.subscriptions.values()), spec)
        self._read = spec.topics

    @property
    def topics(self) -> tuple[str, ...]:
        return self._read
