"""The broker, its connections, its faults and its events. Events are sent as server-sent events, with a bounded buffer
for each client and a count of those that it missed.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncGenerator, Callable, Sequence

import msgspec
from starlette.exceptions import HTTPException
from starlette.responses import Response, StreamingResponse

from broker_core.broker.session_clock import FIXED
from broker_core.clock import NS_PER_MS
from broker_core.engine.broker_host import BrokerHost
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import Event
from broker_core.listeners.access import changes
from broker_core.listeners.awaiting import ServedHost
from broker_core.listeners.http.context import ByHand, HttpCall, Routes
from broker_core.listeners.http.problems import problem_of
from broker_core.operations import observe
from broker_core.operations.entry import READ
from broker_core.operations.faults import BeginFault, FaultAnswer
from broker_core.operations.values import text_of
from broker_core.snapshots import ConnectionView
from broker_core.version import program_version

OPEN_TO_ALL = (
    "everybody may use this broker, so nobody may disturb its clients; give it a token, or open one for tests, with "
    "EmbeddedBroker or serve --testing"
)
BUFFER_EVENTS = 10_000
_PIECE_EVENTS = 500  # what a client that does not read has in memory beside its buffer
_PAUSE_S = 0.02  # events are gathered for so long, for one write of many
_BEAT_S = 15.0  # a comment, so that proxies and clients see the connection alive


class Subscriber:
    """Events that `wanted` accepts, from now on; the newest are dropped while the buffer is full.

    Unless `told`, without their causes and details, which may name things that the client may not read.
    """

    def __init__(
        self, host: ServedHost, wanted: Callable[[Event], bool], most: int = BUFFER_EVENTS, *, told: bool = True
    ) -> None:
        self._host = host
        self._wanted = wanted
        self._most = most
        self._left_out = () if told else ("cause", "detail")
        self._buffer: deque[Event] = deque()
        self._dropped = 0
        self._loop = asyncio.get_running_loop()
        self._there = asyncio.Event()
        self._woken = False

    def _take(self, event: Event) -> None:
        # Called under the host's lock, in the thread that published.
        if not self._wanted(event):
            return
        if len(self._buffer) >= self._most:
            self._dropped += 1
            return
        self._buffer.append(event)
        if not self._woken:
            self._woken = True
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._there.set)

    def _drain(self) -> tuple[list[Event], int]:
        events, dropped = list(self._buffer), self._dropped
        self._buffer.clear()
        self._dropped, self._woken = 0, False
        self._there.clear()
        return events, dropped

    async def stream(self, closing: asyncio.Event, limit: int | None = None) -> AsyncGenerator[bytes]:
        """The text of the stream, until `closing` is set, the client disconnects, or after `limit` events."""
        self._host.call(lambda _now: self._host.events.attach(self._take))
        closed = asyncio.ensure_future(closing.wait())
        try:
            yield b": events of the broker\n\n"
            while not closing.is_set():
                there = asyncio.ensure_future(self._there.wait())
                try:
                    await asyncio.wait((there, closed), timeout=_BEAT_S, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    there.cancel()
                if not there.done():
                    if not closing.is_set():
                        yield b": still here\n\n"
                    continue
                await asyncio.sleep(_PAUSE_S)
                events, dropped = self._host.call(lambda _now: self._drain())
                events = events[:limit]
                for start in range(0, len(events), _PIECE_EVENTS):
                    piece = events[start : start + _PIECE_EVENTS]
                    yield b"".join(_text(event, self._left_out) for event in piece)
                if dropped:
                    yield b'event: missed\ndata: {"count":%d}\n\n' % dropped
                if limit is not None:
                    limit -= len(events)
                    if limit <= 0:
                        return
        finally:
            closed.cancel()
            if not self._host.closing:
                self._host.call(lambda _now: self._host.events.detach(self._take))


def _text(event: Event, left_out: Sequence[str]) -> bytes:
    row = {name: value for name, value in row_of(event).items() if name not in left_out}
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (event.seq, event.kind.encode(), msgspec.json.encode(row))


def row_of(event: Event) -> dict[str, object]:
    """An event without the fields that its kind does not use."""
    row: dict[str, object] = {"seq": event.seq, "time_ns": event.time_ns, "kind": event.kind}
    for field in event.__struct_fields__[3:]:
        value = getattr(event, field)
        if value is None or value == "":
            continue
        if field == "key":
            row["key"], encoding = text_of(value)
            if encoding != "text":
                row["key_encoding"] = encoding
        elif field not in {"count", "size_bytes"} or value:
            row[field] = value
    return row


async def _describe_broker(call: HttpCall, _request: observe.DescribeBroker) -> observe.BrokerAnswer:
    totals, damage = call.host.call(lambda _now: (call.broker.views.totals(), list(call.broker.corruption.sentences)))
    return observe.BrokerAnswer(
        version=program_version(),
        uptime_ms=call.host.now_ns // NS_PER_MS,
        durability=call.host.config.log.durability,
        events=call.host.events.count,
        connections=call.context.connections.count(),
        totals=totals,
        damage=damage,
    )


async def _list_connections(call: HttpCall, _request: observe.ListConnections) -> list[ConnectionView]:
    return list(call.context.connections.views())


async def _observe_broker(call: HttpCall, request: observe.ObserveBroker) -> observe.Observed:
    found = await call.ask(request)
    acls = changes.with_file(call.context.access, found.snapshot.acls)
    snapshot = msgspec.structs.replace(found.snapshot, acls=acls)
    refused = {"begin_fault": OPEN_TO_ALL} if _spares_clients(call) else {}
    refused |= {"advance_clock": FIXED} if call.broker.clock.movable is None else {}
    connections = call.context.connections.views()
    return msgspec.structs.replace(found, snapshot=snapshot, connections=connections, refused=refused)


async def _cut_connection(call: HttpCall, request: observe.CutConnection) -> None:
    if not call.context.connections.cut(request.connection, f"cut by {call.principal.name}"):
        raise HTTPException(404, "there is no such connection")


def _spares_clients(call: HttpCall) -> bool:
    """Faults are not for everybody who finds a broker that is not for tests."""
    for_tests = not isinstance(call.host, BrokerHost) or call.broker.clock.movable is not None
    return call.context.access.open and not for_tests


async def _begin_fault(call: HttpCall, request: BeginFault) -> FaultAnswer:
    if _spares_clients(call):
        raise BrokerError(ErrorCode.INVALID_REQUEST, OPEN_TO_ALL)
    return call.host.ask(request)


HANDLERS: ByHand = {
    BeginFault: _begin_fault,
    observe.DescribeBroker: _describe_broker,
    observe.ListConnections: _list_connections,
    observe.ObserveBroker: _observe_broker,
    observe.CutConnection: _cut_connection,
}


metrics_routes = Routes("Broker")


@metrics_routes("GET", "/metrics", media_type="text/plain")
async def metrics(call: HttpCall) -> Response:
    """All figures, for Prometheus, by OpenTelemetry's names."""
    call.must(READ, "broker")
    return Response(call.context.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


# OpenAPI cannot describe a response without end; the description of the document mentions it.
streams = Routes("Events")


@streams("GET", "/v1/events", query=observe.EventQuery, media_type="text/event-stream")
async def stream_events(call: HttpCall) -> Response:
    """Events of the broker from now on, as server-sent events."""
    query = call.query(observe.EventQuery)
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
        stream(), media_type="text/event-stream", headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    )


def _may_see(call: HttpCall, event: Event) -> bool:
    if not event.topic and not event.group:
        return False
    topic = not event.topic or call.may(READ, "topic", event.topic) or call.may(READ, "queue", event.topic)
    group = not event.group or call.may(READ, "group", event.group) or call.may(READ, "queue", event.group)
    return topic and group
