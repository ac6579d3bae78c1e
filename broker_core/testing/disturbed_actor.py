"""An actor whose calls of the broker take virtual time and go wrong on the way there and back; librdkafka's errors."""

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

T = TypeVar("T")

MAX_LATENCY_MS = 3.0
_NOT_KAFKAS = 400  # the codes from here on are not Kafka's
# librdkafka's own errors.
Local = Literal["_NO_OFFSET", "_STATE", "_ASSIGNMENT_LOST", "_INVALID_ARG"]


def local_error(name: Local, about: str, code: ErrorCode = ErrorCode.INVALID_REQUEST) -> BrokerError:
    """An error that no broker sends, as librdkafka raises it."""
    return _raised(BrokerError(code, f"{name}, {about}"), name)


def as_raised(error: BrokerError) -> BrokerError:
    """`error` as a program catches it: as a KafkaException, too, if Kafka has it and the program uses confluent-kafka.

    The error of librdkafka is that with the same number: some have another name there.
    """
    return error if error.code.code >= _NOT_KAFKAS else _raised(error, error.code.code)


def _raised(error: BrokerError, number: int | Local) -> BrokerError:
    kafka: Any = sys.modules.get("confluent_kafka")
    if kafka is None or isinstance(error, kafka.KafkaException):
        return error
    if isinstance(number, str):
        number = getattr(kafka.KafkaError, number)
    raised = _both(kafka.KafkaException)(error.code, error.about, possibly_stored=error.possibly_stored)
    raised.args = (kafka.KafkaError(number, str(error)),)
    return raised


@functools.cache
def _both(kafka_error: Any) -> type[BrokerError]:
    return type("VirtualKafkaException", (BrokerError, kafka_error), {})


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
