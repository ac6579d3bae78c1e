"""A worker of a queue: takes, works, acknowledges; fails now and then as its scenario says."""

from __future__ import annotations

from broker_core.broker import Broker
from broker_core.clock import ns_from_s
from broker_core.engine.loop import Loop
from broker_core.errors import BrokerError, ErrorCode
from broker_core.lab.actor import Actor
from broker_core.lab.scenario import Failure, WorkerSpec
from broker_core.queues.lease import Lease

TAKE_TIMEOUT_NS = ns_from_s(30)


class WorkerActor(Actor):
    """Takes up to `prefetch` messages at a time and works on one after the other."""

    role = "worker"

    def __init__(self, name: str, broker: Broker, loop: Loop, seed: int, spec: WorkerSpec) -> None:
        super().__init__(name, broker, loop, seed)
        self._spec = spec

    @property
    def target(self) -> str:
        return self._spec.queue

    @property
    def topics(self) -> tuple[str, ...]:
        return (self._spec.queue,)

    async def run(self) -> None:
        while True:
            self.enter("waiting")
            deadline_ns = self.loop.now_ns + TAKE_TIMEOUT_NS
            taken = self.broker.take(
                self.loop.now_ns,
                self._spec.queue,
                self.name,
                max_messages=self._spec.prefetch,
                deadline_ns=deadline_ns,
            )
            for lease in await taken:
                self.enter("processing")
                await self._work(lease)

    async def _work(self, lease: Lease) -> None:
        await self.loop.wait_ns(self._spec.processing.draw_ns(self.numbers))
        failure = self._drawn_failure()
        try:
            if failure is None:
                self.broker.ack(self.loop.now_ns, lease)
                self.count()
            elif failure.kind == "nack":
                self.failed += 1
                self.broker.nack(self.loop.now_ns, lease, failure.cause)
            else:
                self.failed += 1
                self.enter("paused")
                await self.loop.wait_until_ns(lease.deadline_ns)
        except BrokerError as error:
            # The work took longer than the lease: somebody else has the message now.
            if error.code is not ErrorCode.INVALID_LEASE:
                raise
            self.failed += 1

    def _drawn_failure(self) -> Failure | None:
        drawn = self.numbers.random()
        for failure in self._spec.failures:
            if drawn < failure.rate:
                return failure
            drawn -= failure.rate
        return None
