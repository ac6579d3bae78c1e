"""A producer: publishes what arrives, and waits where the broker makes it wait."""

from __future__ import annotations

from collections.abc import Iterator

from broker_core.broker import Broker
from broker_core.engine.loop import Loop
from broker_core.errors import BrokerError, ErrorCode
from broker_core.lab.actor import Actor
from broker_core.lab.arrivals import Arrival


class ProducerActor(Actor):
    """Publishes each arrival at its time, or as soon after as backpressure lets it."""

    role = "producer"

    def __init__(self, name: str, broker: Broker, loop: Loop, seed: int, to: str) -> None:
        super().__init__(name, broker, loop, seed)
        self._to = to
        self._arrivals: Iterator[Arrival] = iter(())

    def feed(self, arrivals: Iterator[Arrival]) -> None:
        """Publish `arrivals`, which may be drawn with this actor's own random numbers."""
        self._arrivals = arrivals

    @property
    def target(self) -> str:
        return self._to

    @property
    def topics(self) -> tuple[str, ...]:
        return (self._to,)

    async def run(self) -> None:
        for due_ns, message in self._arrivals:
            if due_ns > self.loop.now_ns:
                self.enter("running")
                await self.loop.wait_until_ns(due_ns)
            reply = self.broker.publish(self.loop.now_ns, self._to, message, client=self.name)
            if not reply.done:
                self.enter("blocked")
            try:
                accepted = await reply
            except BrokerError as error:
                if error.code is not ErrorCode.THROTTLED:
                    raise
                self.failed += 1
            else:
                if accepted is not None:
                    self.count()
                else:
                    self.failed += 1
        self.enter("stopped")
