from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator

import msgspec
from starlette.exceptions import HTTPException
from starlette.responses import Response, StreamingResponse

from broker_core.clock import NS_PER_MS
from broker_core.engine.host import BrokerHost
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import Event
from broker_core.listeners.http.context import ByHand, HttpCall, Routes
from broker_core.listeners.http.events import Subscriber
from broker_core.listeners.http.gate import problem_of
from broker_core.operations.faults import BeginFault, FaultAnswer
from broker_core.operations.observe import (
    BrokerAnswer,
    ConnectionsAnswer,
    CutConnection,
    DescribeBroker,
    EventQuery,
    ListConnections,
    ObserveBroker,
    Observed,
)
from broker_core.operations.rights import READ
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


metrics_routes = Routes("Broker")

METRICS_TYPE = "text/plain"


@metrics_routes("GET", "/metrics", media_type=METRICS_TYPE)
async def metrics(call: HttpCall) -> Response:
    """All figures, for Prometheus, by OpenTelemetry's names."""
    call.must(READ, "broker")
    return Response(call.context.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


# OpenAPI cannot describe a response without end; the description of the document mentions it.
streams = Routes("Events")


@streams("GET", "/v1/events", query=EventQuery, media_type="text/event-stream")
async def stream_events(call: HttpCall) -> Response:
    """What happens in the broker from now on, as server-sent events."""
    query = call.query(EventQuery)
    everything = call.may(READ, "broker")
    kinds = frozenset(query.kinds.split(",")) if query.kinds else None

    def wanted(event: Event) -> bool:
        return (
            (kinds is None or event.kind in kinds)
            and (query.topic is None or event.topic == query.topic)
            and (query.group is None or event.group == query.group)
            and (everything or _may_see(call, event))
        )

    subscriber = Subscriber(call.host, wanted, told=everything)
    slot = contextlib.ExitStack()
    try:
        slot.enter_context(call.context.streaming())
    except BrokerError as error:
        refused = problem_of(error)
        refused.headers["Connection"] = "close"  # or a flood of them would take all connections
        return refused

    async def stream() -> AsyncGenerator[bytes]:
        with slot:
            async with contextlib.aclosing(subscriber.stream(call.context.closing, query.limit)) as pieces:
                async for piece in pieces:
                    yield piece

    return StreamingResponse(
        stream(),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


def _may_see(call: HttpCall, event: Event) -> bool:
    if not event.topic and not event.group:
        return False
    topic = not event.topic or call.may(READ, "topic", event.topic) or call.may(READ, "queue", event.topic)
    group = not event.group or call.may(READ, "group", event.group) or call.may(READ, "queue", event.group)
    return topic and group
