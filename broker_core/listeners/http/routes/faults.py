"""Faults of Kafka's clients, by HTTP: not for everybody who finds a broker that is not for tests."""

from __future__ import annotations

from broker_core.engine.host import BrokerHost
from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.http.context import HttpCall
from broker_core.listeners.http.route import ByHand
from broker_core.operations.faults import BeginFault, FaultAnswer


async def _begin_fault(call: HttpCall, request: BeginFault) -> FaultAnswer:
    for_tests = not isinstance(call.host, BrokerHost) or call.broker.clock.movable is not None
    if call.context.access.open and not for_tests:
        raise BrokerError(
            ErrorCode.INVALID_REQUEST,
            "everybody may use this broker, so nobody may disturb its clients; give it a token, or open one for tests, "
            "by EmbeddedBroker or serve --testing",
        )
    return call.host.ask(request)


HANDLERS: ByHand = {BeginFault: _begin_fault}
