"""A connection with deadlines: uvicorn has none for a client that sends nothing, or half a request."""

from __future__ import annotations

import asyncio
import enum
import math
from typing import Any, ClassVar, cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from broker_core.listeners.access.limits import GuardConfig
from broker_core.listeners.connections import Connection, Connections

_FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nconnection: close\r\nretry-after: 1\r\n"
    b"content-length: %d\r\n\r\n%s"
)
_SMALL_BYTES = 16_384
_SILENT_S, _BETWEEN_LOOKS_S = 1.0, 0.1
_PART_ENDED = 20  # of the connections, one in so many at a time


class Phase(enum.Enum):
    HEAD = "the head of a request"
    BODY = "the body of a request"
    ANSWER = "the answer"  # the broker has its own deadlines
    IDLE = "a request"


class CountingTransport:
    """A transport that counts bytes, and sends the head of a response together with its body."""

    def __init__(self, inner: asyncio.Transport, connection: Connection, loop: asyncio.AbstractEventLoop) -> None:
        self._inner = inner
        self._connection = connection
        self._loop = loop
        self._pending: list[bytes] = []

    def write(self, data: bytes) -> None:
        """Send `data`; small pieces are joined until the loop's next turn."""
        if not data:
            return
        self._connection.bytes_out += len(data)
        self._pending.append(data)
        if len(data) > _SMALL_BYTES:
            self._flush()
        elif len(self._pending) == 1:
            self._loop.call_soon(self._flush)

    def close(self) -> None:
        self._flush()
        self._inner.close()

    def _flush(self) -> None:
        if self._pending:
            data = self._pending[0] if len(self._pending) == 1 else b"".join(self._pending)
            self._pending.clear()
            if not self._inner.is_closing():
                self._inner.write(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class GuardedProtocol(H11Protocol):
    """One connection. `limits` and `registry` are set by the listener, in a subclass of its own."""

    limits: ClassVar[GuardConfig]
    registry: ClassVar[Connections]
    looks_again_s: ClassVar[float] = 0.0  # in a flood, for connections that may be ended

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._phase = Phase.HEAD
        self._since_s = 0.0
        self._deadline: asyncio.TimerHandle | None = None
        self._writing: asyncio.TimerHandle | None = None
        self._connection: Connection | None = None
        self._body_bytes = 0

    # -- begin and end

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept the connection. If there are too many, one that asks for nothing is ended, or there is no room."""
        if len(self.connections) >= self.limits.max_connections and not self._make_room():
            sentence = (
                b'{"error":"THROTTLED","message":"There are as many connections as are allowed.","retriable":true}'
            )
            transport.write(_FULL % (len(sentence), sentence))
            transport.close()
            self.transport = transport
            return
        peer = transport.get_extra_info("peername")
        where = f"{peer[0]}:{peer[1]}" if isinstance(peer, tuple) else ""
        self._connection = self.registry.open(
            "http", where, lambda: self.loop.call_soon_threadsafe(self.transport.abort)
        )
        super().connection_made(cast(asyncio.Transport, CountingTransport(transport, self._connection, self.loop)))
        self.app_state = {**self.app_state, "connection": self._connection, "drain": self.flow.drain}
        self._enter(Phase.HEAD)

    def connection_lost(self, exc: Exception | None) -> None:
        for timer in (self._deadline, self._writing):
            if timer is not None:
                timer.cancel()
        if self._connection is not None:
            self.registry.closed(self._connection)
            super().connection_lost(exc)
            self._unset_keepalive_if_required()

    @property
    def silent_since_s(self) -> float:
        """Since when it asks for nothing, in the loop's time; infinity while it is served."""
        return self._since_s if self._connection and self._phase in {Phase.HEAD, Phase.IDLE} else math.inf

    def give_way(self) -> None:
        self._fail("the maximum number of connections is open, and this one was idle")
        self.connections.discard(self)

    def _make_room(self) -> bool:
        """End some that have asked for nothing for a while, the longest silent first. Whether there are any."""
        now_s = self.loop.time()
        if now_s < type(self).looks_again_s:
            return False
        found = [each for each in self.connections if isinstance(each, GuardedProtocol)]
        silent = sorted(
            (each for each in found if now_s - each.silent_since_s > _SILENT_S), key=lambda each: each.silent_since_s
        )
        for each in silent[: 1 + len(found) // _PART_ENDED]:
            each.give_way()
        if not silent:
            type(self).looks_again_s = now_s + _BETWEEN_LOOKS_S
        return bool(silent)

    # -- reading

    def data_received(self, data: bytes) -> None:
        if self._connection is None:
            return
        self._connection.bytes_in += len(data)
        if self._phase is Phase.IDLE:
            self._enter(Phase.HEAD)
        try:
            super().data_received(data)
        except h11.LocalProtocolError:
            # Garbage behind a request that is being answered: no response can be sent in between.
            self._fail("the bytes after a request are not HTTP")
            return
        self._body_bytes += len(data)
        if self._body_bytes > 2 * self.limits.max_body_bytes + self.limits.max_header_bytes:
            self._fail("it kept sending after its request was refused")
            return
        self._update_phase()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._update_phase()

    def send_400_response(self, msg: str) -> None:
        if self._connection is not None:
            self._connection.failed(msg)
        if self.cycle is None or self.cycle.response_complete:
            super().send_400_response(msg)
            return
        # In the middle of a body: its handler learns that the client has disconnected.
        if self.cycle.response_started:
            self.transport.abort()
        else:
            super().send_400_response(msg)
        self.cycle.disconnected = True
        self.cycle.message_event.set()

    def _update_phase(self) -> None:
        if self.transport.is_closing():
            return
        state = self.conn.their_state
        answering = self.cycle is not None and not self.cycle.response_complete
        if state is h11.SEND_BODY:
            self._enter(Phase.BODY)
        elif answering or state in {h11.DONE, h11.MUST_CLOSE, h11.CLOSED}:
            self._enter(Phase.ANSWER)
        elif state is h11.IDLE and self._phase is not Phase.HEAD:
            self._enter(Phase.HEAD if self.conn.trailing_data[0] else Phase.IDLE)

    def _enter(self, phase: Phase) -> None:
        if phase is self._phase and self._deadline is not None:
            return  # its deadline stays: a byte now and then does not move it
        self._phase = phase
        self._since_s = self.loop.time()
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        if phase in {Phase.HEAD, Phase.IDLE}:
            self._body_bytes = 0
        timeout_ms = {
            Phase.HEAD: self.limits.header_timeout_ms,
            Phase.BODY: self.limits.body_timeout_ms,
            Phase.IDLE: self.limits.idle_timeout_ms,
        }.get(phase)
        if timeout_ms is not None:
            sentence = f"it was silent too long: {phase.value} did not come in {timeout_ms} ms"
            self._deadline = self.loop.call_later(timeout_ms / 1_000, self._fail, sentence)

    # -- writing

    def pause_writing(self) -> None:
        super().pause_writing()
        sentence = f"it was too slow: it read nothing of its reply for {self.limits.write_timeout_ms} ms"
        self._writing = self.loop.call_later(self.limits.write_timeout_ms / 1_000, self._fail, sentence)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._writing is not None:
            self._writing.cancel()
            self._writing = None

    def timeout_keep_alive_handler(self) -> None:
        """Nothing: the deadline of `Phase.IDLE` does this."""

    def shutdown(self) -> None:
        """Close: at once if no response is under way."""
        if self._phase in {Phase.IDLE, Phase.HEAD, Phase.BODY} and (
            self.cycle is None or self.cycle.response_complete or self._phase is Phase.BODY
        ):
            self.transport.abort()
        else:
            super().shutdown()

    def _fail(self, sentence: str) -> None:
        if self._connection is not None:
            self._connection.failed(sentence)
        # Not close, which would wait for a client that does not read.
        self.transport.abort()
