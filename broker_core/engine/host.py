"""A broker on the wall clock, callable from any thread.

One lock stands around the pure core. It is never held across a sync of the disk or across a callback of a user: waiting
is a reply that somebody else settles, and what is slow is done by a thread of the host's own, without the lock.

    broker-timers      fires what is due
    broker-writer      group commit, at once when somebody waits; every tick offsets, states of queues, retention
    broker-callbacks   runs what clients want to be told; started by the first of them
"""

from __future__ import annotations

import contextlib
import logging
import queue
import secrets
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

import msgspec

from broker_core.broker import Broker
from broker_core.clock import NS_PER_MS, NS_PER_S
from broker_core.engine.data_directory import OFFSETS_FILE, DataDirectory
from broker_core.engine.loop import Loop, TaskCancelledError
from broker_core.engine.tails import Tails
from broker_core.engine.writer import Writer
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import EventStream
from broker_core.files import DiskFiles, FileSystem, MemoryFiles
from broker_core.groups.config import GroupConfig
from broker_core.groups.offsets import OffsetStore
from broker_core.log.config import LogConfig
from broker_core.replies import Reply

T = TypeVar("T")

_log = logging.getLogger(__name__)
_NEVER_NS = 1 << 62
_LONGEST_WAIT_S = 3_600.0
# No network to wait for: members that start together still join as one.
DEFAULT_GROUPS = GroupConfig(initial_rebalance_delay_ms=50)


class Closable(Protocol):
    """A client, closed before its host is."""

    def close(self) -> None:
        """Finish what was begun."""


class HostConfig(msgspec.Struct, frozen=True, kw_only=True):
    """`log` is how new topics are kept; its durability is that of the whole directory.

    With `auto_create_partitions` above 0, publishing to an unknown topic creates it with so many partitions. A tick is
    how often offsets and states of queues reach the disk.
    """

    log: LogConfig = LogConfig(durability="file")
    groups: GroupConfig = DEFAULT_GROUPS
    auto_create_partitions: int = 0
    tick_ms: int = 250


