"""The host as clients use it: `BrokerHost`, or the host of a session that an engine runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar, runtime_checkable

from broker_core.broker.broker import Broker
from broker_core.closable import Closable
from broker_core.engine.loop import Loop
from broker_core.engine.open_batches import OpenBatches
from broker_core.operations.request import Request
from broker_core.replies import Reply

T = TypeVar("T")


@runtime_checkable
class Host(Protocol):
    """See `BrokerHost` and `HostLoop`."""

    @property
    def broker(self) -> Broker:
        """The broker. Use it within `call` or `admin`."""

    @property
    def loop(self) -> Loop:
        """The loop that runs the coroutines of clients."""

    @property
    def lock(self) -> AbstractContextManager[bool]:
        """Held while the broker is used."""

    @property
    def open_batches(self) -> OpenBatches | None:
        """The open batches of a broker in memory, otherwise None."""

    @property
    def now_ns(self) -> int:
        """Nanoseconds of session time."""

    @property
    def closing(self) -> bool:
        """True once it is being closed."""

    def call(self, action: Callable[[int], T]) -> T:
        """Run `action(now_ns)` under the lock. Raises its error, or CLOSED."""

    def admin(self, action: Callable[[int], T]) -> T:
        """`call` for an administrative change; it returns once the change is saved."""

    def ask(self, request: Request[T], timeout_s: float | None = None) -> T:
        """The result of an operation of the catalogue."""

    def start(self, coroutine: Coroutine[Reply[Any], None, T]) -> Reply[T]:
        """Start a coroutine. The reply gets its result or error."""

    def wait(self, reply: Reply[T], timeout_s: float | None = None) -> T:
        """Block until `reply` is settled. Returns its result. Raises its error, REQUEST_TIMED_OUT, or CLOSED."""

    def waking(self, reply: Reply[Any], event: threading.Event) -> AbstractContextManager[None]:
        """Within the context, `event` is set when `reply` is settled or the host closes."""

    def kept(self) -> Reply[None]:
        """A reply that is settled when all commits so far are durable."""

    def tell(self, callback: Callable[[], object]) -> None:
        """Run a callback of the application in another thread, without the lock."""

    def ensure_topic(self, name: str) -> bool:
        """Create the topic where it is missing and `auto_create_partitions` is set. Whether it did."""

    def register(self, client: Closable, close: Callable[[float | None], object] | None = None) -> None:
        """Have `client` closed before the host; by `close(timeout_s)` where it may have to wait."""

    def unregister(self, client: Closable) -> None:
        """Forget a closed client."""
