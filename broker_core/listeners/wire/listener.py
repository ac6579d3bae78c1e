"""The wire listener: a thread with an event loop that accepts connections and serves them from one host."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import secrets
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Self

from broker_core.errors import ConfigError
from broker_core.listeners.access.access import Access
from broker_core.listeners.access.budget import Budget
from broker_core.listeners.access.limits import GuardConfig
from broker_core.listeners.connections import Connections
from broker_core.listeners.served import ServedHost
from broker_core.listeners.wire.connection import WireConnection
from broker_core.listeners.wire.event_tail import EventTail
from broker_core.listeners.wire.rows import Waiting
from broker_core.settings import Port, checked_class
from broker_core.wire.body import Body
from broker_core.wire.codec import Request

DEFAULT_PORT = 9_330
WORKERS = 4  # for what waits for the disk
GOODBYE_S = 2.0  # what is being served when the listener closes has so long to be answered
BACKLOG = 512
READ_BYTES = 1 << 18


@checked_class()
class WireListener:
    """Opens `host` to clients that speak the wire protocol. Port 0 is any free one; `port` says which, once started.

    Without `access` everybody may do everything, which is refused on any address but a loopback one. A closed host
    closes its listeners. `start` raises INVALID_CONFIG where the address cannot be opened.
    """

    def __init__(
        self,
        host: ServedHost,
        *,
        address: str = "127.0.0.1",
        port: Port = DEFAULT_PORT,
        access: Access | None = None,
        limits: GuardConfig | None = None,
        connections: Connections | None = None,
    ) -> None:
        self.host = host
        self.address = address
        self.port = port
        self.access = access or Access()
        self.limits = limits or GuardConfig()
        self.connections = connections or Connections(lambda: host.now_ns)
        self.access.check_bind(address)
        self.session = secrets.randbits(62)
        self.budget = Budget(self.limits)
        self.tail = EventTail(host.events, host.loop.timers)
        # All read into this one, and take out what has come at once: making room anew for each read costs 15 us.
        self.buffer = memoryview(bytearray(READ_BYTES))
        self._open: dict[WireConnection, None] = {}
        self._settled: deque[tuple[WireConnection, Request, Waiting]] = deque()
        self._woken = False
        self._loop = asyncio.new_event_loop()
        self._server: asyncio.Server | None = None
        self._workers = ThreadPoolExecutor(WORKERS, thread_name_prefix="wire-worker")
        self._thread = threading.Thread(target=self._run, name="wire-listener", daemon=True)
        self._lock = threading.Lock()
        self._started = self._closed = False

    # -- opening and closing

    def start(self) -> Self:
        """Open it; once it returns, clients can connect."""
        with contextlib.ExitStack() as undo:
            undo.callback(self._loop.close)
            try:
                listener = socket.create_server(
                    (self.address, self.port),
                    family=socket.AF_INET6 if ":" in self.address else socket.AF_INET,
                    backlog=BACKLOG,
                )
            except (OSError, OverflowError) as error:
                place = f"{self.address}:{self.port}"
                # asyncio and socket tell the address once more, in brackets, behind the reason.
                number = getattr(error, "errno", None) or 0
                reason = os.strerror(number) if number > 0 else str(getattr(error, "strerror", None) or error)
                other = "port" if number in {errno.EADDRINUSE, errno.EACCES} else "address or port"
                about = f"nothing can listen on {place} ({reason.partition(' (while')[0]}); choose another {other}"
                raise ConfigError(about) from error
            undo.callback(listener.close)
            self._server = self._loop.run_until_complete(
                self._loop.create_server(lambda: WireConnection(self), sock=listener, backlog=BACKLOG)
            )
            self.port = listener.getsockname()[1]
            undo.pop_all()
        self._started = True
        self._loop.call_soon(self._look_after)
        self._thread.start()
        self.host.register(self)
        return self

    def close(self) -> None:
        """Take no more connections, answer what is being served, close the others. The second call does nothing."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
        self.host.unregister(self)
        if self._started:
            asyncio.run_coroutine_threadsafe(self._say_goodbye(), self._loop).result()
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._workers.shutdown()
        self._loop.close()
        if not self.host.closing:
            self.host.call(lambda _now: self.tail.close())

    async def _say_goodbye(self) -> None:
        if self._server is not None:
            self._server.close()
        for connection in list(self._open):
            connection.hang_up()
        end_s = time.monotonic() + GOODBYE_S
        while self._open and time.monotonic() < end_s:
            await asyncio.sleep(0.005)
        for connection in list(self._open):
            connection.abort()
        while self._open:
            await asyncio.sleep(0)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    def __enter__(self) -> Self:
        return self if self._started else self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- for its connections

    def let_in(self, connection: WireConnection) -> bool:
        """Note it; False where there are too many, all the same."""
        self._open[connection] = None
        return len(self._open) <= self.limits.max_connections

    def let_out(self, connection: WireConnection) -> None:
        """It is gone."""
        self._open.pop(connection, None)

    def in_loop(self, action: Callable[[], object]) -> None:
        """Run `action` in the listener's thread, from any; not at all where the listener is closed."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(action)

    def in_worker(self, work: Callable[[], Body], then: Callable[[Future[Body]], object]) -> None:
        """Do `work` in another thread, and then `then(its future)` in the listener's."""
        self._workers.submit(work).add_done_callback(lambda done: self.in_loop(lambda: then(done)))

    def settled(self, connection: WireConnection, request: Request, waiting: Waiting) -> None:
        """What a request waits for is there; called under the host's lock, in any thread."""
        self._settled.append((connection, request, waiting))
        if not self._woken:
            self._woken = True
            self.in_loop(self._drain)

    def _drain(self) -> None:
        self._woken = False
        served: dict[WireConnection, None] = {}
        while self._settled:
            connection, request, waiting = self._settled.popleft()
            connection.settled(request, waiting)
            served[connection] = None
        for connection in served:
            connection.after_serving()

    def _look_after(self) -> None:
        """Cut who is silent or slow, again and again."""
        now_s = time.monotonic()
        for connection in list(self._open):
            connection.check(now_s)
        limits = self.limits
        shortest_ms = min(
            limits.header_timeout_ms, limits.body_timeout_ms, limits.idle_timeout_ms, limits.write_timeout_ms
        )
        self._loop.call_later(min(0.5, max(0.01, shortest_ms / 4_000)), self._look_after)
