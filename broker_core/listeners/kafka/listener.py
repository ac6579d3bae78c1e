"""The Kafka listener: opens a broker to unmodified Kafka clients."""

from __future__ import annotations

import asyncio
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated

from msgspec import Meta

from broker_core.limits import MAX_PARTITIONS
from broker_core.listeners.access.access import Access
from broker_core.listeners.access.limits import GuardConfig
from broker_core.listeners.access.open_connections import OpenConnections
from broker_core.listeners.awaiting import ServedHost
from broker_core.listeners.connections import Connections
from broker_core.listeners.kafka.call import KafkaContext
from broker_core.listeners.kafka.connection import KafkaConnection
from broker_core.listeners.listener import BACKLOG, LOOPBACK, Listener, TlsConfig, close_server
from broker_core.settings import Port, WaitMs, checked_class

DEFAULT_PORT = 9_092
_LOOKS_EVERY_S = 0.5


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
        """Raises INVALID_CONFIG if other machines could connect to `address` without a token, or for wrong `tls`."""
        super().__init__(host, address, port, access, tls, limits, connections)
        self.context = KafkaContext(
            host=host,
            access=self.access,
            limits=self.limits,
            budget=self.budget,
            connections=self.connections,
            security_protocol=("" if self.access.open else "SASL_") + ("PLAINTEXT" if tls is None else "SSL"),
            create_topics=create_topics,
            min_session_timeout_ms=min_session_timeout_ms,
            max_session_timeout_ms=max_session_timeout_ms,
        )
        self._open = OpenConnections[KafkaConnection](self.limits.max_connections, self.budget)

    @property
    def bootstrap_servers(self) -> str:
        return self.authority

    async def _serve(self, listening: socket.socket, workers: ThreadPoolExecutor) -> None:
        server = await self._loop.create_server(
            lambda: KafkaConnection(self.context, self._open, workers),
            sock=listening,
            backlog=BACKLOG,
            ssl=self._ssl,
            ssl_handshake_timeout=None if self._ssl is None else self.limits.header_timeout_ms / 1_000,
        )
        self._look_after()
        self._started.set()
        await self._closing.wait()
        await close_server(server)
        for connection in list(self._open.all):
            connection.abort()
        while self._open.all:
            await asyncio.sleep(0)

    def _look_after(self) -> None:
        """Cut silent and slow connections, repeatedly."""
        now_s = time.monotonic()
        for connection in list(self._open.all):
            connection.check(now_s)
        self._loop.call_later(_LOOKS_EVERY_S, self._look_after)
