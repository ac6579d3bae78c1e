"""One connection of the wire listener. Everything here runs in the listener's thread."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING, cast

from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.access.access import ANYBODY
from broker_core.listeners.wire.answers import Answers
from broker_core.listeners.wire.appends import Appends
from broker_core.listeners.wire.deadlines import Deadlines
from broker_core.listeners.wire.permissions import Permissions
from broker_core.listeners.wire.rows import Caller, How, Row, Waiting
from broker_core.listeners.wire.table import TABLE
from broker_core.wire.apis import APIS
from broker_core.wire.body import Body, Done
from broker_core.wire.codec import BadRequest, Request, ServerCodec
from broker_core.wire.session import ApiVersions, Cancel, Hello, HelloReply, Ping, Pong

if TYPE_CHECKING:
    from broker_core.listeners.wire.listener import WireListener

_log = logging.getLogger(__name__)
SOFTWARE = "brokerscope"
OFFERED = tuple(ApiVersions(api.key, api.min_version, api.max_version) for api in APIS)
MOST_AT_ONCE_NS = NS_PER_MS  # in one call of the host: others wait for it
MOST_PARKED = 1_000  # waits of one connection: fetches, takes, joins


class WireConnection(asyncio.BufferedProtocol):
    """Reads requests, has them served, writes the replies as they come."""

    def __init__(self, listener: WireListener) -> None:
        self._listener = listener
        self._codec = ServerCodec(listener.limits.max_frame_bytes)
        self._transport = cast(asyncio.Transport, None)
        self._backlog: deque[Request | BadRequest] = deque()
        self._held_bytes: dict[int, int] = {}
        self._parked: dict[int, Waiting] = {}
        self._permissions = Permissions(listener.access)
        self._deadlines = Deadlines(listener.limits)
        self._answers = cast(Answers, None)
        self._greeted = self._closing = self.lost = False
        self._reading = self._may_write = True
        self.in_flight = 0
        self._caller = cast(Caller, None)
        # While requests are served: what is to be answered, in this order.
        self._served: list[tuple[Request, Body | Waiting | Exception]] | None = None

    # -- what asyncio calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Somebody has come."""
        self._transport = cast(asyncio.Transport, transport)
        listener = self._listener
        peer = self._transport.get_extra_info("peername") or ("", 0)
        seen = listener.connections.open("wire", f"{peer[0]}:{peer[1]}", lambda: listener.in_loop(self.abort))
        self._answers = Answers(self._transport, seen)
        self._caller = Caller(
            listener.host,
            listener.access,
            listener.limits,
            listener.connections,
            listener.tail,
            seen,
            ANYBODY,
            set(),
            Appends(listener.host.broker),
        )
        if not listener.let_in(self):
            self._refuse_all(BrokerError(ErrorCode.THROTTLED, "there are as many connections as are allowed"))

    def get_buffer(self, sizehint: int) -> memoryview:
        """Where bytes are to be put."""
        return self._listener.buffer

    def buffer_updated(self, nbytes: int) -> None:
        """They have come."""
        data = bytes(self._listener.buffer[:nbytes])
        seen = self._caller.connection
        seen.bytes_in += nbytes
        seen.heard_ns = self._listener.host.now_ns
        if self._closing:
            self._deadlines.heard(partial=False)
            return
        held_bytes = self._codec.frames.held_bytes
        self._backlog.extend(self._codec.receive(data))
        self._deadlines.heard(self._codec.frames.partial)
        self._listener.budget.bytes += self._codec.frames.held_bytes - held_bytes
        if self._listener.budget.bytes > self._listener.limits.max_buffered_bytes:
            self._refuse_all(BrokerError(ErrorCode.THROTTLED, "requests of all connections hold too many bytes"))
            return
        self._go_on()

    def pause_writing(self) -> None:
        """It does not read what is written."""
        self._may_write = False
        self._deadlines.stuck(True)

    def resume_writing(self) -> None:
        """It reads again."""
        self._may_write = True
        self._deadlines.stuck(False)
        self._go_on()

    def connection_lost(self, exc: Exception | None) -> None:
        """It is gone; what it waited for is waited for no longer."""
        self.lost = self._answers.lost = self._closing = True
        listener, caller = self._listener, self._caller
        listener.let_out(self)
        listener.budget.bytes -= self._codec.frames.held_bytes
        self._backlog.clear()
        cancels = [waiting.cancel for waiting in self._parked.values() if waiting.cancel is not None]

        def tidy_up(now_ns: int) -> None:
            for cancel in cancels:
                cancel()
            for producer in caller.producers:
                caller.broker.disconnect(now_ns, producer)

        if (cancels or caller.producers) and not listener.host.closing:
            self._tried(lambda: listener.host.call(tidy_up))
        listener.connections.closed(caller.connection)

    # -- deadlines

    def check(self, now_s: float) -> None:
        """Cut it where it has been silent or slow for too long."""
        missed = self._deadlines.missed(now_s)
        if missed:
            self._caller.connection.failed(f"cut: {missed}")
            self.abort()

    def abort(self) -> None:
        """End it at once."""
        self._transport.abort()

    def hang_up(self) -> None:
        """Take no more requests, end what waits, and close when all is written."""
        if not self._closing:
            self._closing = True
            cancels = [waiting.cancel for waiting in self._parked.values() if waiting.cancel is not None]
            if cancels:
                self._tried(lambda: self._listener.host.call(lambda _now: [cancel() for cancel in cancels]))
        self.close_when_done()

    def close_when_done(self) -> None:
        """Close it when nothing is being served any more, and what was cancelled is answered."""
        waits = self.in_flight or any(waiting.cancel is not None for waiting in self._parked.values())
        if self._closing and not waits and not self._transport.is_closing():
            self._answers.flush()
            self._transport.close()

    # -- serving

    def _go_on(self) -> None:
        """Serve what has come, as far as there is room for what comes of it."""
        while self._backlog and self._has_room() and not self._closing:
            if self._row_at_broker(self._backlog[0]) is None:
                self._serve(self._backlog.popleft())
            else:
                self._serve_at_broker()
        self._answers.flush()
        reading = not self._backlog and self._may_write and not self._closing
        if reading != self._reading and not self._transport.is_closing():
            self._reading = reading
            (self._transport.resume_reading if reading else self._transport.pause_reading)()

    def _has_room(self) -> bool:
        return self._may_write and self.in_flight < self._listener.limits.max_in_flight_per_connection

    def _serve(self, request: Request | BadRequest) -> None:
        """One that the broker is not asked about, or not in this thread."""
        if isinstance(request, BadRequest):
            self._answers.refuse(request.correlation, request.error)
            if request.fatal:
                self.hang_up()
            return
        self._caller.connection.requests += 1
        try:
            if not self._greeted or isinstance(request.body, Hello):
                self._greet(request)
            elif isinstance(request.body, Ping):
                self._answers.reply(request, Pong(self._listener.host.now_ns))
            elif isinstance(request.body, Cancel):
                self._cancel(request.body.correlation)
                self._answers.reply(request, Done())
            else:
                self._have_worked(request, TABLE[type(request.body)])
        except Exception as error:
            self._answers.failed(request, error)

    def _row_at_broker(self, request: Request | BadRequest) -> Row | None:
        """How it is served by a call of the broker; None where it is not."""
        row = TABLE.get(type(request.body)) if self._greeted and isinstance(request, Request) else None
        return None if row is None or row.how is How.SLOW else row

    def _serve_at_broker(self) -> None:
        """Have the first of the backlog served, and what follows it as far as that is for the broker, too.

        It is one call of the host for all: its lock, and on a session the way to the engine's thread and back, cost
        more than most requests do.
        """
        backlog, appends = self._backlog, self._caller.appends
        served: list[tuple[Request, Body | Waiting | Exception]] = []

        def serve(now_ns: int) -> None:
            end_ns = time.monotonic_ns() + MOST_AT_ONCE_NS
            self._served = served
            try:
                while backlog and self._has_room() and (row := self._row_at_broker(backlog[0])) is not None:
                    request = cast(Request, backlog.popleft())
                    appends.more_follow = bool(backlog)
                    if not row.appends:
                        appends.flush(now_ns)
                    self._caller.connection.requests += 1
                    try:
                        self._check_allowed(request, row)
                        if row.how is How.AT_ONCE:
                            served.append((request, row.serve(self._caller, request.body, now_ns)))
                        else:
                            self._wait(request, row, now_ns)
                    except Exception as error:
                        appends.flush(now_ns)  # what came before is answered before
                        served.append((request, error))
                    if time.monotonic_ns() >= end_ns:
                        break
                appends.flush(now_ns)
            finally:
                self._served = None

        try:
            self._listener.host.call(serve)
        except Exception as error:
            if not backlog:
                raise
            served.append((cast(Request, backlog.popleft()), error))  # it takes no calls any more
        for request, outcome in served:
            self._answer(request, outcome)
        self._answers.flush()  # here, for it finds out whether anybody reads them

    def _greet(self, request: Request) -> None:
        hello = request.body
        if not isinstance(hello, Hello):
            raise BrokerError(ErrorCode.INVALID_REQUEST, f"{request.api.name} before Hello; say that first")
        if self._greeted:
            raise BrokerError(ErrorCode.INVALID_REQUEST, "a second Hello")
        listener, seen, limits = self._listener, self._caller.connection, self._listener.limits
        seen.client = hello.client
        try:
            self._caller.principal = listener.access.principal(hello.token)
        except BrokerError as error:
            self._refuse_all(error, request.correlation)
            return
        self._greeted = True
        self._deadlines.greeted()
        seen.principal = self._caller.principal.name
        self._answers.reply(
            request,
            HelloReply(
                SOFTWARE,
                listener.session,
                listener.host.now_ns,
                seen.principal,
                OFFERED,
                limits.max_frame_bytes,
                limits.idle_timeout_ms,
                limits.max_in_flight_per_connection,
                limits.max_wait_ms,
            ),
        )

    def _have_worked(self, request: Request, row: Row) -> None:
        """Have it served by a worker."""
        caller = self._caller
        self._check_allowed(request, row)
        self._begin(request)
        try:
            self._listener.in_worker(lambda: row.serve(caller, request.body), lambda done: self._worked(request, done))
        except BaseException:
            self._end(request)
            raise

    def _check_allowed(self, request: Request, row: Row) -> None:
        for need in row.needs(self._listener.host.broker, request.body):
            self._permissions.check(self._caller.principal, *need)

    def _wait(self, request: Request, row: Row, now_ns: int) -> None:
        if len(self._parked) >= MOST_PARKED:
            raise BrokerError(ErrorCode.THROTTLED, f"{MOST_PARKED} requests of this connection wait already")
        if request.correlation in self._parked:
            raise BrokerError(ErrorCode.INVALID_REQUEST, f"the correlation id {request.correlation} is in use")
        self._begin(request)
        try:
            waiting: Waiting = row.serve(self._caller, request.body, now_ns)
        except BaseException:
            self._end(request)
            raise
        if waiting.parked:
            self._end(request)
            self._parked[request.correlation] = waiting
        waiting.reply.then(lambda _reply: self._came(request, waiting))

    def _came(self, request: Request, waiting: Waiting) -> None:
        """What was waited for is there; called under the host's lock, in any thread."""
        if self._served is None:
            self._listener.settled(self, request, waiting)
        else:
            # The listener's thread serves this connection just now, and answers when it is done with that.
            self._finish(request, waiting)
            self._served.append((request, waiting))

    def _begin(self, request: Request) -> None:
        if request.correlation in self._held_bytes:
            raise BrokerError(ErrorCode.INVALID_REQUEST, f"the correlation id {request.correlation} is in use")
        self._listener.budget.begin()
        self._listener.budget.bytes += request.size_bytes
        self._held_bytes[request.correlation] = request.size_bytes
        self.in_flight += 1

    def _end(self, request: Request) -> None:
        held_bytes = self._held_bytes.pop(request.correlation, None)
        if held_bytes is not None:
            self._listener.budget.end(held_bytes)
            self.in_flight -= 1

    def _worked(self, request: Request, done: Future[Body]) -> None:
        """A worker has finished."""
        self._end(request)
        error = done.exception()
        if error is None:
            self._answers.reply(request, done.result())
        else:
            self._answers.failed(request, error)
        self.after_serving()

    def settled(self, request: Request, waiting: Waiting) -> None:
        """What was waited for is there."""
        self._finish(request, waiting)
        self._answer(request, waiting)

    def _finish(self, request: Request, waiting: Waiting) -> None:
        if waiting.parked:
            self._parked.pop(request.correlation, None)
        else:
            self._end(request)

    def after_serving(self) -> None:
        """There may be room for more."""
        if not self.lost:
            self._go_on()
            self.close_when_done()

    def _answer(self, request: Request, outcome: Body | Waiting | Exception) -> None:
        try:
            if self.lost:
                self._give_back(outcome)
                return
            if isinstance(outcome, Waiting):
                outcome = outcome.answer(outcome.reply.result())
            if isinstance(outcome, Exception):
                raise outcome
            self._answers.reply(request, outcome)
        except Exception as error:
            self._answers.failed(request, error)

    def _give_back(self, outcome: Body | Waiting | Exception) -> None:
        """Nobody is there to get it."""
        if isinstance(outcome, Waiting) and outcome.lost is not None and outcome.reply.error is None:
            lost, result = outcome.lost, outcome.reply.result()
            if not self._listener.host.closing:
                self._tried(lambda: self._listener.host.call(lambda _now: lost(result)))

    def _cancel(self, correlation: int) -> None:
        waiting = self._parked.get(correlation)
        if waiting is not None and waiting.cancel is not None:
            cancel = waiting.cancel
            self._listener.host.call(lambda _now: cancel())

    def _refuse_all(self, error: BrokerError, correlation: int = 0) -> None:
        """Say why, and hang up."""
        self._answers.refuse(correlation, error)
        self._backlog.clear()
        self.hang_up()

    @staticmethod
    def _tried(action: Callable[[], object]) -> None:
        try:
            action()
        except BrokerError as error:
            _log.warning("after a connection was lost: %s", error)
