"""The path of the bytes: a client's connection and the one to the cluster that belongs to it. Frames, correlation ids,
addresses and faults, and nothing else; what is to be seen is handed to whatever `Observer`.

All of it runs in one thread. The answers of a connection keep their order, as Kafka's do; a request that a fault holds
or delays holds up those behind it, as one that a broker has not served yet would.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import ssl
import struct
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Final, cast

import msgspec

from broker_core.access import AccessTable
from broker_core.clock import NS_PER_S
from broker_core.errors import BrokerError, ErrorCode
from broker_core.faults.client_faults import ClientFault, ClientFaults
from broker_core.faults.kafka_names import KAFKA_ERRORS
from broker_core.listeners.access.access import ANYBODY, Access
from broker_core.listeners.access.open_connections import STRANGERS_FRAME_BYTES, OpenConnections
from broker_core.listeners.between import rewriting
from broker_core.listeners.between.asked_requests import CLIENT_ID_AT, AskedRequest, TopicNames, acks
from broker_core.listeners.between.frames import MOST_ANSWER_BYTES, MOST_REQUEST_BYTES, Frames
from broker_core.listeners.between.rewriting import API_VERSIONS, FETCH, PRODUCE
from broker_core.listeners.between.seen import API_NAMES, Observer, Seen
from broker_core.listeners.connections import Connection, Connections, Served
from broker_core.listeners.kafka import sasl
from broker_core.listeners.kafka.call import failed
from broker_core.listeners.kafka.codec import Header, header_of, request_of, response
from broker_core.listeners.kafka.pieces import send_pieces
from broker_core.listeners.kafka.refused import client_request, refused
from broker_core.observation.kafka.authentication import authenticating
from broker_core.observation.kafka.config import ConnectionConfig
from broker_core.observation.kafka.connection import request_frame

_log = logging.getLogger(__name__)
Address = tuple[str, int]
SASL_HANDSHAKE, SASL_AUTHENTICATE = 17, 36
#: Never decoded, kept or disturbed.
_SECRET: Final = frozenset({SASL_HANDSHAKE, SASL_AUTHENTICATE})
_UNDISTURBED: Final = _SECRET | {API_VERSIONS}
_LEAST_REQUEST_BYTES: Final = 14
#: What a broker answers when others have done something. Whoever is not answered has not got anything.
_WAITING: Final = frozenset({FETCH, 11, 14})  # JoinGroup, SyncGroup
_MOST_ELEMENTS: Final = 5_000_000
_LARGE_BYTES: Final = 256 * 1024  # more than comes at once
_BEGINNING: Final = struct.Struct(">ii")  # length and correlation id
_ADDED_KEPT: Final = 20_000
_AUTHENTICATES_S: Final = 10.0
_SAID_AGAIN_NS, _MOST_SAID = 60 * NS_PER_S, 100
#: As we log in: versions that brokers since Kafka 1.0 have.
_SASL_SENT: Final = {"SaslHandshake": (SASL_HANDSHAKE, 1), "SaslAuthenticate": (SASL_AUTHENTICATE, 0)}


class Flight(msgspec.Struct, eq=False):
    """A request that waits for its answer, which is `ready` if it is ours."""

    api_key: int
    version: int
    correlation_id: int
    served: Served
    wanted: bool
    fault: ClientFault | None = None
    ready: bytes | None = None
    took_ns: int = 0  # from the request's last byte until it was passed on


class Passage(ABC):
    """What all connections through the ports share. `told(sentence)` is called for what a user should know."""

    config: ConnectionConfig
    logs_in: bool  # at the cluster, as the user of `config`, for all clients
    access: Access  # what clients need to come in
    cluster_tls: ssl.SSLContext | None
    open_ones: OpenConnections[ClientSide]
    observer: Observer
    now_ns: Callable[[], int]
    told: Callable[[str], object]
    client_faults: ClientFaults
    connections: Connections
    loop: asyncio.AbstractEventLoop

    def __init__(self, names: TopicNames) -> None:
        self.names = names
        self.added_ns: deque[int] = deque(maxlen=_ADDED_KEPT)  # by passing each request and its answer
        self._tasks: set[asyncio.Task[None]] = set()
        self._said: dict[str, int] = {}  # until when it need not be said again

    @abstractmethod
    def port_for(self, node: int, host: str, port: int) -> int:
        """Our port for what listens at `host`:`port`; it is opened for what has none."""

    @property
    def authenticates(self) -> bool:
        """Clients, itself: what they authenticate with does not go to the cluster."""
        return self.logs_in or not self.access.open

    def tell(self, sentence: str) -> None:
        """Report `sentence`, at most once a minute: a client that is cut reconnects at once."""
        now_ns = self.now_ns()
        if now_ns >= self._said.get(sentence, 0):
            if len(self._said) > _MOST_SAID:
                self._said.clear()
            self._said[sentence] = now_ns + _SAID_AGAIN_NS
            self.told(sentence)

    def begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = self.loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def in_loop(self, action: Callable[[], object]) -> None:
        """Run `action` in the event loop; callable from any thread. Does nothing if the loop is closed."""
        with contextlib.suppress(RuntimeError):
            self.loop.call_soon_threadsafe(action)


class _Side(asyncio.Protocol):
    """One end of a connection that is passed on."""

    def __init__(self, most_bytes: int) -> None:
        self.transport = cast(asyncio.Transport, None)
        self._frames = Frames(most_bytes)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)


class ClientSide(_Side):
    """A client's connection, and the one to the cluster that is its own."""

    def __init__(self, ports: Passage, target: Callable[[], Address]) -> None:
        super().__init__(MOST_REQUEST_BYTES if ports.access.open else STRANGERS_FRAME_BYTES)
        self._ports, self._target = ports, target
        self._up: ClusterSide | None = None
        self._ended = False  # the client has nothing more to say
        self._flights: deque[Flight] = deque()
        self._requests: deque[tuple[bytes, int]] = deque()  # with when they came; those that wait behind a fault
        self._holds = 0  # how many faults hold it
        self._full = self._stops = False  # as the cluster takes nothing; as the ports close
        self.held_bytes = 0  # what has come and was not passed on
        self._principal = ANYBODY if ports.access.open else None
        self._exchange = sasl.Exchange(ports.access, AccessTable(), sasl.PLAIN)
        self._out: deque[tuple[bytes, ClientFault | None]] = deque()  # answers; by a fault, piece by piece
        self._ahead_bytes = 0  # of an answer that is not whole yet, what has been passed on
        self._client = b""
        self._seen = cast(Connection, None)

    # -- what asyncio calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        ports = self._ports
        peer = transport.get_extra_info("peername") or ("", 0)
        self._seen = ports.connections.open("between", f"{peer[0]}:{peer[1]}", lambda: ports.in_loop(self.abort))
        ports.open_ones.add(self)
        ports.loop.call_soon(self._read_or_not)  # what is paused earlier is read all the same, before Python 3.11.4
        if not self.is_known:
            self._seen.principal = "nobody yet"
            ports.loop.call_later(_AUTHENTICATES_S, self._must_be_known)
        ports.begin(self._connect())

    @property
    def is_known(self) -> bool:
        return self._principal is not None

    def stop(self) -> None:
        """Pass on no more requests to the cluster; its responses are still passed on."""
        self._stops = True
        self._read_or_not()

    @property
    def owes(self) -> bool:
        """Whether an answer, or a part of one, is on its way to the client."""
        if self.transport.is_closing():
            return False
        begun = self._out or self._ahead_bytes or self.transport.get_write_buffer_size()
        return bool(begun) or any(each.api_key not in _WAITING for each in self._flights)

    def _must_be_known(self) -> None:
        if not self.is_known:
            self.cut("it did not authenticate in time")

    async def _connect(self) -> None:
        host, port = self._target()
        config, tls, up = self._ports.config, self._ports.cluster_tls, ClusterSide(self)
        try:
            async with asyncio.timeout(config.timeout_s):
                await self._ports.loop.create_connection(
                    lambda: up, host, port, ssl=tls, server_hostname=host if tls else None
                )
                if self._ports.logs_in:
                    await up.log_in(config, f"{host}:{port}")
        except BrokerError as error:
            self.cut(error.about)
        except (OSError, UnicodeError) as error:  # the latter of a name that can be no host's
            why = "it did not answer in time" if isinstance(error, TimeoutError) else str(error)
            what = f"{host}:{port} of the cluster cannot be reached from here ({why})"
            self._seen.failed(what)
            self._ports.tell(f"{what}.")  # also if the client was less patient
            self.close()
        if self.transport.is_closing():
            up.end()
            return
        self._up, self._seen.node = up, f"{host}:{port}"
        self._read_or_not()
        self._take(b"")

    def data_received(self, data: bytes) -> None:
        self._seen.heard_ns = self._ports.now_ns()
        self._seen.bytes_in += len(data)
        self._take(data)

    def _take(self, data: bytes) -> None:
        came_ns = time.perf_counter_ns()
        try:
            for frame in self._frames.take(data):
                self._requests.append((frame, came_ns))
            self._go_on()
        except BrokerError as error:
            self.cut(error.about)
        self._count_held()
        self._ports.open_ones.make_room()
        if self._ended and not self.eof_received():
            self.transport.close()

    def _count_held(self) -> None:
        held_bytes = self._frames.held_bytes + sum(len(frame) for frame, _came_ns in self._requests)
        self._ports.open_ones.budget.bytes += held_bytes - self.held_bytes
        self.held_bytes = held_bytes

    def _release(self) -> None:
        self._requests.clear()
        self._frames.clear()
        self._count_held()
        self._ports.open_ones.remove(self)

    def eof_received(self) -> bool:
        """Keep the connection open while the client, which sends no more, may still read responses."""
        self._ended, up = True, self._up
        if up is None or self._waits or self._requests:
            return True
        if not (self._flights or self._out) or not up.transport.can_write_eof():
            return False
        up.transport.write_eof()
        return True

    def pause_writing(self) -> None:
        if self._up is not None:
            self._up.transport.pause_reading()

    def resume_writing(self) -> None:
        if self._up is not None and not self._up.transport.is_closing():
            self._up.transport.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._up is not None:
            self._up.end()
        self._flights.clear()
        self._release()
        self._ports.connections.closed(self._seen)
        self._ports.observer.gone(self._seen)

    # -- requests

    def hold(self, held: bool) -> None:
        """Hold further requests for a fault; False ends one hold."""
        self._holds += 1 if held else -1
        self._read_or_not()
        if not held:
            self._take(b"")

    def full(self, full: bool) -> None:
        """The cluster does not take what the client sends."""
        self._full = full
        self._read_or_not()

    @property
    def _waits(self) -> bool:
        """Whether no request is passed on now."""
        return self._holds > 0 or self._stops or self._up is None

    def _read_or_not(self) -> None:
        if not self.transport.is_closing():
            if self._waits or self._full:
                self.transport.pause_reading()
            else:
                self.transport.resume_reading()

    def _go_on(self) -> None:
        while self._requests and not (self._waits or self.transport.is_closing()):
            self._request(*self._requests.popleft())

    def _request(self, frame: bytes, came_ns: int) -> None:
        if len(frame) < _LEAST_REQUEST_BYTES:
            raise BrokerError(ErrorCode.MALFORMED_REQUEST, f"{len(frame)} bytes, which no request of Kafka's has")
        header = header_of(memoryview(frame)[4:])
        key, version = header.api_key, header.version
        name = API_NAMES.get(key) or f"API {key}"
        self._seen.requests += 1
        if key not in _SECRET:
            size = int.from_bytes(frame[12:14], "big", signed=True)
            client = frame[CLIENT_ID_AT : CLIENT_ID_AT + max(0, size)]
            if client != self._client:
                self._client, self._seen.client = client, client[:100].decode("utf-8", "replace")
        elif key == SASL_HANDSHAKE and version == 0:
            about = "SaslHandshake v0 cannot be passed on; use a client of Kafka 1.0 or later"
            raise BrokerError(ErrorCode.UNSUPPORTED_VERSION, about)
        if not self.is_known and key not in _UNDISTURBED:
            raise BrokerError(ErrorCode.UNAUTHORIZED, "it has not sent the token that this port asks for (SASL PLAIN)")
        served = Served(name, version, header.correlation_id, len(frame), came_ns, self._seen.errors)
        flight = Flight(key, version, header.correlation_id, served, self._ports.observer.wants(key))
        if key in _SECRET and self._ports.authenticates:
            self._authenticate(header, frame, flight)
        elif self._ports.client_faults.any and key not in _UNDISTURBED and rewriting.newest(key) >= version:
            self._judge(header, frame, flight, came_ns)
        else:
            self._pass(frame, flight, came_ns)

    def _authenticate(self, header: Header, frame: bytes, flight: Flight) -> None:
        """Here, instead of at the cluster."""
        _client, request = request_of(header, memoryview(frame)[4:], _MOST_ELEMENTS)
        if header.api_key == SASL_HANDSHAKE:
            self._exchange = sasl.Exchange(self._ports.access, AccessTable(), request.mechanism)
            body = sasl.handshake(request)
        else:
            try:
                body = {"auth_bytes": self._exchange.step(bytes(request.auth_bytes))}
            except BrokerError as error:
                self._seen.failed(str(error))
                body = failed(error)
            if self._exchange.principal is not None and not self.is_known:
                self._principal, self._frames.most_bytes = self._exchange.principal, MOST_REQUEST_BYTES
                self._seen.principal = self._principal.name
                self._ports.open_ones.authenticated(self)
        self._answer(flight, response(header, body))

    def _answer(self, flight: Flight, frame: bytes) -> None:
        """Ours, when it is its turn."""
        flight.ready = frame
        self._flights.append(flight)
        self._flush()

    def _judge(self, header: Header, frame: bytes, flight: Flight, came_ns: int) -> None:
        ports, faults = self._ports, self._ports.client_faults
        client, request = request_of(header, memoryview(frame)[4:], _MOST_ELEMENTS)
        host, port = self._here()
        node = {"node_id": 0, "broker_id": 0, "host": host, "port": port}
        asked = AskedRequest(client, header.version, node, ports.names, lambda: ports.observer.fetched_by(self._seen))
        fault = flight.fault = faults.judge(ports.now_ns(), client_request(asked, flight.served.api, request))
        if fault is None:
            self._pass(frame, flight, came_ns)
            return
        self._seen.failed(f"fault {fault.name}: {fault.what}")

        def release(_over: object = None) -> None:
            self._pass(frame, flight, time.perf_counter_ns())
            self.hold(False)

        late_s = fault.late_s(len(frame))
        if fault.effect == "hold":
            self.hold(True)
            faults.ended(fault.name).then(release)
        elif late_s:
            self.hold(True)
            ports.loop.call_later(late_s, release)
        elif fault.answer or fault.effect == "drop":
            code = KAFKA_ERRORS[fault.answer] if fault.answer else 0
            body = refused(asked, header.api_key, request, code) if code else None
            if body is None:
                self._end_with(flight)
                return
            self._answer(flight, response(header, body))
        else:
            self._pass(frame, flight, came_ns)

    def _pass(self, frame: bytes, flight: Flight, came_ns: int) -> None:
        up = self._up
        if up is None or up.transport.is_closing() or self.transport.is_closing():
            return
        has_answer = flight.api_key != PRODUCE or acks(frame, flight.version) != 0
        if flight.wanted:
            self._see(flight, frame, is_answer=False)
        if has_answer:
            self._flights.append(flight)
        up.transport.write(frame)
        flight.took_ns = time.perf_counter_ns() - came_ns
        if not has_answer:
            self._ports.connections.answered(self._seen, flight.served, 0)
            if flight.fault is not None and flight.fault.effect in {"lose_reply", "cut_reply"}:
                self._end_with(flight)

    def _see(self, flight: Flight, frame: bytes, *, is_answer: bool, answer: Any = None) -> None:
        which = (flight.api_key, flight.version, flight.correlation_id, self._ports.now_ns())
        self._ports.observer.put(Seen(self._seen, self._seen.client, *which, frame, is_answer, answer))

    # -- answers

    def begins(self, parts: Sequence[bytes]) -> None:
        """Pass on a large Fetch response before it is complete, all but its last part.

        Else the cluster, this program and the client would work one after the other.
        """
        if not self._flights or self._out or len(parts[0]) < _BEGINNING.size:
            return
        flight, (size, correlation_id) = self._flights[0], _BEGINNING.unpack_from(parts[0])
        is_plain_fetch = flight.api_key == FETCH and flight.fault is None and flight.correlation_id == correlation_id
        if is_plain_fetch and size > _LARGE_BYTES:
            for part in parts[-2:-1] if self._ahead_bytes else parts[:-1]:
                self._ahead_bytes += len(part)
                self._write(part)

    def answered(self, frame: bytes, came_ns: int) -> None:
        if not self._flights:
            self.cut("the cluster has answered what nobody asked")
            return
        flight = self._flights.popleft()
        if int.from_bytes(frame[4:8], "big", signed=True) != flight.correlation_id:
            self.cut("the cluster has answered out of order")
            return
        key, version, answer = flight.api_key, flight.version, None
        if key == API_VERSIONS:
            frame = rewriting.versions_cut(version, frame)
        elif rewriting.reads(key, version):
            answer = rewriting.decoded(key, version, frame)
            if key not in rewriting.WHERE_MOVED or answer.node_endpoints:
                frame = rewriting.with_addresses(key, version, frame, self._address_for)
                if self._ahead_bytes:  # its length is told already
                    self.cut("a leader has moved while its answer was passed on")
                    return
        fault = flight.fault
        if fault is not None and fault.effect == "throttle":
            frame = rewriting.with_throttle(key, version, frame, round(fault.delay_ms))
        if flight.wanted:
            self._see(flight, frame, is_answer=True, answer=answer)
        flight.took_ns += time.perf_counter_ns() - came_ns
        self._ports.added_ns.append(flight.took_ns)
        self._send(flight, frame)
        self._flush()

    def _address_for(self, node: int, host: str, port: int) -> Address:
        """The address under which the client reaches a node through us: on the host that it connected to."""
        return self._here()[0], self._ports.port_for(node, host, port)

    def _here(self) -> Address:
        found = self.transport.get_extra_info("sockname") or ("127.0.0.1", 0)
        return found[0], found[1]

    def _flush(self) -> None:
        """Our own answers, as far as it is their turn."""
        while self._flights and (ready := self._flights[0].ready) is not None:
            self._send(self._flights.popleft(), ready)

    def _send(self, flight: Flight, frame: bytes) -> None:
        fault = flight.fault
        if fault is not None and fault.effect in {"lose_reply", "cut_reply"}:
            if fault.effect == "cut_reply":
                self._write(frame[: len(frame) // 2])
            self._end_with(flight)
            return
        self._seen.bytes_out += len(frame)
        self._ports.connections.answered(self._seen, flight.served, len(frame))
        if fault is not None and fault.effect == "throttle":
            self.hold(True)
            self._ports.loop.call_later(fault.delay_ms / 1_000, lambda: self.hold(False))
        if fault is not None and fault.effect not in {"bandwidth", "slice"}:
            fault = None  # it has had its effect
        if self._out or fault is not None:
            self._out.append((frame, fault))
            if len(self._out) == 1:
                self._send_slowly()
        else:
            self._write(memoryview(frame)[self._ahead_bytes :])
            self._ahead_bytes = 0

    def _send_slowly(self) -> None:
        frame, fault = self._out[0]

        def done() -> None:
            self._out.popleft()
            if self._out:
                self._send_slowly()
            elif self._up is not None and self._up.transport.is_closing():
                self.close()

        if fault is None:
            self._write(frame)
            done()
        else:
            send_pieces(memoryview(frame), fault, self._ports.loop.call_later, self._write, done)

    def _write(self, data: bytes | memoryview) -> bool:
        """False if nobody reads it any more."""
        if self.transport.is_closing():
            return False
        self.transport.write(data)
        return True

    # -- the end

    def _end_with(self, flight: Flight) -> None:
        """A fault ends the connection in place of an answer."""
        self._ports.connections.answered(self._seen, flight.served, 0)
        self.close()

    def close(self) -> None:
        if self._up is not None:
            self._up.end()
        self.transport.close()

    def abort(self) -> None:
        if self._up is not None:
            self._up.transport.abort()
        self.transport.abort()

    def left_alone(self) -> None:
        """The cluster has ended it; of an API that we do not know either, that is told."""
        if self._flights and not self.transport.is_closing():
            served = self._flights[0].served
            why = f"the cluster closed it instead of answering {served.api} v{served.version}"
            (self._seen.failed if self._flights[0].api_key in API_NAMES else self.cut)(why)
        if not self._out:  # else after what is going out piece by piece
            self.close()

    def cut(self, why: str) -> None:
        """End it; its last error, and whoever listens to what is told, say why."""
        if not self.transport.is_closing():
            self._seen.failed(f"cut: {why}")
            whose = f"The connection of {self._seen.client}" if self._seen.client else "A connection"
            self._ports.tell(f"{whose} was cut: {why}.")
            self.close()
        self._release()


class ClusterSide(_Side):
    """The connection to a node of the cluster that belongs to one client."""

    def __init__(self, client: ClientSide) -> None:
        super().__init__(MOST_ANSWER_BYTES)
        self._client = client
        self._awaited: asyncio.Future[bytes] | None = None  # an answer to us

    async def log_in(self, config: ConnectionConfig, where: str) -> None:
        """Authenticate as the user of `config`. Raises UNAUTHORIZED, UNSUPPORTED_SASL_MECHANISM, OSError."""
        steps, answer = authenticating(config, where), None
        with contextlib.suppress(StopIteration):
            while True:
                api, body = steps.send(answer)
                key, version = _SASL_SENT[api]
                self._awaited = asyncio.get_running_loop().create_future()
                self.transport.write(request_frame(key, version, 0, body))
                answer = rewriting.decoded(key, version, await self._awaited)

    def end(self) -> None:
        if self.transport is not None:
            self.transport.close()

    def data_received(self, data: bytes) -> None:
        came_ns = time.perf_counter_ns()
        try:
            for frame in self._frames.take(data):
                if self._awaited is None:
                    self._client.answered(frame, came_ns)
                else:
                    self._awaited.set_result(frame)
                    self._awaited = None
            if self._frames.begun:
                self._client.begins(self._frames.begun)
        except BrokerError as error:
            self._client.cut(error.about)
        except Exception:
            _log.exception("an answer could not be passed on")
            self._client.cut("a fault of this program")

    def pause_writing(self) -> None:
        self._client.full(True)

    def resume_writing(self) -> None:
        self._client.full(False)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._awaited is not None and not self._awaited.done():
            self._awaited.set_exception(ConnectionResetError("it closed the connection"))
        self._client.left_alone()
