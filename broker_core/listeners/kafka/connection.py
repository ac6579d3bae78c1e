"""One connection of the Kafka listener. Everything here runs in the listener's thread.

One request is served at a time, as Kafka does, so responses come in the order of the requests, and what follows a
parked fetch waits in the socket. What cannot be read is answered by closing the connection.

A request: `data_received` → `_serve_next` → `_serve` → `_answer_under_lock`, again when a `Waiting` is settled →
`_deliver` → `_send` → `_done`, which has the loop call `_serve_next`.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from functools import partial
from typing import Any, cast

import msgspec

from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import EventKind
from broker_core.faults.client_faults import ClientFault
from broker_core.faults.kafka_names import KAFKA_ERRORS
from broker_core.kafka_messages.reading import Data
from broker_core.kafka_messages.writing import Body
from broker_core.listeners.access.access import ANYBODY, Principal
from broker_core.listeners.access.open_connections import STRANGERS_FRAME_BYTES, OpenConnections
from broker_core.listeners.connections import Connection, Served
from broker_core.listeners.kafka import sasl
from broker_core.listeners.kafka.access import quota_throttle_ms
from broker_core.listeners.kafka.apis import versions
from broker_core.listeners.kafka.call import (
    MOST_ELEMENTS,
    TABLE,
    Answer,
    Call,
    KafkaContext,
    Later,
    Waiting,
    WhenDurable,
    failed,
)
from broker_core.listeners.kafka.codec import Header, has_error_code, header_of, nearest_version, pieces, request_of
from broker_core.listeners.kafka.frame_transport import FrameTransport, TooLargeError
from broker_core.listeners.kafka.pieces import send_pieces
from broker_core.listeners.kafka.refused import client_request, refused
from broker_core.replies import Reply

_log = logging.getLogger(__name__)
_PAUSED_S = 0.05  # between two looks whether a paused session goes on
IDLE_S = 600.0  # Kafka's connections.max.idle.ms
_BEFORE_AUTHENTICATION = {"ApiVersions", "SaslHandshake", "SaslAuthenticate"}


class DroppedError(Exception):
    """A fault closes the connection."""


class RequestInProgress(msgspec.Struct, eq=False):
    """A request from when its header is read until the next one may be served."""

    header: Header
    served: Served | None  # None once it is counted
    client: str = ""
    body: Any = None
    fault: ClientFault | None = None  # that it meets
    waiting: Waiting | None = None
    throttle_ms: int = 0  # how long the next request waits


class KafkaConnection(asyncio.Protocol):
    """Reads requests, has them served, writes the responses."""

    def __init__(self, context: KafkaContext, others: OpenConnections[KafkaConnection], workers: Executor) -> None:
        self._context, self._open, self._workers = context, others, workers
        self._loop, self._thread = asyncio.get_running_loop(), threading.get_ident()
        self._transport = cast(asyncio.Transport, None)
        self._frames = cast(FrameTransport, None)
        self._record = cast(Connection, None)
        self._here = ("", 0)
        self._principal: Principal | None = ANYBODY if context.access.open else None
        # A client that omits the handshake means PLAIN, as Kafka's did before SaslHandshake 1.
        self._exchange = self._new_exchange(sasl.PLAIN)
        self._busy = False  # a request is being served
        self._request: RequestInProgress | None = None  # that one, once its header is read
        self._looks_again = False  # while the session is paused
        self._member_id = ""  # of the group that it named last

    # -- what asyncio calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        context, known = self._context, self._principal is not None
        self._transport = cast(asyncio.Transport, transport)
        most_bytes = context.limits.max_frame_bytes if known else STRANGERS_FRAME_BYTES
        self._frames = FrameTransport(self._transport, most_bytes, context.budget, self._open.make_room)
        peer = transport.get_extra_info("peername") or ("", 0)
        here = transport.get_extra_info("sockname") or ("", 0)
        self._here = (here[0], here[1])
        self._record = context.connections.open(
            "kafka", f"{peer[0]}:{peer[1]}", lambda: self._in_loop(self._transport.abort)
        )
        if self._principal is not None:
            self._record.principal = self._principal.name
        self._open.add(self)

    def data_received(self, data: bytes) -> None:
        self._record.heard_ns = self._context.host.now_ns
        self._record.bytes_in += len(data)
        self._frames.receive(data)
        self._serve_next()

    def pause_writing(self) -> None:
        self._frames.pause_writing()

    def resume_writing(self) -> None:
        self._frames.resume_writing()
        self._serve_next()

    def connection_lost(self, exc: Exception | None) -> None:
        """Release what the connection holds, and cancel the request that still waits."""
        self._frames.release()
        self._open.remove(self)
        if self._record.requests and not self._context.host.closing:
            self._or_close(lambda: self._context.host.call(self._end))
        self._context.connections.closed(self._record)

    def _end(self, now_ns: int) -> None:
        context, record, request = self._context, self._record, self._request
        broker = context.host.broker
        try:
            if request is not None and request.waiting is not None:
                cancel, request.waiting = request.waiting.cancel, None
                if cancel is not None:
                    cancel()
        finally:
            context.readers.closed(now_ns, broker, record.id)
            context.share_sessions.lost(broker, now_ns, record.id)
            context.connections.closed(record)
            broker.groups.lost(now_ns, record.group, self._member_id)
            if record.messages_in and not context.connections.publishes(record.client):
                context.host.events.emit(now_ns, EventKind.CONNECTION_ENDED, client=record.client)

    # -- its end

    @property
    def is_known(self) -> bool:
        return self._principal is not None

    @property
    def held_bytes(self) -> int:
        return self._frames.held_bytes

    def check(self, now_s: float) -> None:
        """Cut it if it has been silent or slow for too long."""
        limits, silent_s = self._context.limits, now_s - self._frames.heard_s
        partial_ms = limits.header_timeout_ms if self._principal is None else limits.body_timeout_ms
        why = self._frames.overdue(now_s, partial_ms, limits)
        if not why and not self._busy and silent_s > IDLE_S:
            why = "it was silent"
        if not why and self._principal is None and silent_s > limits.header_timeout_ms / 1_000:
            why = "it did not authenticate in time"
        if why:
            self._hang_up(why)

    def cut(self, why: str) -> None:
        """End it at once; its last error says why."""
        self._hang_up(why)
        self._open.remove(self)
        self._frames.release()

    def abort(self) -> None:
        self._transport.abort()

    def _hang_up(self, why: str) -> None:
        if not self._transport.is_closing():
            self._record.failed(f"cut: {why}")
            self._count(0)
            self._transport.abort()

    def _or_close(self, action: Callable[[], object]) -> None:
        """`action()`; what it raises ends the connection, as Kafka does if it cannot answer."""
        try:
            action()
        except DroppedError:
            self._count(0)
            self._transport.close()
        except BrokerError as error:
            self._hang_up(str(error))
        except Exception:
            _log.exception("a request could not be served")
            self._hang_up("a fault of the broker")

    # -- the loop

    def _serve_next(self) -> None:
        """Serve received requests, one after the other."""
        frames = self._frames
        while not self._busy and frames.is_open_for_frames and (frames.is_idle or not self._is_paused()):
            try:
                frame = frames.next_frame()
            except TooLargeError as error:
                self._hang_up(str(error))
                break
            if frame is None:
                break
            self._busy = True
            self._or_close(partial(self._serve, frame))
        frames.read_on(self._busy or self._looks_again)

    def _is_paused(self) -> bool:
        """Whether the session is paused, so that requests wait; it looks again soon."""
        paused = self._context.host.is_paused
        if paused and not self._looks_again:
            self._looks_again = True
            self._loop.call_later(_PAUSED_S, self._look_again)
        return paused

    def _look_again(self) -> None:
        self._looks_again = False
        self._serve_next()

    def _in_loop(self, action: Callable[[], object]) -> None:
        """Run `action` in the listener's thread, from any; not at all if the listener is closed."""
        here = threading.get_ident() == self._thread
        with contextlib.suppress(RuntimeError):
            (self._loop.call_soon if here else self._loop.call_soon_threadsafe)(action)  # the latter wakes the loop

    def _after(self, delay_s: float) -> Reply[None]:
        """Settled in the listener's thread after `delay_s`; from any thread."""
        over: Reply[None] = Reply()
        self._in_loop(lambda: self._loop.call_later(delay_s, over.resolve, None))
        return over

    # -- serving

    def _serve(self, frame: Data) -> None:
        header = header_of(frame)
        self._record.requests += 1
        api = TABLE.get(header.api_key)
        if api is None or not api.oldest <= header.version <= api.newest:
            self._answer_unsupported(header, frame)
            return
        request = self._begin(header, api.name, frame)
        request.client, body = request_of(header, frame, api.most_elements)
        request.body = body
        self._record.client = request.client[:100]
        self._record.group = getattr(body, "group_id", None) or self._record.group
        self._member_id = getattr(body, "member_id", None) or self._member_id
        if self._principal is None and api.name not in _BEFORE_AUTHENTICATION:
            raise BrokerError(ErrorCode.UNAUTHORIZED, f"{api.name} before it authenticated")
        if api.name == "SaslHandshake":
            self._exchange = self._new_exchange(body.mechanism)
            self._send(request, sasl.handshake(body))
        elif api.name == "SaslAuthenticate":
            self._authenticate(request)
        else:
            self._answer_under_lock(request, lambda now_ns: self._judge(request, now_ns, len(frame)))

    def _begin(self, header: Header, api: str, frame: Data) -> RequestInProgress:
        began_ns, errors = time.perf_counter_ns(), self._record.errors
        served = Served(api, header.version, header.correlation_id, len(frame), began_ns, errors)
        self._request = request = RequestInProgress(header, served)
        return request

    def _answer_unsupported(self, header: Header, frame: Data) -> None:
        """Answers UNSUPPORTED_VERSION in the nearest version whose form is known.

        Or closes the connection if the response has no error field.
        """
        name = TABLE[header.api_key].name if header.api_key in TABLE else f"API {header.api_key}"
        error = BrokerError(ErrorCode.UNSUPPORTED_VERSION, f"{name} v{header.version} is not served")
        request = self._begin(header, name, frame)
        self._record.failed(str(error))
        nearest = 0 if name == "ApiVersions" else nearest_version(header)
        if nearest is None:
            raise error
        request.header = known = Header(header.api_key, nearest, header.correlation_id)
        body: Body | None = None
        if name == "ApiVersions":
            body = versions(error.code)
        elif self._principal is None:
            raise error
        elif header.version >= nearest:
            # What a later version adds stands behind the rest.
            with contextlib.suppress(BrokerError):
                request.client, request.body = request_of(known, frame, MOST_ELEMENTS)
                body = self._context.host.call(lambda _now: self._refused(request, error.code.code))
        if body is None and has_error_code(known):
            body = failed(error)
        if body is None:
            raise error
        self._send(request, body)

    def _new_exchange(self, mechanism: str) -> sasl.Exchange:
        context = self._context
        return sasl.Exchange(context.access, context.host.broker.access.credentials, mechanism)

    def _authenticate(self, request: RequestInProgress) -> None:
        try:
            answer = self._exchange.step(bytes(request.body.auth_bytes))
        except BrokerError as error:
            self._record.failed(str(error))
            self._send(request, failed(error))
            self._transport.close()
            return
        if self._exchange.principal is not None:
            self._principal = self._exchange.principal
            self._frames.most_bytes = self._context.limits.max_frame_bytes
            self._open.authenticated(self)
            self._record.principal = self._principal.name
        self._send(request, {"auth_bytes": answer})

    def _judge(self, request: RequestInProgress, now_ns: int, size_bytes: int) -> Answer:
        """The answer to a request of `size_bytes`, by the fault that it meets if there is one."""
        faults = self._context.host.broker.client_faults
        if faults.any:
            api = TABLE[request.header.api_key].name
            request.fault = faults.judge(now_ns, client_request(self._call(request, now_ns), api, request.body))
            if request.fault is not None:
                return self._disturbed(request, request.fault, now_ns, size_bytes)
        return self._handled(request, now_ns)

    def _handled(self, request: RequestInProgress, now_ns: int) -> Answer:
        try:
            return TABLE[request.header.api_key].handle(self._call(request, now_ns), request.body)
        except BrokerError as error:
            self._record.failed(str(error))
            return failed(error)

    def _disturbed(self, request: RequestInProgress, fault: ClientFault, now_ns: int, size_bytes: int) -> Answer:
        """The answer to a request that `fault` affects; `Waiting` if it is delayed."""
        self._record.failed(f"fault {fault.name}: {fault.what}")
        if fault.effect == "hold":
            ended = self._context.host.broker.client_faults.ended(fault.name)
            return Waiting(ended, lambda _ended, later_ns: self._handled(request, later_ns))
        late_s = fault.late_s(size_bytes)
        if late_s:
            return Waiting(self._after(late_s), lambda _over, later_ns: self._handled(request, later_ns))
        if not fault.answer and fault.effect != "drop":
            return self._handled(request, now_ns)
        body = self._refused(request, KAFKA_ERRORS[fault.answer]) if fault.answer else None
        if body is None:
            raise DroppedError
        return body

    def _refused(self, request: RequestInProgress, code: int) -> Body | None:
        """A response that is that error and nothing else; None if the API has no place for one."""
        return refused(self._call(request, 0), request.header.api_key, request.body, code)

    def _call(self, request: RequestInProgress, now_ns: int) -> Call:
        return Call(
            self._context,
            self._record,
            self._principal or ANYBODY,  # a stranger may ask for versions only
            request.client or f"kafka-{self._record.id}",
            request.header.version,
            now_ns,
            *self._here,
        )

    # -- answering

    def _answer_under_lock(self, request: RequestInProgress, ask: Callable[[int], Answer]) -> None:
        """`ask(now_ns)` under the host's lock, and deliver what it answers, now or later."""

        def run(now_ns: int) -> Answer:
            answer = ask(now_ns)
            while isinstance(answer, Waiting) and answer.reply.done:
                answer = answer.answer(answer.reply, now_ns)
            if isinstance(answer, Waiting):
                waiting = request.waiting = answer
                waiting.reply.then(lambda _reply: self._in_loop(lambda: self._resume(request, waiting)))
            return answer

        self._deliver(request, self._context.host.call(run))

    def _resume(self, request: RequestInProgress, waiting: Waiting) -> None:
        if request.waiting is waiting:
            request.waiting = None
            self._or_close(lambda: self._answer_under_lock(request, partial(waiting.answer, waiting.reply)))

    def _deliver(self, request: RequestInProgress, answer: Answer) -> None:
        if answer is None:
            self._answer_nothing(request)
        elif isinstance(answer, Later):
            self._answer_from_worker(request, answer.work)
        elif isinstance(answer, WhenDurable):
            self._answer_when_durable(request, answer.body)
        elif not isinstance(answer, Waiting):
            self._send(request, answer)

    def _answer_nothing(self, request: RequestInProgress) -> None:
        if request.fault is not None and request.fault.effect == "lose_reply":
            raise DroppedError
        request.throttle_ms = self._throttle_ms(request, 0)
        self._count(0)
        self._done(request)

    def _answer_from_worker(self, request: RequestInProgress, make: Callable[[], Body]) -> None:
        def work() -> tuple[Body, list[Data]]:
            body = make()
            return body, pieces(request.header, body)

        def made(future: Future[tuple[Body, list[Data]]]) -> None:
            self._in_loop(lambda: self._or_close(lambda: self._send(request, *future.result())))

        self._workers.submit(work).add_done_callback(made)

    def _answer_when_durable(self, request: RequestInProgress, body: Body) -> None:
        """`body`, or what Kafka's coordinator answers if it cannot write: clients ask again."""

        def answer(done: Reply[None], _now_ns: int) -> Answer:
            if done.error is None:
                return body
            self._record.failed(str(done.error))
            return self._refused(request, KAFKA_ERRORS["NOT_COORDINATOR"])

        durable: Reply[None] = self._context.host.durable()
        if durable.done:
            self._send(request, body)
        else:
            self._answer_under_lock(request, lambda _now: Waiting(durable, answer))

    def _send(self, request: RequestInProgress, body: Body, frame: list[Data] | None = None) -> None:
        """Send `body`, of which `frame` is the bytes, unless the fault loses it; then the next request may come."""
        header, fault = request.header, request.fault
        frame = pieces(header, body) if frame is None else frame
        size_bytes = sum(map(len, frame))
        request.throttle_ms = self._throttle_ms(request, size_bytes)
        if request.throttle_ms:
            frame = pieces(header, {**body, "throttle_time": request.throttle_ms})
        if fault is not None and fault.effect in {"lose_reply", "cut_reply"}:
            if fault.effect == "cut_reply":
                self._transport.write(b"".join(frame)[: size_bytes // 2])
            raise DroppedError
        self._record.bytes_out += size_bytes
        self._count(size_bytes)  # before the client knows
        done = partial(self._done, request)
        if fault is not None and fault.effect in {"bandwidth", "slice"}:
            after, whole = self._after, memoryview(b"".join(frame))
            send_pieces(whole, fault, lambda s, go_on: after(s).then(lambda _over: go_on()), self._frames.write, done)
        else:
            self._frames.write(*frame)
            done()

    def _throttle_ms(self, request: RequestInProgress, reply_bytes: int) -> int:
        """How many milliseconds the client is held for, by a fault or by its quota."""
        fault = request.fault
        if fault is not None and fault.effect == "throttle":
            return round(fault.delay_ms)
        served, principal = request.served, self._principal
        if served is None or principal is None:
            return 0
        return quota_throttle_ms(
            self._context.host,
            principal.name,
            self._record.client,
            served.api,
            size_bytes=served.size_bytes,
            reply_bytes=reply_bytes,
        )

    def _count(self, reply_bytes: int) -> None:
        """Count the request that is served as answered; 0 bytes are no response. Only the first time."""
        if self._request is not None and self._request.served is not None:
            served, self._request.served = self._request.served, None
            self._context.connections.answered(self._record, served, reply_bytes)

    def _done(self, request: RequestInProgress) -> None:
        """Another request may be served, once the throttle time has passed."""
        if request.throttle_ms:
            self._after(request.throttle_ms / 1_000).then(lambda _over: self._next())
        else:
            self._next()

    def _next(self) -> None:
        self._busy, self._request = False, None
        # A request that was answered at once is followed by the next in the loop that called.
        self._loop.call_soon(self._serve_next)
