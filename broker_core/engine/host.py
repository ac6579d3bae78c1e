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
import secrets
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Annotated, Self, TypeVar

import msgspec

from broker_core.broker import Broker
from broker_core.clock import NS_PER_MS
from broker_core.engine.data_directory import OFFSETS_FILE, DataDirectory
from broker_core.engine.host_loop import CLOSE_TIMEOUT_S, HostLoop
from broker_core.engine.tails import Tails
from broker_core.engine.writer import Writer
from broker_core.errors import BrokerError
from broker_core.events import EventStream
from broker_core.files import DiskFiles, FileSystem, MemoryFiles
from broker_core.groups.config import GroupConfig
from broker_core.groups.offsets import OffsetStore
from broker_core.kinds import Range
from broker_core.limits import MAX_PARTITIONS
from broker_core.log.config import LogConfig
from broker_core.replies import Reply
from broker_core.settings import Settings, WaitMs

T = TypeVar("T")

_log = logging.getLogger(__name__)
# No network to wait for: members that start together still join as one.
DEFAULT_GROUPS = GroupConfig(initial_rebalance_delay_ms=50)


class HostConfig(Settings, frozen=True, kw_only=True):
    """`log` is how new topics are kept; its durability is that of the whole directory.

    With `auto_create_partitions` above 0, publishing to an unknown topic creates it with so many partitions. A tick is
    how often offsets and states of queues reach the disk.
    """

    log: LogConfig = LogConfig(durability="file")
    groups: GroupConfig = DEFAULT_GROUPS
    auto_create_partitions: Annotated[int, Range(0, MAX_PARTITIONS)] = 0
    tick_ms: WaitMs = 250


class BrokerHost(HostLoop):
    """A broker that runs by itself. Without a `path` everything is kept in memory.

    A directory holds everything that was created, with queues, leases, attempts and offsets, until it is opened again.
    Raises DIRECTORY_IN_USE, DAMAGED, STORAGE_ERROR.
    """

    def __init__(self, path: Path | str | None = None, config: HostConfig | None = None) -> None:
        config = config or HostConfig()
        if path is None:
            config = msgspec.structs.replace(config, log=msgspec.structs.replace(config.log, durability="memory"))
        super().__init__(threading.Lock(), "broker")
        self.config = config
        # A listener that fails must not leave the broker in the middle of something.
        self.events = EventStream(lambda error: _log.error("a listener failed", exc_info=error))
        durable = config.log.durability == "fsync"
        files: FileSystem = MemoryFiles() if path is None else DiskFiles(path)
        self.directory = DataDirectory(files, durable=durable)
        self._closed = False
        self._close_lock = threading.Lock()
        self._admin_lock = threading.RLock()
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
        in_memory = config.log.durability == "memory"
        self.tails = Tails(self.broker, self._start_ns, self._wake_at, self.loop.is_due) if in_memory else None
        self._writer = Writer(self, self.directory, offsets, config.tick_ms)
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
        self.broker.count_from_now()
        self.broker.tell_damage(0)
        for sentence in self.broker.damage.sentences:
            _log.warning("%s", sentence)

    # -- calls

    def admin(self, action: Callable[[int], T]) -> T:
        """`call` that changes what there is; it returns when that is saved. Raises STORAGE_ERROR, CLOSED."""
        with self._admin_lock:
            result = self.call(action)
            if self.directory.save_catalog(self.call(lambda _now: self.broker.catalog())):
                # Where a new queue or subscription begins is part of what was made.
                self._writer.save_queues()
            return result

    def kept(self) -> Reply[None]:
        """There when all commits so far are on the disk, as durable as the directory is."""
        if self.config.log.durability == "memory":
            return Reply.of(None)
        return self._writer.kept()

    def ensure_topic(self, name: str) -> None:
        """Create the topic where it is missing and that is configured; else nothing."""
        count = self.config.auto_create_partitions

        def create(now_ns: int) -> None:
            if name not in (*self.broker.topic_names(), *self.broker.queue_names()):
                self.broker.create_topic(now_ns, name, count)

        if count > 0:
            self.admin(create)

    def close(self, timeout_s: float | None = CLOSE_TIMEOUT_S) -> None:
        """Close the clients, save everything, give back files and threads. The second call waits for the first.

        Clients have `timeout_s` together for what they have begun; None is as long as it takes. Raises what a client
        gave up then, and what the disk had to say, when all is closed.
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
                self._close_clients(steps, timeout_s)
        finally:
            self._close_lock.release()

    def _stop(self) -> None:
        if self.tails is not None:
            with self.lock:
                self.tails.stop()
        super()._stop()

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

    def _before(self) -> None:
        if self.tails is not None and self.tails.open:
            self.tails.close()

    def _after(self) -> None:
        if self.broker.syncs.wanted:
            self._writer.wake()

    def _wake_at(self, time_ns: int) -> None:
        """Have the timers' thread come by at `time_ns`."""
        self.loop.timers.at(time_ns, lambda _at: None)
        if time_ns < self._sleeps_until_ns:
            self._wake.notify()
