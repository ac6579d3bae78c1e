"""The broker of a running session as a host: clients and listeners use it between two steps of session time.

Time is the session's: while the session is paused, no deadline passes. Nothing is stored beyond the session.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeVar

from broker_core.broker.broker import Broker
from broker_core.engine.host import CLOSE_TIMEOUT_S, Host, HostConfig
from broker_core.engine.runner import Driven, Engine
from broker_core.errors import BrokerError, ErrorCode
from broker_core.log.config import LogConfig
from broker_core.replies import Reply

T = TypeVar("T")


class Served(Driven, Protocol):
    """A session with a broker, driven by an engine."""

    broker: Broker


class EngineHost(Host):
    """A host on the broker of a session. Close it before the engine."""

    path = None  # nothing outlives the session

    def __init__(self, engine: Engine, served: Served, *, auto_create_partitions: int = 0) -> None:
        super().__init__(threading.RLock(), "session")
        self.loop = served.loop
        self.broker = served.broker
        self.events = served.events
        self.config = HostConfig(log=LogConfig(durability="memory"), auto_create_partitions=auto_create_partitions)
        self._engine = engine

    def call(self, action: Callable[[int], T]) -> T:
        """Run `action(now_ns)` in the engine's thread, between two steps. Raises its error, or CLOSED."""
        if self._closing:
            raise BrokerError(ErrorCode.CLOSED, "the session")
        return self._engine.ask(lambda: self._looked_at(action))

    def _looked_at(self, action: Callable[[int], T]) -> T:
        try:
            return action(self.loop.now_ns)
        finally:
            self.broker.conditions.look_again(self.loop.now_ns)

    @contextlib.contextmanager
    def waking(self, reply: Reply[Any], event: threading.Event) -> Iterator[None]:
        """Within the context, `event` is set when `reply` is settled or the host closes."""
        self._waiters.add(event)
        try:
            # Replies are settled in the engine's thread, so the callback is added there.
            self.call(lambda _now: reply.then(lambda _reply: event.set()))
            yield
        finally:
            self._waiters.discard(event)

    @property
    def is_paused(self) -> bool:
        return self._engine.is_paused

    @property
    def now_ns(self) -> int:
        return self.loop.now_ns

    def close(self, timeout_s: float | None = CLOSE_TIMEOUT_S) -> None:
        """Close clients and listeners within `timeout_s`; waiting calls raise CLOSED. The session keeps running."""
        if self._closing:
            return
        with contextlib.ExitStack() as steps:
            steps.callback(self._stop)
            self._close_clients(steps, timeout_s)
