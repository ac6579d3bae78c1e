"""The Kafka listener: opens a broker to unmodified Kafka clients."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Annotated, Self

from broker_core.errors import ConfigError
from broker_core.kinds import Range
from broker_core.limits import MAX_PARTITIONS
from broker_core.listeners.access.access import Access
from broker_core.listeners.access.budget import Budget
from broker_core.listeners.access.limits import GuardConfig
from broker_core.listeners.access.tls import TlsConfig
from broker_core.listeners.connections import Connections
from broker_core.listeners.kafka.call import Shared
from broker_core.listeners.kafka.codec import Body
from broker_core.listeners.kafka.connection import KafkaConnection
from broker_core.listeners.kafka.members import PendingMembers
from broker_core.listeners.served import ServedHost
from broker_core.replies import Reply
from broker_core.settings import Port, checked_class

DEFAULT_PORT = 9_092
_WORKERS = 4  # for what waits for the disk
_BACKLOG = 512
_LOOKS_EVERY_S = 0.5
_RESTS_S = 0.05  # between two looks whether a paused session goes on


@checked_class()
class KafkaListener:
    """Opens `host` to Kafka clients, whose `bootstrap.servers` is `bootstrap_servers`.

    Port 0 is any free one; `port` says which, once started. Without `access` everybody may do everything, which is
    refused on any address but a loopback one. With `tls` clients speak TLS (`security.protocol` SSL or SASL_SSL).
    `create_topics` is the number of partitions with which unknown topics are
    made on first use; 0 makes none. A closed host closes its listeners. `start` raises INVALID_CONFIG where the address
    cannot be opened.
    """

    def __init__(
        self,
        host: ServedHost,
        *,
        address: str = "127.0.0.1",
        port: Port = DEFAULT_PORT,
        access: Access | None = None,
        tls: TlsConfig | None = None,
        limits: GuardConfig | None = None,
        connections: Connections | None = None,
        create_topics: Annotated[int, Range(0, MAX_PARTITIONS)] = 0,
    ) -> None:
        self.host = host
        self.address = address
        self.port = port
        limits = limits or GuardConfig()
        self.shared = Shared(host, access or Access(), limits, PendingMembers(), create_topics)
        self.shared.access.check_bind(address)
        self._tls = None if tls is None else tls.context()
        self.connections = connections or Connections(lambda: host.now_ns)
        self.budget = Budget(limits)
        self._open: dict[KafkaConnection, None] = {}
        self._resting: dict[Callable[[], object], None] = {}
        self._loop = asyncio.new_event_loop()
        self._server: asyncio.Server | None = None
        self._workers = ThreadPoolExecutor(_WORKERS, thread_name_prefix="kafka-worker")
        self._thread = threading.Thread(target=self._run, name="kafka-listener", daemon=True)
        self._lock = threading.Lock()
        self._started = self._closed = False

    @property
    def bootstrap_servers(self) -> str:
        """What clients are configured with."""
        return f"[{self.address}]:{self.port}" if ":" in self.address else f"{self.address}:{self.port}"

    # -- opening and closing

    def start(self) -> Self:
        """Open it; once it returns, clients can connect."""
        with contextlib.ExitStack() as undo:
            undo.callback(self._loop.close)
            undo.callback(self._workers.shutdown)
            try:
                listening = socket.create_server(
                    (self.address, self.port),
                    family=socket.AF_INET6 if ":" in self.address else socket.AF_INET,
                    backlog=_BACKLOG,
                )
            except (OSError, OverflowError) as error:
                number = getattr(error, "errno", None) or 0
                reason = os.strerror(number) if number > 0 else str(error)
                other = "port" if number in {errno.EADDRINUSE, errno.EACCES} else "address or port"
                raise ConfigError(
                    f"nothing can listen on {self.bootstrap_servers} ({reason}); choose another {other}"
                ) from error
            undo.callback(listening.close)
            self._server = self._loop.run_until_complete(
                self._loop.create_server(
                    lambda: KafkaConnection(self),
                    sock=listening,
                    backlog=_BACKLOG,
                    ssl=self._tls,
                    ssl_handshake_timeout=None if self._tls is None else self.shared.limits.header_timeout_ms / 1_000,
                )
            )
            self.port = listening.getsockname()[1]
            undo.pop_all()
        self._started = True
        self._loop.call_soon(self._look_after)
        self._thread.start()
        self.host.register(self)
        return self

    def close(self) -> None:
        """Take no more connections and end the others. The second call does nothing."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
        self.host.unregister(self)
        if self._started:
            asyncio.run_coroutine_threadsafe(self._end_all(), self._loop).result()
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
        self._workers.shutdown()
        if not self._loop.is_closed():
            self._loop.close()

    async def _end_all(self) -> None:
        if self._server is not None:
            self._server.close()
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

    def let_in(self, connection: KafkaConnection) -> bool:
        """Note it; False where there are too many, all the same."""
        self._open[connection] = None
        return len(self._open) <= self.shared.limits.max_connections

    def let_out(self, connection: KafkaConnection) -> None:
        """It is gone."""
        self._open.pop(connection, None)

    def in_loop(self, action: Callable[[], object]) -> None:
        """Run `action` in the listener's thread, from any; not at all where the listener is closed."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(action)

    def rests(self, action: Callable[[], object]) -> bool:
        """Whether the session is paused, so that requests wait; `action` is called when it may go on."""
        if not self.host.is_paused:
            return False
        if action not in self._resting:
            self._resting[action] = None
            self._loop.call_later(_RESTS_S, self._wake, action)
        return True

    def _wake(self, action: Callable[[], object]) -> None:
        del self._resting[action]
        action()

    def soon(self, action: Callable[[], object]) -> None:
        """Run `action` in the listener's thread, from that thread, when what it does now is done."""
        self._loop.call_soon(action)

    def later(self, delay_s: float) -> Reply[None]:
        """Settled in the listener's thread after `delay_s`; from any thread."""
        over: Reply[None] = Reply()
        self.in_loop(lambda: self._loop.call_later(delay_s, over.resolve, None))
        return over

    def in_worker(self, work: Callable[[], Body], then: Callable[[Callable[[], Body]], object]) -> None:
        """Do `work` in another thread, and then `then(its result)` in the listener's."""

        def done(future: Future[Body]) -> None:
            self.in_loop(lambda: then(future.result))

        self._workers.submit(work).add_done_callback(done)

    def _look_after(self) -> None:
        """Cut who is silent or slow, again and again."""
        now_s = time.monotonic()
        for connection in list(self._open):
            connection.check(now_s)
        self._loop.call_later(_LOOKS_EVERY_S, self._look_after)
