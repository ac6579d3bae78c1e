"""A loop on the monotonic clock behind one lock, driven by whoever holds it: what hosts have in common.

A call fires what is due, does its work, and runs what became ready; a thread does so when nobody calls. Clients wait
for replies in their own threads. Callbacks of users run in a thread of their own, without the lock.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar, runtime_checkable

from broker_core.clock import NS_PER_S
from broker_core.engine.loop import Loop, TaskCancelledError
from broker_core.errors import BrokerError, ErrorCode
from broker_core.replies import Reply
from broker_core.settings import TIMEOUT, checked, judged

T = TypeVar("T")

_log = logging.getLogger(__name__)
_NEVER_NS = 1 << 62
_LONGEST_WAIT_S = 3_600.0


CLOSE_TIMEOUT_S = 5.0  # what is not done so long after it was to end is given up


def _end() -> None:
    """The callback behind the last one."""


@runtime_checkable
class Closable(Protocol):
    """A client, closed before its host is."""

    def close(self) -> None:
        """Finish what was begun."""


class _Gate:
    """An event for one thread that waits once: a tenth of the cost of `threading.Event`."""

    __slots__ = ("_lock",)

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lock.acquire()

    def open(self, _reply: object = None) -> None:
        """Let the thread through; a second time does nothing. Under the host's lock."""
        if self._lock.locked():
            self._lock.release()

    set = open

    def wait(self, timeout_s: float | None) -> None:
        """Wait until it is opened, or for so long."""
        # A lock cannot wait for centuries.
        self._lock.acquire(timeout=-1 if timeout_s is None else min(max(timeout_s, 0.0), threading.TIMEOUT_MAX))


class HostLoop:
    """`lock` may be taken by a client's shortest path, where nothing is due or settled by it."""

    def __init__(self, lock: Any, name: str) -> None:
        """`lock` is a Lock or an RLock; threads are called after `name`."""
        self.loop = Loop()
        self.lock: AbstractContextManager[bool] = lock
        self._name = name
        self._wake = threading.Condition(lock)
        self._sleeps_until_ns = 0
        self._waiters: set[threading.Event | _Gate] = set()
        self._clients: dict[Closable, Callable[[float | None], object] | None] = {}
        self._callbacks: queue.SimpleQueue[Callable[[], object]] = queue.SimpleQueue()
        self._callback_thread: threading.Thread | None = None
        self._callback_lock = threading.Lock()
        self._timer_thread = threading.Thread(target=self._keep_time, name=f"{name}-timers", daemon=True)
        self._closing = False
        self._start_ns = time.monotonic_ns()

    # -- calls

    def call(self, action: Callable[[int], T]) -> T:
        """`action(now_ns)` under the lock, for a short while: it must not wait, nor call a user. Raises CLOSED."""
        with self.lock:
            if self._closing:
                raise BrokerError(ErrorCode.CLOSED, "the broker")
            return self._run(action)

    def start(self, coroutine: Coroutine[Reply[Any], None, T]) -> Reply[T]:
        """Run a coroutine of a client in the core; the reply has its result or its error. Raises CLOSED."""
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
        """Sleep until `reply` is there; its result. Raises its error, REQUEST_TIMED_OUT, or CLOSED."""
        if not reply.done:
            judged("timeout_s", TIMEOUT, timeout_s)
            gate = _Gate()
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
                raise BrokerError(ErrorCode.REQUEST_TIMED_OUT, f"nothing came in {timeout_s} s")
        return reply.result()

    @contextlib.contextmanager
    def waking(self, reply: Reply[Any], event: threading.Event) -> Iterator[None]:
        """While inside, `event` is set when `reply` comes or when the host closes."""
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
        """`start` and `wait`."""
        return self.wait(self.start(coroutine), timeout_s)

    def tell(self, callback: Callable[[], object]) -> None:
        """Run a callback of a user, without the lock, in the order of these calls, in a thread of its own."""
        with self._callback_lock:
            if self._callback_thread is None:
                self._callback_thread = threading.Thread(
                    target=self._call_back, name=f"{self._name}-callbacks", daemon=True
                )
                self._callback_thread.start()
        self._callbacks.put(callback)

    @property
    def now_ns(self) -> int:
        """Nanoseconds of session time; a jump of the wall clock does not move it."""
        return time.monotonic_ns() - self._start_ns

    @property
    def is_paused(self) -> bool:
        """Whether time stands still; the wall clock's never does."""
        return False

    @property
    def closing(self) -> bool:
        """True once `close` was called."""
        return self._closing

    @checked
    def register(self, client: Closable, close: Callable[[float | None], object] | None = None) -> None:
        """Close `client` before the host; with `close(timeout_s)` where that may have to wait for something."""
        self._clients[client] = close

    def unregister(self, client: Closable) -> None:
        """`client` is closed."""
        self._clients.pop(client, None)

    def _close_clients(self, steps: contextlib.ExitStack, timeout_s: float | None) -> None:
        """Have all clients closed by `steps`, in `timeout_s` together."""
        ends_s = None if timeout_s is None else time.monotonic() + timeout_s
        for client, close in list(self._clients.items()):
            if close is None:
                steps.callback(client.close)
            else:
                steps.callback(self._close_within, close, ends_s)

    @staticmethod
    def _close_within(close: Callable[[float | None], object], ends_s: float | None) -> None:
        close(None if ends_s is None else max(0.0, ends_s - time.monotonic()))

    # -- inside

    def _stop(self) -> None:
        """Wake who waits, and end the threads."""
        with self._wake:
            self._closing = True
            self._wake.notify_all()
            for event in tuple(self._waiters):
                event.set()
        self._callbacks.put(_end)
        for thread in (self._timer_thread, self._callback_thread):
            if thread is not None and thread.is_alive() and thread is not threading.current_thread():
                thread.join()

    def _run(self, action: Callable[[int], T]) -> T:
        loop = self.loop
        now_ns = time.monotonic_ns() - self._start_ns
        self._before()
        if loop.is_due(now_ns):
            self._fire(now_ns)
        loop.advance_to(now_ns)
        try:
            return action(now_ns)
        finally:
            if loop.is_due(now_ns):
                self._fire(now_ns)
            self._after()
            next_ns = loop.timers.next_deadline_ns()
            if next_ns is not None and next_ns < self._sleeps_until_ns:
                self._wake.notify()

    def _before(self) -> None:
        """What is to be done at the beginning of each call."""

    def _after(self) -> None:
        """What is to be done at the end of each call, still under the lock."""

    def _fire(self, now_ns: int) -> None:
        """Do everything that is due."""
        run_next = self.loop.run_next
        while True:
            try:
                while run_next(now_ns):
                    pass
                return
            except Exception:
                # A fault of ours or of one client: it must not cost the caller, who has nothing to do with it.
                _log.exception("a timer failed")

    def _keep_time(self) -> None:
        with self._wake:
            while True:
                self._run(lambda _now: None)
                # Asked only now: the lock may have been given up in between, where something waited for an answer.
                if self._closing:
                    return
                next_ns = self.loop.next_ns()
                self._sleeps_until_ns = _NEVER_NS if next_ns is None else next_ns
                wait_s = None if next_ns is None else max(0.0, (next_ns - self.now_ns) / NS_PER_S)
                # A lock cannot wait for centuries, which is how far away a time to live may end.
                self._wake.wait(None if wait_s is None else min(wait_s, _LONGEST_WAIT_S))
                self._sleeps_until_ns = 0

    def _call_back(self) -> None:
        while (callback := self._callbacks.get()) is not _end:
            try:
                callback()
            except Exception:
                _log.exception("a callback failed")
