"""An actor whose calls of the broker take virtual time, and on whose way there and back things go wrong."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Literal, TypeVar

from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError, ErrorCode
from broker_core.replies import Reply
from broker_core.simulation.actor import Actor
from broker_core.testing.schedule import Disturbance

_NAMED = "librdkafka_name"
# librdkafka's own errors.
Local = Literal["_NO_OFFSET", "_STATE", "_ASSIGNMENT_LOST", "_INVALID_ARG"]


def local_error(name: Local, about: str, code: ErrorCode = ErrorCode.INVALID_REQUEST) -> BrokerError:
    """An error that no broker sends, as librdkafka raises it."""
    return _error(BrokerError(code, f"{name}, {about}"), name)


def as_raised(error: BrokerError) -> BrokerError:
    """`error` as a program catches it: as a KafkaException, too, if it uses confluent-kafka."""
    return error if hasattr(error, _NAMED) else _error(error, error.code.name)


def _error(error: BrokerError, name: str) -> BrokerError:
    kafka = sys.modules.get("confluent_kafka")
    number = None if kafka is None else getattr(kafka.KafkaError, name, None)
    if number is None:
        return error
    raised = _both(kafka.KafkaException)(error.code, error.about)  # type: ignore[union-attr]
    setattr(raised, _NAMED, name)
    raised.args = (kafka.KafkaError(number, str(error)),)  # type: ignore[union-attr]
    return raised


@functools.cache
def _both(kafka_error: Any) -> type[BrokerError]:
    return type("VirtualKafkaException", (BrokerError, kafka_error), {})


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
        """As work on a message takes it; no call of the broker."""
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
