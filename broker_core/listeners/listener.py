"""The common parts of listeners: TLS, a socket, an asyncio loop in a thread of its own, and how both end."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import os
import socket
import ssl
import threading
from abc import abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import ClassVar, Self

from broker_core.closable import Closable
from broker_core.errors import BrokerError, ConfigError, ErrorCode
from broker_core.listeners.access.access import Access
from broker_core.listeners.access.limits import Budget, GuardConfig
from broker_core.listeners.awaiting import ServedHost
from broker_core.listeners.connections import Connections
from broker_core.settings import Settings


class TlsConfig(Settings, frozen=True, kw_only=True):
    """PEM files: the certificate with its chain, and its key, which has no password."""

    certificate: Path
    key: Path

    def context(self) -> ssl.SSLContext:
        """For a server, TLS 1.2 or newer. Raises INVALID_CONFIG if the files are not such a pair."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        try:
            context.load_cert_chain(self.certificate, self.key, password=_no_password)
        except (OSError, ValueError) as error:  # an SSLError is an OSError
            reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or str(error)
            raise ConfigError(
                f"{self.certificate} and {self.key} are not a certificate and key for TLS ({reason}); give two PEM "
                "files"
            ) from error
        return context


def _no_password() -> str:
    """Instead of OpenSSL's question at the terminal."""
    raise ValueError("the key has a password")


_log = logging.getLogger(__name__)
LOOPBACK = "127.0.0.1"
BACKLOG = 1_024
_WORKERS = 4  # for what waits for the disk, or thinks for long
_START_S = 30.0


class Listener(Closable):
    """Opens `host` to other programs, from `start` to `close`, which a host that is closed calls, too."""

    protocol: ClassVar[str]  # as connections and threads are called after it

    def __init__(
        self,
        host: ServedHost,
        address: str,
        port: int,
        access: Access | None,
        tls: TlsConfig | None,
        limits: GuardConfig | None,
        connections: Connections | None,
    ) -> None:
        """Raises INVALID_CONFIG if other machines could connect to `address` without a token, or for wrong `tls`."""
        self.host = host
        self.address = address
        self.port = port
        self.access = (access or Access()).with_acls(host.broker.access.acls)
        self.limits = limits or GuardConfig()
        self.connections = connections or Connections(lambda: host.now_ns)
        self.access.check_bind(address)
        self._tls = tls
        self._ssl = None if tls is None else tls.context()
        self.budget = Budget(self.limits)
        self._thread: threading.Thread | None = None
        self._started = threading.Event()
        self._failed: BaseException | None = None
        self._close_lock = threading.Lock()

    @property
    def is_open(self) -> bool:
        """Between `start` and `close`."""
        return self._thread is not None and self._thread.is_alive()

    @property
    def authority(self) -> str:
        """Address and port, as they stand in a URL."""
        return f"{f'[{self.address}]' if ':' in self.address else self.address}:{self.port}"

    def start(self) -> Self:
        """Open it; once it returns, clients can connect. Raises INVALID_CONFIG if it cannot listen there."""
        if self._thread is not None:
            raise BrokerError(ErrorCode.INVALID_REQUEST, "a listener can be opened only once; create another one")
        listening = listen(self.address, self.port)
        self.port = listening.getsockname()[1]
        name = f"broker-{self.protocol}"
        self._closing = asyncio.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, args=(listening,), name=name, daemon=True)
        self._thread.start()
        if not self._started.wait(_START_S) or self._failed is not None:
            self.close()
            raise BrokerError(ErrorCode.CLOSED, f"the {self.protocol} listener did not open ({self._failed})")
        self.host.register(self)
        return self

    def close(self) -> None:
        """Take no more connections and end the others. The second call waits for the first."""
        with self._close_lock:
            if self._thread is None or self._thread is threading.current_thread():
                return
            self.in_loop(self._closing.set)
            self._thread.join()
            self.host.unregister(self)

    def __enter__(self) -> Self:
        return self if self._thread is not None else self.start()

    # -- inside

    def in_loop(self, action: Callable[[], object]) -> None:
        """Run `action` in the listener's thread, from any; not at all if the listener is closed."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(action)

    @abstractmethod
    async def _serve(self, listening: socket.socket, workers: ThreadPoolExecutor) -> None:
        """Serve until `_closing` is set; set `_started` when clients can connect."""

    def _run(self, listening: socket.socket) -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
                runner.run(self._main(listening))
        except BaseException as error:
            self._failed = error
            _log.exception("the %s listener has failed", self.protocol)
        finally:
            listening.close()
            self._started.set()

    async def _main(self, listening: socket.socket) -> None:
        with ThreadPoolExecutor(_WORKERS, f"broker-{self.protocol}-worker") as workers:
            await self._serve(listening, workers)


async def close_server(server: asyncio.Server) -> None:
    """Accept no more connections, when each accepted socket is one: asyncio would leave it open and unserved."""
    loop = asyncio.get_running_loop()
    for listening in server.sockets:
        loop.remove_reader(listening.fileno())
    for _ in range(3):  # turns of the loop; asyncio needs two
        await asyncio.sleep(0)
    server.close()


def listen(address: str, port: int) -> socket.socket:
    """A socket that listens. Raises INVALID_CONFIG with the reason if that cannot be."""
    plain = address.strip("[]")
    family = socket.AF_INET6 if ":" in plain else socket.AF_INET
    # With the protocol named: without, asyncio does not switch Nagle's delay off.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((plain, port))
        listening.listen(BACKLOG)
        listening.setblocking(False)
    except (OSError, OverflowError, UnicodeError) as error:
        listening.close()
        number = getattr(error, "errno", None) or 0
        reason = os.strerror(number) if number > 0 else getattr(error, "strerror", None) or str(error)
        other = "port" if number in {errno.EADDRINUSE, errno.EACCES} else "address or port"
        where = f"{address or 'all addresses'}, port {port}"
        raise ConfigError(f"nothing can listen on {where} ({reason}); choose another {other}") from error
    return listening
