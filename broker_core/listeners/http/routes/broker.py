"""The broker as a whole: figures, connections, events."""

from __future__ import annotations

import msgspec
from fastapi.responses import Response, StreamingResponse
from starlette.exceptions import HTTPException

from broker_core.clock import NS_PER_MS
from broker_core.events import Event
from broker_core.listeners.http.context import ADMIN, READ, Call
from broker_core.listeners.http.events import Listener
from broker_core.listeners.http.models import broker as shapes
from broker_core.listeners.http.models.basics import Number
from broker_core.listeners.http.routing import Operations
from broker_core.version import program_version

operation = Operations("Broker")

METRICS_TYPE = "text/plain"


@operation("GET", "/v1/broker", shapes.BrokerAnswer)
async def describe_broker(call: Call) -> shapes.BrokerAnswer:
    """How long it runs, how durable it is, and what it has counted."""
    call.must(READ, "broker")
    totals = call.host.call(lambda _now: call.broker.totals())
    return shapes.BrokerAnswer(
        version=program_version(),
        uptime_ms=call.host.now_ns // NS_PER_MS,
        durability=call.host.config.log.durability,
        events=call.host.events.count,
        connections=call.context.connections.count(),
        totals=msgspec.convert(totals, shapes.TotalsAnswer, from_attributes=True),
        damage=list(call.context.admin.damage()),
    )


@operation("GET", "/v1/connections", shapes.ConnectionsAnswer)
async def list_connections(call: Call) -> shapes.ConnectionsAnswer:
    """Who is connected, at any listener."""
    call.must(READ, "broker")
    now_ns = call.host.now_ns
    same = [name for name in shapes.ConnectionAnswer.__struct_fields__ if not name.endswith("_ms")]
    return shapes.ConnectionsAnswer(
        connections=[
            shapes.ConnectionAnswer(
                age_ms=max(0, (now_ns - view.opened_ns) // NS_PER_MS),
                quiet_ms=max(0, (now_ns - view.heard_ns) // NS_PER_MS),
                **{name: getattr(view, name) for name in same},
            )
            for view in call.context.connections.views()
        ]
    )


@operation("DELETE", "/v1/connections/{connection}", status=204)
async def cut_connection(call: Call) -> None:
    """Cut a connection."""
    call.must(ADMIN, "broker")
    if not call.context.connections.cut(call.path("connection", Number), f"cut by {call.principal.name}"):
        raise HTTPException(404, "there is no such connection")


@operation("GET", "/v1/slow-readers", shapes.SlowReadersAnswer, query=shapes.SlowQuery)
async def list_slow_readers(call: Call) -> shapes.SlowReadersAnswer:
    """Groups and queues that are further behind than the limits, the furthest first."""
    call.must(READ, "broker")
    query = call.query(shapes.SlowQuery)
    max_lag_s = None if query.max_lag_ms is None else query.max_lag_ms / 1_000
    return shapes.SlowReadersAnswer(
        slow_readers=[
            shapes.SlowReaderAnswer(
                reader=each.reader,
                client=each.client,
                topic=each.topic,
                partition=each.partition,
                lag=each.lag,
                lag_ms=each.lag_ns // NS_PER_MS,
            )
            for each in call.context.admin.slow_readers(max_lag=query.max_lag, max_lag_s=max_lag_s)
        ]
    )


@operation("GET", "/metrics", media_type=METRICS_TYPE)
async def metrics(call: Call) -> Response:
    """All figures, for Prometheus, by OpenTelemetry's names."""
    call.must(READ, "broker")
    return Response(call.context.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


# An answer without end is no operation that OpenAPI can describe; the description of the file tells of it.
streams = Operations("Events")


@streams("GET", "/v1/events", query=shapes.EventQuery, media_type="text/event-stream")
async def stream_events(call: Call) -> Response:
    """What happens in the broker from now on, as server-sent events."""
    query = call.query(shapes.EventQuery)
    everything = call.may(READ, "broker")
    kinds = frozenset(query.kinds.split(",")) if query.kinds else None

    def wanted(event: Event) -> bool:
        return (
            (kinds is None or event.kind in kinds)
            and (query.topic is None or event.topic == query.topic)
            and (query.group is None or event.group == query.group)
            and (everything or _may_see(call, event))
        )

    listener = Listener(call.host, wanted)
    return StreamingResponse(
        listener.stream(call.context.closing, query.limit),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


def _may_see(call: Call, event: Event) -> bool:
    if not event.topic and not event.group:
        return False
    topic = not event.topic or call.may(READ, "topic", event.topic) or call.may(READ, "queue", event.topic)
    group = not event.group or call.may(READ, "group", event.group) or call.may(READ, "queue", event.group)
    return topic and group
