from __future__ import annotations

import msgspec
from starlette.exceptions import HTTPException

from broker_core.clock import NS_PER_MS
from broker_core.engine.host import BrokerHost
from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.http.context import HttpCall
from broker_core.listeners.http.route import ByHand
from broker_core.operations.faults import BeginFault, FaultAnswer
from broker_core.operations.observe import (
    BrokerAnswer,
    ConnectionsAnswer,
    CutConnection,
    DescribeBroker,
    ListConnections,
    ObserveBroker,
    Observed,
)
from broker_core.version import program_version


async def _describe_broker(call: HttpCall, _request: DescribeBroker) -> BrokerAnswer:
    totals, damage = call.host.call(lambda _now: (call.broker.views.totals(), list(call.broker.corruption.sentences)))
    return BrokerAnswer(
        version=program_version(),
        uptime_ms=call.host.now_ns // NS_PER_MS,
        durability=call.host.config.log.durability,
        events=call.host.events.count,
        connections=call.context.connections.count(),
        totals=totals,
        damage=damage,
    )


async def _list_connections(call: HttpCall, _request: ListConnections) -> ConnectionsAnswer:
    return ConnectionsAnswer(connections=list(call.context.connections.views()))


async def _observe_broker(call: HttpCall, request: ObserveBroker) -> Observed:
    found = await call.ask(request)
    return msgspec.structs.replace(found, connections=call.context.connections.views())


async def _cut_connection(call: HttpCall, request: CutConnection) -> None:
    if not call.context.connections.cut(request.connection, f"cut by {call.principal.name}"):
        raise HTTPException(404, "there is no such connection")


# Not for everybody who finds a broker that is not for tests.
async def _begin_fault(call: HttpCall, request: BeginFault) -> FaultAnswer:
    for_tests = not isinstance(call.host, BrokerHost) or call.broker.clock.movable is not None
    if call.context.access.open and not for_tests:
        raise BrokerError(
            ErrorCode.INVALID_REQUEST,
            "everybody may use this broker, so nobody may disturb its clients; give it a token, or open one for tests, "
            "by EmbeddedBroker or serve --testing",
        )
    return call.host.ask(request)


HANDLERS: ByHand = {
    BeginFault: _begin_fault,
    DescribeBroker: _describe_broker,
    ListConnections: _list_connections,
    ObserveBroker: _observe_broker,
    CutConnection: _cut_connection,
}
