from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator

from starlette.responses import Response, StreamingResponse

from broker_core.errors import BrokerError
from broker_core.events import Event
from broker_core.listeners.http.context import HttpCall
from broker_core.listeners.http.events import Subscriber
from broker_core.listeners.http.gate import problem_of
from broker_core.listeners.http.route import Routes
from broker_core.operations.observe import EventQuery
from broker_core.operations.rights import READ

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
        refused = problem_of(error)  # and gone, or a flood of them would take all connections
        return Response(refused.body, refused.status, {**refused.headers, "Connection": "close"})

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
