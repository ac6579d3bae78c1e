"""The Kafka listener: opens a broker to unmodified Kafka clients."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Annotated, TypeVar

from msgspec import Meta

from broker_core.limits import MAX_PARTITIONS
from broker_core.listeners.access.access import Access
from broker_core.listeners.access.limits import GuardConfig
from broker_core.listeners.awaiting import ServedHost
from broker_core.listeners.connections import Connections
from broker_core.listeners.kafka.connection import KafkaConnection
from broker_core.listeners.kafka.fetch import FetchSessions
from broker_core.listeners.kafka.members import PendingMembers
from broker_core.listeners.kafka.readers import Readers
from broker_core.listeners.kafka.share_sessions import ShareSessions
from broker_core.listeners.listener import BACKLOG, LOOPBACK, Listener, TlsConfig, close_server
from broker_core.replies import Reply
from broker_core.settings import Port, WaitMs, checked_class

T = TypeVar("T")

DEFAULT_PORT = 9_092
_LOOKS_EVERY_S = 0.5
_KEPT_FOR_KNOWN = 10  # one connection in so many
_RESTS_S = 0.05  # between two looks whether a paused session goes on


@checked_class()
class KafkaListener(Listener):
    """Opens `host` to Kafka clients, whose `bootstrap.servers` is `bootstrap_servers`. Use it in a `with` block, too.

    Port 0 is any free one; `port` says which, once started. Without `access` everybody may do everything, which is
    refused on any address but a loopback one. With `tls` clients speak TLS (`security.protocol` SSL or SASL_SSL).
    `create_topics` is the number of partitions with which unknown topics are made on first use; 0 makes none.
    The session timeouts are Kafka's group.min.session.timeout.ms and group.max.session.timeout.ms.
    """

    protocol = "kafka"

    def __init__(
        self,
        host: ServedHost,
        *,
        address: str = LOOPBACK,
        port: Port = DEFAULT_PORT,
        access: Access | None = None,
        tls: TlsConfig | None = None,
        limits: GuardConfig | None = None,
        connections: Connections | None = None,
        create_topics: Annotated[int, Meta(ge=0, le=MAX_PARTITIONS)] = 0,
        min_session_timeout_ms: WaitMs = 6_000,
        max_session_timeout_ms: WaitMs = 1_800_000,
    ) -> None:
        """Raises INVALID_CONFIG where other machines could connect to `address` without a token, or for wrong `tls`."""
        super().__init__(host, address, port, access, tls, limits, connections)
        self.create_topics = create_topics
        self.min_session_timeout_ms, self.max_session_timeout_ms = min_session_timeout_ms, max_session_timeout_ms
        self.security_protocol = ("" if self.access.open else "SASL_") + ("PLAINTEXT" if tls is None else "SSL")
        self.pending, self.readers = PendingMembers(), Readers()
        self.fetch_sessions, self.share_sessions = FetchSessions(), ShareSessions()
        self._open: dict[KafkaConnection, None] = {}
        self._strangers: dict[KafkaConnection, None] = {}  # of those, who has not shown who it is; the oldest first
        self._resting: dict[Callable[[], object], None] = {}

    @property
    def bootstrap_servers(self) -> str:
        """What clients are configured with."""
        return self.authority

    async def _serve(self, listening: socket.socket, workers: ThreadPoolExecutor) -> None:
        self._workers = workers
        server = await self._loop.create_server(
            lambda: KafkaConnection(self),
            sock=listening,
            backlog=BACKLOG,
            ssl=self._ssl,
            ssl_handshake_timeout=None if self._ssl is None else self.limits.header_timeout_ms / 1_000,
        )
        self._look_after()
        self._started.set()
        await self._closing.wait()
        await close_server(server)
        for connection in list(self._open):
            connection.abort()
        while self._open:
            await asyncio.sleep(0)

    # -- for its connections

    def let_in(self, connection: KafkaConnection) -> None:
        """If there are too many, cut the oldest stranger, or else itself; a tenth of the places is for known ones."""
        self._open[connection] = None
        if not connection.is_known:
            self._strangers[connection] = None
        most = self.limits.max_connections
        if len(self._open) > most or len(self._strangers) > most - most // _KEPT_FOR_KNOWN:
            next(iter(self._strangers), connection).cut("there are as many connections as are allowed")

    def known(self, connection: KafkaConnection) -> None:
        """It has authenticated."""
        self._strangers.pop(connection, None)

    def let_out(self, connection: KafkaConnection) -> None:
        """It has ended."""
        self._open.pop(connection, None)
        self._strangers.pop(connection, None)

    def make_room(self) -> None:
        """Where unfinished requests and unread answers hold too many bytes, cut those that hold the most."""
        while self.budget.is_exceeded and self._open:
            max(self._open, key=lambda each: each.held_bytes).cut(
                "its unfinished request or answer held too many bytes"
            )

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

    def in_worker(self, work: Callable[[], T], then: Callable[[Callable[[], T]], object]) -> None:
        """Do `work` in another thread, and then `then(its result)` in the listener's."""

        def done(future: Future[T]) -> None:
            self.in_loop(lambda: then(future.result))

        self._workers.submit(work).add_done_callback(done)

    def _look_after(self) -> None:
        """Cut silent and slow connections, repeatedly."""
        now_s = time.monotonic()
        for connection in list(self._open):
            connection.check(now_s)
        self._loop.call_later(_LOOKS_EVERY_S, self._look_after)
