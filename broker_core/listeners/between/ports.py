"""The ports of a cluster's nodes, and the thread of the path of the bytes."""

from __future__ import annotations

import asyncio
import contextlib
import resource
import socket
import ssl
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from typing import Final, TypeVar, cast

import msgspec

from broker_core.broker.handlers import HANDLERS
from broker_core.clock import NS_PER_S
from broker_core.closable import Closable
from broker_core.errors import BrokerError, ConfigError, ErrorCode
from broker_core.events import EventStream, Sink
from broker_core.faults.client_faults import ClientFaults
from broker_core.listeners.access.access import Access
from broker_core.listeners.access.limits import Budget, GuardConfig
from broker_core.listeners.access.open_connections import OpenConnections
from broker_core.listeners.between.asked_requests import TopicNames
from broker_core.listeners.between.passing import Address, ClientSide, Passage
from broker_core.listeners.between.seen import Observer
from broker_core.listeners.connections import Connections
from broker_core.listeners.listener import listen
from broker_core.observation.kafka.config import ConnectionConfig
from broker_core.observation.kafka.connection import tls_context
from broker_core.operations.request import Request
from broker_core.timers import Timers

T = TypeVar("T")
_HANDSHAKE_S: Final = 10.0
_AGAIN_S: Final = 1.0
_LAST_S, _OFTEN_S = 1.0, 0.01  # for the answers to what was passed on when the ports close
_OTHER_FILES: Final = 200


class ListeningPorts(msgspec.Struct, frozen=True, kw_only=True):
    """Listens on `address`, by TLS if `tls` is given. With `logs_in` the user of the connection logs in at the cluster,
    and whom `access` admits has its rights.
    """

    address: str = "127.0.0.1"
    port: int = 0
    tls: ssl.SSLContext | None = None
    access: Access = msgspec.field(default_factory=Access)
    logs_in: bool = False


