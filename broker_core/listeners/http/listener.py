"""The HTTP listener, opened and closed."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import threading
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Self

from uvicorn import Config

from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.access.access import Access
from broker_core.listeners.access.budget import Budget
from broker_core.listeners.access.limits import GuardConfig
from broker_core.listeners.access.origin import OriginGuard
from broker_core.listeners.access.tls import TlsConfig
from broker_core.listeners.connections import Connections
from broker_core.listeners.http.application import application
from broker_core.listeners.http.context import HttpContext
from broker_core.listeners.http.protocol import GuardedProtocol
from broker_core.listeners.http.server import ListenerServer
from broker_core.listeners.served import ServedHost
from broker_core.settings import Port, checked_class

_log = logging.getLogger(__name__)
LOOPBACK = "127.0.0.1"
_SLOW_THREADS = 4  # for what waits for the disk, or thinks for long
_EXPIRE_S = 0.5
_START_S = 30.0


@checked_class()
class HttpListener:
    """Lets HTTP clients to `host`, from `start` to `close`; it has a thread of its own. Use it in a `with` block, too.

    `port` 0 takes a free one; `port` tells which after `start`. `names` are further names by which clients may call
    this machine, `origins` pages of other sites that may use the broker.
    """

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
        """Raises INVALID_CONFIG where other machines could connect to `address` without a token, or for wrong `tls`."""
        self._host = host
        self.address = address
        self.port = port
        self.access = access or Access()
        self.limits = limits or GuardConfig()
        self.connections = connections or Connections(lambda: host.now_ns)
        if tls is not None:
            tls.context()  # raises now, and not in the listener's thread
        self._tls = tls
        self._scheme = "http" if tls is None else "https"
        self._origin = OriginGuard(address, names, origins, self._scheme)
        self.access.check_bind(address)
        self._budget = Budget(self.limits)
        self._server: ListenerServer | None = None
        self._thread: threading.Thread | None = None
        self._context: HttpContext | None = None
        self._started = threading.Event()
        self._failed: BaseException | None = None
        self._close_lock = threading.Lock()

    @property
    def url(self) -> str:
        """Where clients find it."""
        return f"{self._scheme}://{f'[{self.address}]' if ':' in self.address else self.address}:{self.port}"

    @property
    def is_open(self) -> bool:
        """Between `start` and `close`."""
        return self._thread is not None and self._thread.is_alive()

    def start(self) -> None:
        """Open it; it returns when it serves. Raises INVALID_CONFIG where the address or port cannot be used."""
        if self._thread is not None:
            raise BrokerError(ErrorCode.INVALID_REQUEST, "a listener is opened once; make another one")
        listener = listen(self.address, self.port)
        self.port = listener.getsockname()[1]
        self._thread = threading.Thread(target=self._run, args=(listener,), name="broker-http", daemon=True)
        self._thread.start()
        if not self._started.wait(_START_S) or self._failed is not None:
            self.close()
            raise BrokerError(ErrorCode.CLOSED, f"the HTTP listener did not open ({self._failed})")
        self._host.register(self)

    def _run(self, listener: socket.socket) -> None:
        try:
            asyncio.run(self._serve(listener))
        except BaseException as error:
            self._failed = error
            _log.exception("the HTTP listener has failed")
        finally:
            listener.close()
            self._started.set()

    async def _serve(self, listener: socket.socket) -> None:
        with ThreadPoolExecutor(_SLOW_THREADS, "broker-http-slow") as executor:
            context = self._context = HttpContext(
                self._host, self.access, self.limits, self.connections, self._budget, executor
            )
            protocol = type(
                "ListenerProtocol", (GuardedProtocol,), {"limits": self.limits, "registry": self.connections}
            )
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
                backlog=1_024,
            )
            self._server = ListenerServer(config, context.closing, self._started.set, self._expire)
            try:
                await self._server._serve([listener])
            finally:
                context.close()

    async def _expire(self) -> None:
        assert self._context is not None
        while True:
            await asyncio.sleep(_EXPIRE_S)
            self._context.members.expire()

    def close(self) -> None:
        """Close it: who waits is answered, who is silent is cut. The second call waits for the first."""
        with self._close_lock:
            thread, server = self._thread, self._server
            if thread is None or thread is threading.current_thread():
                return
            if server is not None:
                server.stop()
            thread.join()
            self._host.unregister(self)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def listen(address: str, port: int) -> socket.socket:
    """A socket that listens. Raises INVALID_CONFIG with the reason where that cannot be."""
    plain = address.strip("[]")
    family = socket.AF_INET6 if ":" in plain else socket.AF_INET
    # With the protocol named: without, asyncio does not switch Nagle's delay off.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((plain, port))
        listener.setblocking(False)
    except (OSError, OverflowError, UnicodeError) as error:
        listener.close()
        reason = getattr(error, "strerror", None) or str(error)
        busy = getattr(error, "errno", None) in {errno.EADDRINUSE, errno.EACCES}
        raise BrokerError(
            ErrorCode.INVALID_CONFIG,
            f"nothing can listen on {address or 'all addresses'}, port {port} ({reason}); choose another "
            f"{'port' if busy else 'address or port'}",
        ) from error
    return listener
