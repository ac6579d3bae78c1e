"""One connection of the Kafka listener. Everything here runs in the listener's thread.

One request is served at a time, as Kafka does, so responses come in the order of the requests, and what follows a
parked fetch waits in the socket. What cannot be read is answered by closing the connection.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import struct
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future
from functools import partial
from itertools import islice
from typing import Any, cast

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
    WhenKept,
    failed,
)
from broker_core.listeners.kafka.codec import Header, has_error_code, header_of, nearest_version, pieces, request_of
from broker_core.listeners.kafka.pieces import send_pieces
from broker_core.listeners.kafka.refused import client_request, refused
from broker_core.replies import Reply

_log = logging.getLogger(__name__)
_LENGTH = struct.Struct(">i")
_MOST_PIECES = 1_024  # IOV_MAX of Linux
_RESTS_S = 0.05  # between two looks whether a paused session goes on
IDLE_S = 600.0  # Kafka's connections.max.idle.ms
_BEFORE_AUTHENTICATION = {"ApiVersions", "SaslHandshake", "SaslAuthenticate"}


class DroppedError(Exception):
    """A fault closes the connection."""


class KafkaConnection(asyncio.Protocol):
    """Reads requests, has them served, writes the responses."""

    def __init__(self, context: KafkaContext, others: OpenConnections[KafkaConnection], workers: Executor) -> None:
        self._context, self._open, self._workers = context, others, workers
        self._loop, self._thread = asyncio.get_running_loop(), threading.get_ident()
        self._transport = cast(asyncio.Transport, None)
        self._seen = cast(Connection, None)
        self._here = ("", 0)
        self._buffer = bytearray()
        self._principal: Principal | None = ANYBODY if context.access.open else None
        # A client that omits the handshake means PLAIN, as Kafka's did before SaslHandshake 1.
        self._exchange = self._new_exchange(sasl.PLAIN)
        self._waiting: Waiting | None = None
        self._fault: ClientFault | None = None  # that the request meets which is served
        self._served: Served | None = None  # the request that is served
        self._refuse: Callable[[int], Body | None] = lambda _code: None  # that request, with an error code
        self._throttle_ms = 0  # how long the next request waits
        self._busy = False  # a request is being served
        self.held_bytes = 0  # what it has sent and nobody has served yet, and answers that it has not read
        self._unread_bytes = 0
        self._unsent: deque[memoryview] = deque()  # of the response, what the transport has not got
        self._descriptor: int | None = None  # of the socket; None with TLS
        self._stuck_since_s: float | None = None  # since then it has read nothing of what waits for it
        self._partial_since_s: float | None = None
        self._heard_s = time.monotonic()
        self._reading = True
        self._resting = False  # while the session is paused
        self.lost = False
        self._member_id = ""  # of the group that it named last

    # -- what asyncio calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        if transport.get_extra_info("sslcontext") is None:
            self._transport.set_write_buffer_limits(0)  # so it has nothing where we write, too
            self._descriptor = transport.get_extra_info("socket").fileno()
        peer = transport.get_extra_info("peername") or ("", 0)
        here = transport.get_extra_info("sockname") or ("", 0)
        self._here = (here[0], here[1])
        self._seen = self._context.connections.open(
            "kafka", f"{peer[0]}:{peer[1]}", lambda: self._in_loop(self._transport.abort)
        )
        if self._principal is not None:
            self._seen.principal = self._principal.name
        self._open.add(self)

    def data_received(self, data: bytes) -> None:
        self._heard_s = time.monotonic()
        self._seen.heard_ns = self._context.host.now_ns
        self._seen.bytes_in += len(data)
        self._buffer += data
        self._count_held()
        self._go_on()

    def pause_writing(self) -> None:
        self._stuck_since_s = time.monotonic()

    def resume_writing(self) -> None:
        self._stuck_since_s = None
        self._push()
        self._count_held()
        self._go_on()

    def connection_lost(self, exc: Exception | None) -> None:
        """It is gone; what it waited for is waited for no longer."""
        self.lost = True
        self._release()
        readers, host, waiting = self._context.readers, self._context.host, self._waiting
        self._waiting = None
        self._open.remove(self)
        if waiting is not None and waiting.cancel is not None and not host.closing:
            cancel = waiting.cancel
            self._tried(lambda: host.call(lambda _now: cancel()))
        if readers.knows(self._seen.id) and not host.closing:
            self._tried(lambda: host.call(lambda now_ns: readers.closed(now_ns, host.broker, self._seen.id)))
        sessions = self._context.share_sessions
        if sessions and not host.closing:
            self._tried(lambda: host.call(lambda now_ns: sessions.lost(host.broker, now_ns, self._seen.id)))
        self._context.connections.closed(self._seen)
        if (self._member_id or self._seen.messages_in) and not host.closing:
            self._tried(lambda: host.call(self._tell_end))

    def _tell_end(self, now_ns: int) -> None:
        seen, host = self._seen, self._context.host
        host.broker.groups.lost(now_ns, seen.group, self._member_id)
        if seen.messages_in and not self._context.connections.publishes(seen.client):
            host.events.emit(now_ns, EventKind.CONNECTION_ENDED, client=seen.client)

    # -- deadlines

    def check(self, now_s: float) -> None:
        """Cut it if it has been silent or slow for too long."""
        limits = self._context.limits
        if self._unread_bytes:
            before_bytes = self._unread_bytes
            self._count_held()
            if self._stuck_since_s is not None and self._unread_bytes < before_bytes:
                self._stuck_since_s = now_s
        partial_ms = limits.header_timeout_ms if self._principal is None else limits.body_timeout_ms
        if self._partial_since_s is not None and now_s - self._partial_since_s > partial_ms / 1_000:
            self._hang_up("a request that does not end")
        elif self._stuck_since_s is not None and now_s - self._stuck_since_s > limits.write_timeout_ms / 1_000:
            self._hang_up("it does not read its responses")
        elif not self._busy and now_s - self._heard_s > IDLE_S:
            self._hang_up("it was silent")
        elif self._principal is None and now_s - self._heard_s > limits.header_timeout_ms / 1_000:
            self._hang_up("it did not authenticate in time")

    @property
    def is_known(self) -> bool:
        return self._principal is not None

    def _count_held(self) -> None:
        self._unread_bytes = self._transport.get_write_buffer_size() + sum(map(len, self._unsent))
        held_bytes = len(self._buffer) + self._unread_bytes
        self._context.budget.bytes += held_bytes - self.held_bytes
        self.held_bytes = held_bytes

    def cut(self, why: str) -> None:
        """End it at once; its last error says why."""
        self._hang_up(why)
        self._open.remove(self)
        self._release()

    def _release(self) -> None:
        self._buffer.clear()
        self._unsent.clear()
        self._context.budget.bytes -= self.held_bytes
        self.held_bytes = self._unread_bytes = 0

    def abort(self) -> None:
        self._transport.abort()

    def _hang_up(self, why: str) -> None:
        if not self._transport.is_closing():
            self._seen.failed(f"cut: {why}")
            self._note(0)
            self._transport.abort()

    # -- frames

    def _go_on(self) -> None:
        """Serve received requests, one after the other."""
        while not (self._busy or self._transport.is_closing() or self._stuck_since_s is not None):
            if self._buffer and self._rests():
                break
            frame = self._next_frame()
            if frame is None:
                break
            self._busy = True
            self._tried(partial(self._serve, frame))
        held = self._busy or self._stuck_since_s is not None
        reading = not held or len(self._buffer) < self._most_bytes()
        if reading != self._reading and not self._transport.is_closing():
            self._reading = reading
            (self._transport.resume_reading if reading else self._transport.pause_reading)()

    def _rests(self) -> bool:
        """Whether the session is paused, so that requests wait; it looks again soon."""
        paused = self._context.host.is_paused
        if paused and not self._resting:
            self._resting = True
            self._loop.call_later(_RESTS_S, self._wake)
        return paused

    def _wake(self) -> None:
        self._resting = False
        self._go_on()

    def _in_loop(self, action: Callable[[], object]) -> None:
        """Run `action` in the listener's thread, from any; not at all if the listener is closed."""
        here = threading.get_ident() == self._thread
        with contextlib.suppress(RuntimeError):
            (self._loop.call_soon if here else self._loop.call_soon_threadsafe)(action)  # the latter wakes the loop

    def _later(self, delay_s: float) -> Reply[None]:
        """Settled in the listener's thread after `delay_s`; from any thread."""
        over: Reply[None] = Reply()
        self._in_loop(lambda: self._loop.call_later(delay_s, over.resolve, None))
        return over

    def _most_bytes(self) -> int:
        return STRANGERS_FRAME_BYTES if self._principal is None else self._context.limits.max_frame_bytes

    def _next_frame(self) -> Data | None:
        buffer = self._buffer
        if len(buffer) < _LENGTH.size:
            self._partial_since_s = None if not buffer else self._partial_since_s or time.monotonic()
            return None
        (size,) = _LENGTH.unpack_from(buffer)
        if not 0 < size <= self._most_bytes():
            self._hang_up(f"a request of {size} bytes, where {self._most_bytes()} are the most")
            return None
        end = _LENGTH.size + size
        if len(buffer) < end:
            self._open.make_room()
            self._partial_since_s = self._partial_since_s or time.monotonic()
            return None
        self._partial_since_s = None
        if 2 * end < len(buffer):
            frame = memoryview(bytes(memoryview(buffer)[:end]))
            del buffer[:end]
        else:  # what is behind it is less to copy
            frame, self._buffer = memoryview(buffer)[:end], buffer[end:]
        self._count_held()
        return frame[_LENGTH.size :]

    # -- serving

    def _serve(self, frame: Data) -> None:
        header = header_of(frame)
        self._fault = None
        self._seen.requests += 1
        api = TABLE.get(header.api_key)
        if api is None or not api.oldest <= header.version <= api.newest:
            self._answer_unsupported(header, frame)
            return
        self._begin(header, api.name, frame)
        client, request = request_of(header, frame, api.most_elements)
        self._seen.client = client[:100]
        self._seen.group = getattr(request, "group_id", None) or self._seen.group
        self._member_id = getattr(request, "member_id", None) or self._member_id
        if self._principal is None and api.name not in _BEFORE_AUTHENTICATION:
            raise BrokerError(ErrorCode.UNAUTHORIZED, f"{api.name} before it authenticated")
        if api.name == "SaslHandshake":
            self._exchange = self._new_exchange(request.mechanism)
            self._write(header, header.version, sasl.handshake(request))
        elif api.name == "SaslAuthenticate":
            self._authenticate(header, request)
        else:
            self._handle(header, client, request, len(frame))

    def _begin(self, header: Header, api: str, frame: Data) -> None:
        began_ns, errors = time.perf_counter_ns(), self._seen.errors
        self._served = Served(api, header.version, header.correlation_id, len(frame), began_ns, errors)

    def _answer_unsupported(self, header: Header, frame: Data) -> None:
        """UNSUPPORTED_VERSION, in the nearest version whose form is known; closed where that has no place for it."""
        name = TABLE[header.api_key].name if header.api_key in TABLE else f"API {header.api_key}"
        error = BrokerError(ErrorCode.UNSUPPORTED_VERSION, f"{name} v{header.version} is not served")
        self._begin(header, name, frame)
        self._seen.failed(str(error))
        if name == "ApiVersions":
            self._write(header, 0, versions(error.code))
            return
        nearest = nearest_version(header)
        if self._principal is None or nearest is None:
            raise error
        known = Header(header.api_key, nearest, header.correlation_id)
        body: Body | None = None
        if header.version >= nearest:
            # What a later version adds stands behind the rest.
            with contextlib.suppress(BrokerError):
                client, request = request_of(known, frame, MOST_ELEMENTS)
                principal = self._principal
                body = self._context.host.call(
                    lambda now_ns: refused(
                        self._call(known, client, principal, now_ns), header.api_key, request, error.code.code
                    )
                )
        if body is None and has_error_code(known):
            body = failed(error)
        if body is None:
            raise error
        self._write(known, nearest, body)

    def _new_exchange(self, mechanism: str) -> sasl.Exchange:
        context = self._context
        return sasl.Exchange(context.access, context.host.broker.access.credentials, mechanism)

    def _authenticate(self, header: Header, request: Any) -> None:
        try:
            answer = self._exchange.step(bytes(request.auth_bytes))
        except BrokerError as error:
            self._seen.failed(str(error))
            self._write(header, header.version, failed(error))
            self._transport.close()
            return
        if self._exchange.principal is not None:
            self._principal = self._exchange.principal
            self._open.authenticated(self)
            self._seen.principal = self._principal.name
        self._write(header, header.version, {"auth_bytes": answer})

    def _handle(self, header: Header, client: str, request: Any, size_bytes: int) -> None:
        api, principal = TABLE[header.api_key], self._principal or ANYBODY  # a stranger may ask for versions only
        self._refuse = lambda code: refused(self._call(header, client, principal, 0), api.key, request, code)

        def serve(now_ns: int) -> Answer:
            call = self._call(header, client, principal, now_ns)
            try:
                return api.handle(call, request)
            except BrokerError as error:
                self._seen.failed(str(error))
                return failed(error)

        def judge(now_ns: int) -> Answer:
            faults = self._context.host.broker.client_faults
            if faults.any:
                call = self._call(header, client, principal, now_ns)
                self._fault = faults.judge(now_ns, client_request(call, api.name, request))
            return serve(now_ns) if self._fault is None else self._disturbed(self._fault, serve, now_ns, size_bytes)

        self._answer_under_lock(header, judge)

    def _disturbed(self, fault: ClientFault, serve: Callable[[int], Answer], now_ns: int, size_bytes: int) -> Answer:
        """What a request of `size_bytes` that meets `fault` is answered, or that it is served, now or later."""
        said = f"fault {fault.name}: {fault.what}"
        self._seen.failed(said)
        if fault.effect == "hold":
            over = self._context.host.broker.client_faults.over(fault.name)
            return Waiting(over, lambda _over, later_ns: serve(later_ns))
        late_s = fault.late_s(size_bytes)
        if late_s:
            return Waiting(self._later(late_s), lambda _over, later_ns: serve(later_ns))
        if not fault.answer and fault.effect != "drop":
            return serve(now_ns)
        body = self._refuse(KAFKA_ERRORS[fault.answer]) if fault.answer else None
        if body is None:
            raise DroppedError(said)
        return body

    def _call(self, header: Header, client: str, principal: Principal, now_ns: int) -> Call:
        return Call(
            self._context,
            self._seen,
            principal,
            client or f"kafka-{self._seen.id}",
            header.version,
            now_ns,
            *self._here,
        )

    def _answer_under_lock(self, header: Header, ask: Callable[[int], Answer]) -> None:
        """`ask(now_ns)` under the host's lock, and deliver what it answers, now or later."""

        def run(now_ns: int) -> Answer:
            answer = ask(now_ns)
            while isinstance(answer, Waiting) and answer.reply.done:
                answer = answer.answer(answer.reply, now_ns)
            if isinstance(answer, Waiting):
                waiting = self._waiting = answer
                waiting.reply.then(lambda _reply: self._in_loop(lambda: self._came(header, waiting)))
            return answer

        self._deliver(header, self._context.host.call(run))

    def _deliver(self, header: Header, answer: Answer) -> None:
        if answer is None:
            self._answer_nothing()
        elif isinstance(answer, Later):
            self._answer_from_worker(header, answer.work)
        elif isinstance(answer, WhenKept):
            self._answer_when_kept(header, answer.body)
        elif not isinstance(answer, Waiting):
            self._write(header, header.version, answer)

    def _answer_nothing(self) -> None:
        if self._fault is not None and self._fault.effect == "lose_reply":
            self._note(0)
            self._transport.close()
        else:
            self._throttle_ms = self._throttle(0)
            self._note(0)
            self._done()

    def _answer_from_worker(self, header: Header, make: Callable[[], Body]) -> None:
        def work() -> tuple[Body, list[Data]]:
            body = make()
            return body, pieces(header, header.version, body)

        def made(future: Future[tuple[Body, list[Data]]]) -> None:
            self._in_loop(lambda: self._tried(lambda: self._send(header, *future.result())))

        self._workers.submit(work).add_done_callback(made)

    def _answer_when_kept(self, header: Header, body: Body) -> None:
        kept: Reply[None] = self._context.host.kept()
        if kept.done:
            self._write(header, header.version, body)
        else:
            waiting = Waiting(kept, lambda done, _now_ns: self._kept(done, body))
            self._answer_under_lock(header, lambda _now: waiting)

    def _kept(self, done: Reply[None], body: Body) -> Answer:
        """`body`, or what Kafka's coordinator answers if it cannot write: clients ask again."""
        if done.error is None:
            return body
        self._seen.failed(str(done.error))
        return self._refuse(KAFKA_ERRORS["NOT_COORDINATOR"])

    def _came(self, header: Header, waiting: Waiting) -> None:
        if self._waiting is waiting:
            self._waiting = None
            self._tried(lambda: self._answer_under_lock(header, lambda now_ns: waiting.answer(waiting.reply, now_ns)))

    def _write(self, header: Header, version: int, body: Body) -> None:
        self._send(header, body, pieces(header, version, body))

    def _send(self, header: Header, body: Body, frame: list[Data]) -> None:
        fault, size_bytes = self._fault, sum(map(len, frame))
        self._throttle_ms = self._throttle(size_bytes)
        if self._throttle_ms:
            frame = pieces(header, header.version, {**body, "throttle_time": self._throttle_ms})
        if fault is not None and fault.effect in {"lose_reply", "cut_reply"}:
            if fault.effect == "cut_reply":
                self._transport.write(b"".join(frame)[: size_bytes // 2])
            self._note(0)
            self._transport.close()
            return
        self._seen.bytes_out += size_bytes
        self._note(size_bytes)  # before the client knows
        if fault is not None and fault.effect in {"bandwidth", "slice"}:
            later, whole = self._later, memoryview(b"".join(frame))
            send_pieces(whole, fault, lambda s, action: later(s).then(lambda _over: action()), self._put, self._done)
        else:
            self._put(*frame)
            self._done()

    def _put(self, *data: Data) -> bool:
        """False if nobody reads it any more."""
        if not self._transport.is_closing():
            self._unsent.extend(map(memoryview, data))
            self._push()
            self._count_held()
            if self._unread_bytes:
                self._open.make_room()
        return not self._transport.is_closing()

    def _push(self) -> None:
        """Give the socket what it takes, without a copy. The transport gets what comes next, and says when to go on."""
        unsent, transport = self._unsent, self._transport
        while unsent and self._stuck_since_s is None and not transport.is_closing():
            if self._descriptor is not None and len(unsent) > 1:
                sent_bytes = 0
                with contextlib.suppress(OSError):  # the transport meets it, too
                    sent_bytes = os.writev(self._descriptor, [*islice(unsent, _MOST_PIECES)])
                while unsent and sent_bytes >= len(unsent[0]):
                    sent_bytes -= len(unsent.popleft())
                if unsent:
                    unsent[0] = unsent[0][sent_bytes:]
            if unsent:
                transport.write(unsent.popleft())

    def _done(self) -> None:
        throttle_ms, self._throttle_ms = self._throttle_ms, 0
        if throttle_ms:
            self._later(throttle_ms / 1_000).then(lambda _over: self._next())
        else:
            self._next()

    def _throttle(self, reply_bytes: int) -> int:
        """How many milliseconds the client is held for, by a fault or by its quota."""
        fault = self._fault
        if fault is not None and fault.effect == "throttle":
            return round(fault.delay_ms)
        served, principal = self._served, self._principal
        if served is None or principal is None:
            return 0
        return quota_throttle_ms(
            self._context.host,
            principal.name,
            self._seen.client,
            served.api,
            size_bytes=served.size_bytes,
            reply_bytes=reply_bytes,
        )

    def _note(self, reply_bytes: int) -> None:
        served, self._served = self._served, None
        if served is not None:
            self._context.connections.answered(self._seen, served, reply_bytes)

    def _next(self) -> None:
        self._busy = False
        self._refuse = lambda _code: None  # it would hold the request
        # A request that was answered at once is followed by the next in the loop that called.
        self._loop.call_soon(self._go_on)

    def _tried(self, action: Callable[[], object]) -> None:
        """`action()`; what it raises ends the connection, as Kafka does if it cannot answer."""
        try:
            action()
        except DroppedError:
            self._note(0)
            self._transport.close()
        except BrokerError as error:
            self._hang_up(str(error))
        except Exception:
            _log.exception("a request could not be served")
            self._hang_up("a fault of the broker")
