"""The base of hosts: a loop on the monotonic clock behind one lock, driven by the thread that holds the lock.

A call fires due timers, runs its action, and runs what became ready; between calls a thread does so. Clients wait for
replies in their own threads. Callbacks of the application run in another thread, without the lock.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractContextManager
from typing import Annotated, Any, TypeVar

from msgspec import Meta

from broker_core.broker.broker import Broker
from broker_core.clock import NS_PER_S
from broker_core.closable import Closable
from broker_core.engine.host_clock import HostClock, HostTimers
from broker_core.engine.loop import Loop, TaskCancelledError
from broker_core.engine.open_batches import OpenBatches
from broker_core.errors import BrokerError, ErrorCode
from broker_core.groups.config import GroupConfig
from broker_core.limits import MAX_PARTITIONS
from broker_core.log.config import LogConfig
from broker_core.operations.catalogue import entry_of
from broker_core.operations.request import ADMIN_CLIENT, Request, check
from broker_core.operations.topics import CreateTopic
from broker_core.replies import Reply
from broker_core.settings import TIMEOUT, Settings, WaitMs, checked, validated

T = TypeVar("T")

_log = logging.getLogger(__name__)
_NEVER_NS = 1 << 62
_LONGEST_WAIT_S = 3_600.0
CLOSE_TIMEOUT_S = 5.0  # for all clients of a host together
# In process there is no network delay: members that start together join within this time.
DEFAULT_GROUPS = GroupConfig(initial_rebalance_delay_ms=50)


def _end() -> None:
    """Marks the end of the callback queue."""


class _OneTimeEvent:
    """A one-time event for a single waiting thread, at a tenth of the cost of `threading.Event`."""

    __slots__ = ("_lock",)

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lock.acquire()

    def open(self, _reply: object = None) -> None:
        if self._lock.locked():
            self._lock.release()

    set = open

    def wait(self, timeout_s: float | None) -> None:
        """Wait until it is opened, or for `timeout_s`."""
        # `acquire` has a maximum timeout.
        self._lock.acquire(timeout=-1 if timeout_s is None else min(max(timeout_s, 0.0), threading.TIMEOUT_MAX))


class HostConfig(Settings, frozen=True, kw_only=True):
    """Settings of a host. `log` is the default of new topics; its durability applies to the whole directory.

    With `auto_create_partitions` above 0, publishing to an unknown topic creates it with that many partitions.
    `tick_ms` is the interval at which offsets and states of queues are written to the disk.
    """

    log: LogConfig = LogConfig(durability="file")
    groups: GroupConfig = DEFAULT_GROUPS
    auto_create_partitions: Annotated[int, Meta(ge=0, le=MAX_PARTITIONS)] = 0
    tick_ms: WaitMs = 250


class Host:
    """The base of hosts. Fast paths of clients may take `lock` directly, if they settle no reply.

    `open_batches` are those of a broker in memory.
    """

    broker: Broker
    config: HostConfig
    open_batches: OpenBatches | None = None

    def __init__(self, lock: Any, name: str) -> None:
        """`lock` is a Lock or an RLock; `name` begins the names of its threads."""
        self.loop = Loop()
        self.lock: AbstractContextManager[bool] = lock
        self._name = name
        self._wake = threading.Condition(lock)
        self._sleeps_until_ns = 0  # in session time
        self._waits_until_ns = 0  # in monotonic time
        self._waiters: set[threading.Event | _OneTimeEvent] = set()
        self._clients: dict[Closable, Callable[[float | None], object] | None] = {}
        self._callbacks: queue.SimpleQueue[Callable[[], object]] = queue.SimpleQueue()
        self._callback_thread: threading.Thread | None = None
        self._callback_lock = threading.Lock()
        self._timer_thread = threading.Thread(target=self._keep_time, name=f"{name}-timers", daemon=True)
        self._closing = False
        self.clock = HostClock(self._wake.notify)
        self.loop.timers = self.timers = HostTimers(self.clock, self._wait_added)

    # -- calls

    def call(self, action: Callable[[int], T]) -> T:
        """Run `action(now_ns)` under the lock. It must neither block nor call the application. Raises CLOSED."""
        with self.lock:
            if self._closing:
                raise BrokerError(ErrorCode.CLOSED, "the broker")
            return self._run(action)

    def locked(self, action: Callable[[int], T]) -> T:
        """`call` for the host's own threads: it also works while closing."""
        with self.lock:
            return self._run(action)

    def admin(self, action: Callable[[int], T]) -> T:
        """`call` that changes what there is; it returns when that is saved, where anything outlives the host."""
        return self.call(action)

    @contextlib.contextmanager
    def saved_at_end(self) -> Iterator[None]:
        """Calls of `admin` by this thread whose changes are saved once, when the block ends. Raises STORAGE_ERROR."""
        yield

    def ensure_topic(self, name: str) -> bool:
        """Create a missing topic if `auto_create_partitions` is set. Whether it did."""
        count = self.config.auto_create_partitions

        def create(now_ns: int) -> bool:
            missing = name not in self.broker.logs
            if missing:
                self.broker.handle(now_ns, CreateTopic(name=name, partitions=count))
            return missing

        return count > 0 and self.admin(create)

    def durable(self) -> Reply[None]:
        """A reply that is settled when all commits so far are as durable as the host."""
        return Reply.of(None)

    def start(self, coroutine: Coroutine[Reply[Any], None, T]) -> Reply[T]:
        """Start a coroutine on the loop. The reply gets its result or error. Raises CLOSED."""
        reply: Reply[T] = Reply()

        async def run() -> None:
            try:
                reply.resolve(await coroutine)
            except TaskCancelledError:
                reply.fail(BrokerError(ErrorCode.CLOSED, "it was cancelled"))
                raise
            except Exception as error:
                reply.fail(error)

        try:
            self.call(lambda _now: self.loop.spawn(run(), "call"))
        except BrokerError:
            coroutine.close()
            raise
        return reply

    def wait(self, reply: Reply[T], timeout_s: float | None = None) -> T:
        """Block until `reply` is settled. Returns its result. Raises its error, REQUEST_TIMED_OUT, or CLOSED."""
        if not reply.done:
            validated("timeout_s", TIMEOUT, timeout_s)
            gate = _OneTimeEvent()
            with self.lock:
                self._waiters.add(gate)
                reply.then(gate.open)
                if self._closing:
                    gate.open()
            try:
                gate.wait(timeout_s)
            finally:
                self._waiters.discard(gate)
            if not reply.done:
                if self._closing:
                    raise BrokerError(ErrorCode.CLOSED, "the broker")
                raise BrokerError(ErrorCode.REQUEST_TIMED_OUT, f"nothing arrived within {timeout_s} s")
        return reply.result()

    def ask(self, request: Request[T], timeout_s: float | None = None, *, client: str = ADMIN_CLIENT) -> T:
        """The result of an operation of the catalogue, which `client` asks for; what it changes is saved by then.

        Raises what the operation raises, READ_ONLY, STORAGE_ERROR, CLOSED, REQUEST_TIMED_OUT, and INVALID_REQUEST for
        a field of a wrong type and for what only a listener can answer.
        """
        saved = entry_of(request).saved
        check(request)
        call = self.admin if saved in {"catalog", "catalog and offsets"} else self.call
        result = self.wait(call(lambda now_ns: self.broker.handle(now_ns, request, client)), timeout_s)
        if saved in {"offsets", "catalog and offsets"}:
            self.wait(self.durable(), timeout_s)
        return result

    @contextlib.contextmanager
    def waking(self, reply: Reply[Any], event: threading.Event) -> Iterator[None]:
        """Within the context, `event` is set when `reply` is settled or the host closes."""
        with self.lock:
            self._waiters.add(event)
            reply.then(lambda _reply: event.set())
            if self._closing:
                event.set()
        try:
            yield
        finally:
            with self.lock:
                self._waiters.discard(event)

    def run(self, coroutine: Coroutine[Reply[Any], None, T], timeout_s: float | None = None) -> T:
        return self.wait(self.start(coroutine), timeout_s)

    def tell(self, callback: Callable[[], object]) -> None:
        """Queue a callback of the application. The callback thread runs them in order, without the lock."""
        with self._callback_lock:
            if self._callback_thread is None:
                self._callback_thread = threading.Thread(
                    target=self._call_back, name=f"{self._name}-callbacks", daemon=True
                )
                self._callback_thread.start()
        self._callbacks.put(callback)

    @property
    def now_ns(self) -> int:
        """Session time in nanoseconds, monotonic."""
        return self.clock.now_ns()

    @property
    def is_paused(self) -> bool:
        """Whether session time stands still."""
        return False

    @property
    def closing(self) -> bool:
        """Whether it is closed, or being closed."""
        return self._closing

    @checked
    def register(self, client: Closable, close: Callable[[float | None], object] | None = None) -> None:
        """Have `client` closed before the host; by `close(timeout_s)` if it may have to wait."""
        self._clients[client] = close

    def unregister(self, client: Closable) -> None:
        """Forget a closed client."""
        self._clients.pop(client, None)

    def _close_clients(self, steps: contextlib.ExitStack, timeout_s: float | None) -> None:
        """Add the closing of all clients to `steps`; together they have `timeout_s`."""
        ends_s = None if timeout_s is None else time.monotonic() + timeout_s
        for client, close in list(self._clients.items()):
            if close is None:
                steps.callback(client.close)
            else:
                steps.callback(self._close_within, close, ends_s)

    @staticmethod
    def _close_within(close: Callable[[float | None], object], ends_s: float | None) -> None:
        close(None if ends_s is None else max(0.0, ends_s - time.monotonic()))

    def threads_left(self) -> list[str]:
        """The names of its threads that run; none once it is closed."""
        return [thread.name for thread in self._threads() if thread.is_alive()]

    # -- inside

    def _threads(self) -> list[threading.Thread]:
        return [thread for thread in (self._timer_thread, self._callback_thread) if thread is not None]

    def _stop(self) -> None:
        with self._wake:
            self._closing = True
            self._wake.notify_all()
            for event in tuple(self._waiters):
                event.set()
        self._callbacks.put(_end)
        for thread in self._threads():
            if thread.is_alive() and thread is not threading.current_thread():
                thread.join()

    def _run(self, action: Callable[[int], T]) -> T:
        loop = self.loop
        now_ns = self.clock.now_ns()
        if self.open_batches is not None and self.open_batches.open:
            self.open_batches.close()
        if loop.is_due(now_ns):
            self._run_due(lambda: loop.run_next(now_ns))
        loop.advance_to(now_ns)
        try:
            return action(now_ns)
        finally:
            if self.broker.conditions.waiting:
                self.broker.conditions.look_again(now_ns)
            if loop.is_due(now_ns):
                self._run_due(lambda: loop.run_next(now_ns))
            self._after()
            next_ns = loop.timers.next_deadline_ns()
            if next_ns is not None and next_ns < self._sleeps_until_ns:
                self._wake.notify()

    def _after(self) -> None:
        """Called at the end of each call, under the lock."""

    @staticmethod
    def _run_due(run_next: Callable[[], object]) -> None:
        """Call `run_next()` until nothing is due."""
        while True:
            try:
                while run_next():
                    pass
                return
            except Exception:
                # An error in a timer must not reach the present caller.
                _log.exception("a timer failed")

    def _wait_added(self, ends_ns: int) -> None:
        if ends_ns < self._waits_until_ns:
            self._wake.notify()

    def _end_waits(self, _now_ns: int) -> None:
        fire_next = self.timers.waits.fire_next
        self._run_due(lambda: fire_next(time.monotonic_ns()) is not None)

    def _keep_time(self) -> None:
        with self._wake:
            while not self._closing:
                next_ns, wait_ns = self.loop.next_ns(), self.timers.waits.next_deadline_ns()
                ends_ns = _NEVER_NS if wait_ns is None else wait_ns
                self._sleeps_until_ns, self._waits_until_ns = _NEVER_NS if next_ns is None else next_ns, ends_ns
                if next_ns is not None and (not self.clock.is_stopped or next_ns <= self.now_ns):
                    ends_ns = min(ends_ns, self.clock.monotonic_ns(next_ns))
                wait_s = (ends_ns - time.monotonic_ns()) / NS_PER_S
                if wait_s > 0:
                    # A time to live may end in a century, and `wait` has a maximum timeout.
                    self._wake.wait(min(wait_s, _LONGEST_WAIT_S))
                else:
                    self._run(self._end_waits)
                self._sleeps_until_ns = self._waits_until_ns = 0

    def _call_back(self) -> None:
        while (callback := self._callbacks.get()) is not _end:
            try:
                callback()
            except Exception:
                _log.exception("a callback failed")