class BrokerHost:
    """A broker that runs by itself. Without a `path` everything is kept in memory.

    A directory holds everything that was created, with queues, leases, attempts and offsets, until it is opened again.
    Raises DIRECTORY_IN_USE, DAMAGED, STORAGE_ERROR.
    """

    def __init__(self, path: Path | str | None = None, config: HostConfig | None = None) -> None:
        config = config or HostConfig()
        if path is None:
            config = msgspec.structs.replace(config, log=msgspec.structs.replace(config.log, durability="memory"))
        self.config = config
        self.events = EventStream()
        self.loop = Loop()
        durable = config.log.durability == "fsync"
        files: FileSystem = MemoryFiles() if path is None else DiskFiles(path)
        self.directory = DataDirectory(files, durable=durable)
        self.lock = threading.Lock()  # a client's shortest path may hold it, where nothing is due or settled by it
        self._wake = threading.Condition(self.lock)
        self._sleeps_until_ns = 0
        self._waiters: set[threading.Event] = set()
        self._clients: dict[Closable, None] = {}
        self._callbacks: queue.SimpleQueue[Callable[[], object] | None] = queue.SimpleQueue()
        self._callback_thread: threading.Thread | None = None
        self._closing = False
        self._closed = False
        self._close_lock = threading.Lock()
        self._admin_lock = threading.RLock()
        self._start_ns = time.monotonic_ns()
        opened = contextlib.ExitStack()
        opened.callback(self.directory.close)
        with opened:
            offsets = OffsetStore(":memory:" if path is None else Path(path) / OFFSETS_FILE, durable=durable)
            opened.callback(offsets.close)
            self.broker = Broker(
                files,
                self.loop.timers,
                self.events,
                offsets,
                log_config=config.log,
                group_config=config.groups,
                epoch_ms=time.time_ns() // NS_PER_MS,
            )
            self.broker.jitter_seed = secrets.randbits(64)
            self._restore()
            opened.pop_all()
        self.tails = Tails(self.broker, self._start_ns, self._wake_at)
        self._writer = Writer(self, self.directory, offsets, config.tick_ms)
        self._timer_thread = threading.Thread(target=self._keep_time, name="broker-timers", daemon=True)
        self._timer_thread.start()
        self._writer.start()

    def _restore(self) -> None:
        self.broker.restore(0, self.directory.catalog())
        bins = {letters.name: letters for letters in self.broker.bins().values()}
        for name in (*self.broker.queue_names(), *bins):
            try:
                kept = self.directory.queue_state(name)
            except BrokerError as error:
                self.broker.damage.say(0, str(error))
                continue
            if kept is not None:
                if kept.queue is not None:
                    self.broker.queue(name).restore(0, kept.queue)
                letters = bins[name] if name in bins else self.broker.dead_letters(name)
                letters.restore(kept.dead_letters)
        self.broker.tell_damage(0)
        for sentence in self.broker.damage.sentences:
            _log.warning("%s", sentence)

    # -- calls

    def call(self, action: Callable[[int], T]) -> T:
        """`action(now_ns)` under the lock, for a short while: it must not wait, nor call a user. Raises CLOSED."""
        with self.lock:
            if self._closing:
                raise BrokerError(ErrorCode.CLOSED, "the broker")
            return self._run(action)

    def admin(self, action: Callable[[int], T]) -> T:
        """`call` that changes what there is; it returns when that is saved. Raises STORAGE_ERROR, CLOSED."""
        with self._admin_lock:
            result = self.call(action)
            if self.directory.save_catalog(self.call(lambda _now: self.broker.catalog())):
                # Where a new queue or subscription begins is part of what was made.
                self._writer.save_queues()
            return result

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
            settled = threading.Event()
            with self.waking(reply, settled):
                settled.wait(timeout_s)
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

    def kept(self) -> Reply[None]:
        """There when all commits so far are on the disk, as durable as the directory is."""
        if self.config.log.durability == "memory":
            return Reply.of(None)
        return self._writer.kept()

    def tell(self, callback: Callable[[], object]) -> None:
        """Run a callback of a user, without the lock, in the order of these calls, in a thread of its own."""
        if self._callback_thread is None:
            self._callback_thread = threading.Thread(target=self._call_back, name="broker-callbacks", daemon=True)
            self._callback_thread.start()
        self._callbacks.put(callback)

    def ensure_topic(self, name: str) -> None:
        """Create the topic where it is missing and that is configured; else nothing."""
        count = self.config.auto_create_partitions

        def create(now_ns: int) -> None:
            if name not in (*self.broker.topic_names(), *self.broker.queue_names()):
                self.broker.create_topic(now_ns, name, count)

        if count > 0:
            self.admin(create)

    @property
    def now_ns(self) -> int:
        """Nanoseconds since the host was opened; a jump of the wall clock does not move it."""
        return time.monotonic_ns() - self._start_ns

    @property
    def closing(self) -> bool:
        """True once `close` was called."""
        return self._closing

    # -- clients and the end

    def register(self, client: Closable) -> None:
        """Close `client` before the host."""
        self._clients[client] = None

    def unregister(self, client: Closable) -> None:
        """`client` is closed."""
        self._clients.pop(client, None)

    def close(self) -> None:
        """Close the clients, save everything, give back files and threads. The second call waits for the first.

        Raises what a client or the disk had to say, when all is closed.
        """
        in_callback = threading.current_thread() is self._callback_thread
        if not self._close_lock.acquire(blocking=not in_callback):
            return  # whoever closes waits for this very callback
        try:
            if self._closed:
                return
            self._closed = True
            # Whatever one of these raises, the others are done too.
            with contextlib.ExitStack() as steps:
                steps.callback(self.directory.close)
                steps.callback(self.broker.close)
                steps.callback(self._writer.stop)
                steps.callback(self._stop)
                for client in list(self._clients):
                    steps.callback(client.close)
        finally:
            self._close_lock.release()

    def _stop(self) -> None:
        """Wake who waits, and end the threads but the writer's."""
        with self.lock:
            self.tails.stop()
            self._closing = True
            self._wake.notify_all()
            for event in self._waiters:
                event.set()
        self._callbacks.put(None)
        for thread in (self._timer_thread, self._callback_thread):
            if thread is not None and thread is not threading.current_thread():
                thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- inside; `locked` means that the caller holds the lock

    def locked(self, action: Callable[[int], T]) -> T:
        """`call`, for the host's own threads: while closing, too."""
        with self.lock:
            return self._run(action)

    def _run(self, action: Callable[[int], T]) -> T:
        loop = self.loop
        now_ns = time.monotonic_ns() - self._start_ns
        if self.tails.open:
            self.tails.close()
        self._fire(now_ns)
        loop.advance_to(now_ns)
        try:
            return action(now_ns)
        finally:
            self._fire(now_ns)
            next_ns = loop.timers.next_deadline_ns()
            if next_ns is not None and next_ns < self._sleeps_until_ns:
                self._wake.notify()
            if self.broker.syncs.wanted:
                self._writer.wake()

    def _wake_at(self, time_ns: int) -> None:
        """Have the timers' thread come by at `time_ns`."""
        self.loop.timers.at(time_ns, lambda _at: None)
        if time_ns < self._sleeps_until_ns:
            self._wake.notify()

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
                _log.exception("a timer of the broker failed")

    def _keep_time(self) -> None:
        with self._wake:
            while not self._closing:
                self._run(lambda _now: None)
                next_ns = self.loop.timers.next_deadline_ns()
                self._sleeps_until_ns = _NEVER_NS if next_ns is None else next_ns
                wait_s = None if next_ns is None else max(0.0, (next_ns - self.now_ns) / NS_PER_S)
                # A lock cannot wait for centuries, which is how far away a time to live may end.
                self._wake.wait(None if wait_s is None else min(wait_s, _LONGEST_WAIT_S))
                self._sleeps_until_ns = 0

    def _call_back(self) -> None:
        while (callback := self._callbacks.get()) is not None:
            try:
                callback()
            except Exception:
                _log.exception("a callback failed")
