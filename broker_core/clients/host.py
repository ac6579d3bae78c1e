"""What clients need of a host: a broker by itself (`BrokerHost`), or in a session that an engine runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar, runtime_checkable

from broker_core.broker.broker import Broker
from broker_core.engine.host_loop import Closable
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
        """What runs the host's clients."""

    @property
    def lock(self) -> AbstractContextManager[bool]:
        """Held while the broker is used."""

    @property
    def open_batches(self) -> OpenBatches | None:
        """The shortest way in, where there is one."""

    @property
    def now_ns(self) -> int:
        """Nanoseconds of session time."""

    @property
    def closing(self) -> bool:
        """True once it is being closed."""

    def call(self, action: Callable[[int], T]) -> T:
        """`action(now_ns)` under the lock."""

    def admin(self, action: Callable[[int], T]) -> T:
        """`call` that changes what there is; it returns when that is saved."""

    def ask(self, request: Request[T], timeout_s: float | None = None) -> T:
        """The result of an operation of the catalogue."""

    def start(self, coroutine: Coroutine[Reply[Any], None, T]) -> Reply[T]:
        """Run a coroutine of a client."""

    def wait(self, reply: Reply[T], timeout_s: float | None = None) -> T:
        """Sleep until `reply` is there; its result."""

    def waking(self, reply: Reply[Any], event: threading.Event) -> AbstractContextManager[None]:
        """While inside, `event` is set when `reply` comes or when the host closes."""

    def kept(self) -> Reply[None]:
        """There when all commits so far are on the disk."""

    def tell(self, callback: Callable[[], object]) -> None:
        """Run a callback of a user, without the lock."""

    def ensure_topic(self, name: str) -> None:
        """Create the topic where it is missing and that is configured."""

    def register(self, client: Closable, close: Callable[[float | None], object] | None = None) -> None:
        """Close `client` before the host; with `close(timeout_s)` where that may have to wait for something."""

    def unregister(self, client: Closable) -> None:
        """`client` is closed."""