class Ports(Passage, Closable):
    """Listens, and passes on to the cluster of `config`. `ask`, `call`, `open` and `close` may be called from any
    thread.

    A node has the port of `listening` + 1 + its index in `node_order`: those of earlier runs, then as they are seen.
    `told(sentence)` is called for what a user should know, in the thread of the path.
    """

    def __init__(
        self,
        config: ConnectionConfig,
        observer: Observer,
        events: Sink,
        names: TopicNames,
        listening: ListeningPorts | None = None,
        *,
        node_order: Iterable[int] = (),
        now_ns: Callable[[], int],
        told: Callable[[str], object] = lambda _sentence: None,
    ) -> None:
        super().__init__(names)
        self.config, self.observer, self.told = config, observer, told
        listening = listening or ListeningPorts()
        self.address, self.port = listening.address, listening.port
        self._in_order = self.port > 0  # else any free port is as good as another
        self.now_ns = now_ns
        self.cluster_tls, self._tls = tls_context(config) if config.tls else None, listening.tls
        self.access, self.logs_in = listening.access, listening.logs_in
        limits = GuardConfig()
        self.open_ones = OpenConnections[ClientSide](limits.max_connections, Budget(limits))
        self.connections = Connections(now_ns)
        self.timers = Timers()
        stream = EventStream()
        stream.attach(events)
        self.client_faults = ClientFaults(stream, self.timers)
        self.node_order: list[int] = list(dict.fromkeys(node_order))
        self._nodes: dict[int, Address] = {}
        self._port_of_node: dict[int, int] = {}  # our ports, by node id
        self._port_of_address: dict[Address, int] = {}  # of those that no node has
        self._servers: list[socket.socket] = []
        self._turn = 0
        self._due: asyncio.TimerHandle | None = None
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="between-ports", daemon=True)
        self._closed = threading.Event()

    # -- from any thread

    def open(self, nodes: Mapping[int, Address]) -> None:
        """Listen, with the nodes that are known. Raises INVALID_CONFIG if the port is taken."""
        server = listen(self.address, self.port)
        self.port = server.getsockname()[1]
        _two_files_a_client(self.open_ones.max_connections)
        self._thread.start()

        def start(_now_ns: int) -> None:
            self._serve(server, self._bootstrap)
            for node in sorted(nodes):
                self.port_for(node, *nodes[node])

        self.call(start)

    @property
    def nodes(self) -> dict[int, tuple[int, Address]]:
        """Our port and the cluster's address of each node."""
        return {node: (self._port_of_node[node], address) for node, address in self._nodes.copy().items()}

    def call(self, action: Callable[[int], T]) -> T:
        """`action(now_ns)` in the thread of the path. Raises CLOSED once that is over."""
        if threading.current_thread() is self._thread:
            return action(self.now_ns())
        future: Future[T] = Future()

        def run() -> None:
            try:
                future.set_result(action(self.now_ns()))
            except BaseException as error:
                future.set_exception(error)
            self._look_at_timers()

        try:
            self.loop.call_soon_threadsafe(run)
        except RuntimeError:
            raise BrokerError(ErrorCode.CLOSED, "the ports are closed") from None
        return future.result(10)

    def ask(self, request: Request[T]) -> T:
        """BeginFault, EndFault, ListFaults. Raises as a broker's own."""
        # All that these handlers touch of a broker is `client_faults`, which these ports have, too.
        handler = HANDLERS[next(kind for kind in type(request).__mro__ if kind in HANDLERS)]
        return cast(T, self.call(lambda now_ns: handler(self, now_ns, request, "")))

    def close(self) -> None:
        """Connections end, once what was passed on is answered, or soon. The second call does nothing."""
        if self._closed.is_set() or not self._thread.is_alive():
            return
        self._closed.set()
        with contextlib.suppress(RuntimeError):
            self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(5)

    # -- in the thread of the path

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        try:
            self.loop.run_forever()
            self.loop.run_until_complete(self._end())
        finally:
            self.loop.close()

    async def _end(self) -> None:
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()
            with contextlib.suppress(BaseException):
                await task
        for server in self._servers:
            server.close()
        until_s = self.loop.time() + _LAST_S
        for each in self.open_ones.all:
            each.stop()
        while any(each.owes for each in self.open_ones.all) and self.loop.time() < until_s:
            await asyncio.sleep(_OFTEN_S)
        for each in list(self.open_ones.all):
            each.close()
        for _ in range(3):
            await asyncio.sleep(0)

    def _serve(self, server: socket.socket, target: Callable[[], Address]) -> None:
        async def accept() -> None:
            while True:
                try:
                    client, _ = await self.loop.sock_accept(server)
                except OSError as error:
                    self.tell(f"No connection can be taken now: {error.strerror or error}.")
                    await asyncio.sleep(_AGAIN_S)
                else:
                    self.begin(self._welcome(client, target))

        self._servers.append(server)
        self.begin(accept())

    async def _welcome(self, client: socket.socket, target: Callable[[], Address]) -> None:
        try:
            deadline_s = _HANDSHAKE_S if self._tls else None
            await self.loop.connect_accepted_socket(
                lambda: ClientSide(self, target), client, ssl=self._tls, ssl_handshake_timeout=deadline_s
            )
        except OSError as error:  # an SSLError is one
            why = getattr(error, "reason", None) or error
            self.tell(f"A client that does not speak TLS, as these ports do, was cut ({why}): see security.protocol.")

    def _bootstrap(self) -> Address:
        """The next node to connect to, in turn: of the known nodes, or of the configured ones if none is known yet."""
        known = [*self._nodes.values()] or [*self.config.bootstrap]
        self._turn += 1
        return known[self._turn % len(known)]

    def port_for(self, node: int, host: str, port: int) -> int:
        if node < 0:
            node = next((known for known, address in self._nodes.items() if address == (host, port)), -1)
        if node < 0:
            if (host, port) not in self._port_of_address:
                self._port_of_address[host, port] = self._listen(0, lambda: (host, port))
            return self._port_of_address[host, port]
        self._nodes[node] = host, port
        if node not in self._port_of_node:
            if node not in self.node_order:
                self.node_order.append(node)
            self._port_of_node[node] = self._listen(
                self.port + 1 + self.node_order.index(node) if self._in_order else 0, lambda: self._nodes[node]
            )
        return self._port_of_node[node]

    def _listen(self, port: int, target: Callable[[], Address]) -> int:
        try:
            server = listen(self.address, port if port < 65_536 else 0)
        except ConfigError as error:
            server = listen(self.address, 0)
            self.tell(f"{error}; a node of the cluster has the port {server.getsockname()[1]} instead")
        self._serve(server, target)
        return int(server.getsockname()[1])

    def _look_at_timers(self) -> None:
        """Fire those that are due, and wait for the next."""
        while self.timers.fire_next(self.now_ns()) is not None:
            pass
        if self._due is not None:
            self._due.cancel()
        next_ns = self.timers.next_deadline_ns()
        if next_ns is not None:
            self._due = self.loop.call_later(max(0.0, (next_ns - self.now_ns()) / NS_PER_S), self._look_at_timers)


def _two_files_a_client(most: int) -> None:
    """Raise the limit of open files: each client's connection needs a second one, to the cluster."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * most + _OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most_files = wanted if hard == resource.RLIM_INFINITY else min(hard, wanted)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most_files, hard))
