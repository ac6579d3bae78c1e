"""An actor whose calls of the broker take virtual time and go wrong on the way there and back."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError
from broker_core.replies import Reply
from broker_core.simulation.actor import Actor
from broker_core.testing.confluent_errors import as_raised
from broker_core.testing.schedule import Disturbance

T = TypeVar("T")

MAX_LATENCY_MS = 3.0


class DisturbedActor(Actor):
    """Counts its calls of the broker; at the call that a disturbance names, `disturb` is called with it."""

    def __init__(
        self, name: str, *details: Any, disturbances: Sequence[Disturbance], disturb: Callable[[Disturbance], object]
    ) -> None:
        super().__init__(name, *details)  # of the other base class of a subclass
        self.calls = 0
        self._arrives_ns = 0  # of the last request
        self._disturbances, self._disturb = tuple(disturbances), disturb

    async def call(self, request: Callable[[], Coroutine[Reply[Any], None, T]]) -> T:
        """One call of the broker: there, `request`, and back, with what is to go wrong on the way."""
        self.calls += 1
        call = self.calls
        await self._on_the_way(call, "before")
        reply: Reply[T] = Reply()
        try:
            reply.resolve(await request())
        except BrokerError as error:
            reply.fail(as_raised(error))
        await self._on_the_way(call, "after")
        return reply.result()

    async def pass_time(self, seconds: float) -> None:
        """Wait as long as work of `seconds` takes at the current slowness; does not call the broker."""
        await self.sleep(seconds * self.slowness)

    async def _on_the_way(self, call: int, when: str) -> None:
        for disturbance in self._disturbances:
            if disturbance.call == call and disturbance.when == when:
                self._disturb(disturbance)
        await self._latency()

    async def _latency(self) -> None:
        await self.loop.wait_ns(self._arrival_ns() - self.loop.now_ns)

    def _arrival_ns(self) -> int:
        """When what is sent now gets there; it does not overtake an earlier request on its connection."""
        latency_ns = round(self.numbers.uniform(0.01, MAX_LATENCY_MS) * NS_PER_MS)
        self._arrives_ns = max(self._arrives_ns, self.loop.now_ns + latency_ns)
        return self._arrives_ns
