from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

from uvicorn import Config, Server

from broker_core.listeners.access.access import Access
from broker_core.listeners.access.limits import GuardConfig
from broker_core.listeners.awaiting import ServedHost
from broker_core.listeners.connections import Connections
from broker_core.listeners.http.application import application
from broker_core.listeners.http.context import HttpContext
from broker_core.listeners.http.gate import OriginGuard
from broker_core.listeners.http.protocol import GuardedProtocol
from broker_core.listeners.listener import BACKLOG, LOOPBACK, Listener, TlsConfig, close_server
from broker_core.settings import Port, checked_class

_GRACE_S = 2.0
_LOOK_S = 0.02


class ListenerServer(Server):
    """Serves until `closing` is set. `on_started` is called when it does."""

    def __init__(self, config: Config, closing: asyncio.Event, on_started: Callable[[], object]) -> None:
        super().__init__(config)
        self._closing = closing
        self._on_started = on_started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._on_started()

    async def main_loop(self) -> None:
        """Serve; the date in the headers is renewed by uvicorn's tick."""
        await self.on_tick(0)
        while not self._closing.is_set():
            try:
                await asyncio.wait_for(self._closing.wait(), 1.0)
            except TimeoutError:
                await self.on_tick(0)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept no connection, give requests that are being served a short time, and cut the others."""
        for server in self.servers:
            await close_server(server)
        for listener in sockets or ():
            listener.close()
        state = self.server_state
        for connection in list(state.connections):
            connection.shutdown()
        deadline_s = asyncio.get_running_loop().time() + _GRACE_S
        while (state.connections or state.tasks) and asyncio.get_running_loop().time() < deadline_s:
            await asyncio.sleep(_LOOK_S)
        for task in list(state.tasks):
            task.cancel()
        for connection in list(state.connections):
            connection.transport.abort()
        while (state.connections or state.tasks) and asyncio.get_running_loop().time() < deadline_s + _GRACE_S:
            await asyncio.sleep(_LOOK_S)
        await self.lifespan.shutdown()


_EXPIRE_S = 0.5


@checked_class()
class HttpListener(Listener):
    """Opens `host` to HTTP clients, which find it at `url`, from `start` to `close`. Use it in a `with` block, too.

    Port 0 is any free one; `port` says which, once started. `names` are further names by which clients may call this
    machine, `origins` pages of other sites that may use the broker. Without `access` everybody may do everything, which
    is refused on any address but a loopback one.
    """

    protocol = "http"

    def __init__(
        self,
        host: ServedHost,
        *,
        address: str = LOOPBACK,
        port: Port = 0,
        access: Access | None = None,
        tls: TlsConfig | None = None,
        limits: GuardConfig | None = None,
        connections: Connections | None = None,
        names: Iterable[str] = (),
        origins: Iterable[str] = (),
    ) -> None:
        """Raises INVALID_CONFIG if other machines could connect to `address` without a token, or for wrong `tls`."""
        super().__init__(host, address, port, access, tls, limits, connections)
        self._scheme = "http" if tls is None else "https"
        self._origin = OriginGuard(address, names, origins, self._scheme)

    @property
    def url(self) -> str:
        return f"{self._scheme}://{self.authority}"

    async def _serve(self, listening: socket.socket, workers: ThreadPoolExecutor) -> None:
        context = self._context = HttpContext(
            self.host, self.access, self.limits, self.connections, self.budget, workers, self._closing
        )
        protocol = type("ListenerProtocol", (GuardedProtocol,), {"limits": self.limits, "registry": self.connections})
        config = Config(
            application(context, self._origin),
            http=protocol,
            ssl_certfile=None if self._tls is None else self._tls.certificate,
            ssl_keyfile=None if self._tls is None else self._tls.key,
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="error",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            h11_max_incomplete_event_size=self.limits.max_header_bytes,
            timeout_keep_alive=86_400,  # the protocol has deadlines of its own
            backlog=BACKLOG,
        )
        expiry = asyncio.ensure_future(_expire(context))
        try:
            await ListenerServer(config, self._closing, self._started.set)._serve([listening])
        finally:
            expiry.cancel()
            context.close()


async def _expire(context: HttpContext) -> None:
    while True:
        await asyncio.sleep(_EXPIRE_S)
        context.members.expire()
