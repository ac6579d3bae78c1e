"""A broker on the wall clock, callable from any thread.

One lock guards the broker. It is never held during a sync of the disk or a callback of the application: to wait is to
park a reply, and slow work runs in a thread of the host without the lock.

    broker-timers      fires due timers
    broker-writer      group commit as soon as a caller waits; every tick offsets, states of queues and retention
    broker-callbacks   runs callbacks of clients; started with the first
"""

from __future__ import annotations

import contextlib
import logging
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import TypeVar

import msgspec

from broker_core.broker.broker import Broker
from broker_core.broker.handlers import HANDLERS
from broker_core.broker.logs import put_aside_as
from broker_core.clock import NS_PER_MS
from broker_core.closable import Closable
from broker_core.engine.data_directory import DataDirectory, files_of, is_data_directory, offsets_of
from broker_core.engine.host import CLOSE_TIMEOUT_S, Host, HostConfig
from broker_core.engine.open_batches import OpenBatches
from broker_core.engine.queue_restore import restore_queues
from broker_core.engine.writer import Writer
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import Event, EventStream
from broker_core.files import FileSystem, MemoryFiles
from broker_core.groups.offsets import OffsetStore
from broker_core.replies import Reply
from broker_core.settings import TimeS, checked_class
from broker_core.timers import Timers

T = TypeVar("T")

_log = logging.getLogger(__name__)
_READ_ONLY = "the directory was opened read-only; open it without read_only to change it"


@checked_class(fast=("call", "admin"))
class BrokerHost(Host, Closable):
    """A broker with its own threads. `path` is its data directory; without one it runs in memory.

    The directory keeps topics, queues, leases, attempts and offsets across restarts. With `read_only` nothing is
    written, so that a directory on a full or read-only disk can be opened: `Admin` lists, describes and reads, leases
    do not expire, and every change raises READ_ONLY. Raises DIRECTORY_IN_USE, DAMAGED, STORAGE_ERROR.
    """

    def __init__(
        self,
        path: Path | str | None = None,
        config: HostConfig | None = None,
        *,
        read_only: bool = False,
        after: BrokerHost | None = None,
        wrap: Callable[[FileSystem], FileSystem] = lambda disk: disk,
    ) -> None:
        """Without `path`, all is kept in memory. The session of `after`, a host that has crashed, goes on here.

        What is written to `path` goes through `wrap(disk)`.
        """
        config = config or HostConfig()
        if path is None:
            config = msgspec.structs.replace(config, log=msgspec.structs.replace(config.log, durability="memory"))
        super().__init__(threading.Lock(), "broker")
        self.config = config
        self.path = None if path is None else Path(path)
        # An exception in a listener must not interrupt the broker.
        self.events: EventStream = EventStream(_listener_failed) if after is None else after.events
        if after is not None:
            self.clock.follow(after.clock)
        self.epoch_ms: int = time.time_ns() // NS_PER_MS if after is None else after.epoch_ms
        self._closed = False
        self._close_lock = threading.Lock()
        self._admin_lock = threading.RLock()
        self._saving_deferred = False  # to the end of `saved_at_end`
        with contextlib.ExitStack() as opened, _suggesting_read_only(path, read_only=read_only):
            files, offsets, self.directory = self._opened(path, opened, read_only=read_only, wrap=wrap)
            self.broker = Broker(
                files,
                Timers() if read_only else self.loop.timers,  # timers that nothing drives never fire
                self.events,
                offsets,
                handlers=HANDLERS,
                log_config=config.log,
                group_config=config.groups,
                epoch_ms=self.epoch_ms,
                undo_window_ms=0,  # nobody could ask for it
            )
            self.broker.queues.jitter_seed = secrets.randbits(64)
            if self.directory is not None:
                self._restore(0 if after is None else self.clock.now_ns(), self.directory, resumes=not read_only)
            opened.pop_all()
        self._begin(offsets, read_only=read_only)

    def _opened(
        self,
        path: Path | str | None,
        opened: contextlib.ExitStack,
        *,
        read_only: bool,
        wrap: Callable[[FileSystem], FileSystem],
    ) -> tuple[FileSystem, OffsetStore, DataDirectory | None]:
        """The files, committed offsets and directory at `path`, which `opened` closes; no directory in memory."""
        durable = self.config.log.durability == "fsync"
        if path is None:
            return MemoryFiles(), opened.enter_context(contextlib.closing(OffsetStore())), None
        files = files_of(path, read_only=read_only, wrap=wrap)
        directory = opened.enter_context(contextlib.closing(DataDirectory(files, durable=durable)))
        offsets = opened.enter_context(contextlib.closing(offsets_of(files, path, durable=durable)))
        return files, offsets, directory

    def _begin(self, offsets: OffsetStore, *, read_only: bool) -> None:
        """Let the threads of the host run."""
        if read_only:
            self.broker.queues.read_only = _READ_ONLY
            self.events.attach(_refuse)
        in_memory = self.config.log.durability == "memory" and not read_only
        self.open_batches = (
            OpenBatches(self.broker, self.clock.now_ns, self._wake_after, self.loop.is_due) if in_memory else None
        )
        self._writer = None if read_only else Writer(self, self.directory, offsets, self.config.tick_ms)
        if self._writer is not None and self.broker.durability.journal.logs:
            # Save the replayed states with the recovered logs. A full disk is reported at the next tick.
            with contextlib.suppress(BrokerError):
                self._writer.save_queues()
        self._timer_thread.start()
        if self._writer is not None:
            self._writer.thread.start()

    def _restore(self, now_ns: int, directory: DataDirectory, *, resumes: bool) -> None:
        catalog = directory.catalog()
        missing = directory.missing(catalog)  # before they are made anew
        self.broker.restore(now_ns, catalog)
        known = {f"{log.topic}-{log.partition}" for log in self.broker.logs.partitions()}
        unknown = directory.unknown_directories(known)
        self.broker.logs.keep(unknown)
        for sentence in (*directory.findings, *missing, *map(_of_unknown, chain(*unknown.values()))):
            self.broker.corruption.add(now_ns, sentence)
        restore_queues(now_ns, self.broker, directory)
        if resumes:
            self.broker.transactions.resume(now_ns)
            self.broker.share_groups.resume(now_ns)
            if directory.findings:
                # A full disk is reported at the next change.
                with contextlib.suppress(BrokerError):
                    directory.save_catalog(self.broker.catalog())
        self.broker.views.count_from_now()
        self.broker.corruption.update(now_ns, self.broker.durability.all_logs())
        for sentence in self.broker.corruption.sentences:
            _log.warning("%s", sentence)

    # -- calls

    def admin(self, action: Callable[[int], T]) -> T:
        """`call` for an administrative change; it returns once the catalog is saved. Raises STORAGE_ERROR, CLOSED."""
        if self.broker.queues.read_only:
            raise BrokerError(ErrorCode.READ_ONLY, self.broker.queues.read_only)
        with self._admin_lock:
            result = self.call(action)
            if self._writer is not None and not self._saving_deferred and self._saved_catalog():
                # The start of a new queue or subscription is in its saved state.
                self._writer.save_queues()
            return result

    @contextlib.contextmanager
    def saved_at_end(self) -> Iterator[None]:
        """Saves the catalog once at the end of the block, because each save writes all of it."""
        with self._admin_lock:
            before, self._saving_deferred = self._saving_deferred, True
            try:
                yield
            finally:
                self._saving_deferred = before
                self.admin(lambda _now: None)

    def _saved_catalog(self) -> bool:
        """Save the catalog; False if it is unchanged, or in memory."""
        directory = self.directory
        return directory is not None and directory.save_catalog(self.call(lambda _now: self.broker.catalog()))

    def durable(self) -> Reply[None]:
        """A reply that is settled when all commits and members so far are as durable as the directory."""
        if self.config.log.durability == "memory" or self._writer is None:
            return Reply.of(None)
        return self._writer.durable()

    def close(self, timeout_s: TimeS | None = CLOSE_TIMEOUT_S) -> None:
        """Close the clients, save everything, close files and threads. A second call waits for the first.

        All clients together have `timeout_s` to finish; None is no limit. After closing it raises the error of a
        client that gave up messages, and errors of the disk.
        """
        in_callback = threading.current_thread() is self._callback_thread
        if not self._close_lock.acquire(blocking=not in_callback):
            return  # `close` in another thread waits for this callback
        try:
            if self._closed:
                return
            self._closed = True
            # Every step runs, whatever another raises.
            with contextlib.ExitStack() as steps:
                if self.directory is not None:
                    steps.callback(self.directory.close)
                steps.callback(self.broker.close)
                if self._writer is not None:
                    steps.callback(self._writer.stop)
                steps.callback(self._stop)
                self._close_clients(steps, timeout_s)
        finally:
            self._close_lock.release()

    def threads_left(self) -> list[str]:
        writer = [] if self._writer is None or not self._writer.thread.is_alive() else [self._writer.thread.name]
        return [*super().threads_left(), *writer]

    def crash(self) -> None:
        """End as by the death of the process: threads and files are closed, and nothing more is written.

        Clients get no notice; their calls raise CLOSED. A host made with `after=` this one continues.
        """
        with self._close_lock:
            if self._closed:
                return
            self._closed = True
            with contextlib.ExitStack() as steps:
                if self.directory is not None:
                    steps.callback(self.directory.close)
                steps.callback(self.broker.offsets.store.abandon)
                if self._writer is not None:
                    steps.callback(self._writer.abandon)
                steps.callback(self._stop)
                self.locked(self._die)

    def _die(self, now_ns: int) -> None:
        self.broker.crashed(now_ns)
        self._closing = True

    def _stop(self) -> None:
        if self.open_batches is not None:
            with self.lock:
                self.open_batches.stop()
        super()._stop()

    # -- inside

    def _after(self) -> None:
        if (self.broker.durability.syncs.wanted or self.broker.offsets.store.awaited) and self._writer is not None:
            self._writer.wake()

    def _wake_after(self, delay_ns: int) -> None:
        self.timers.at_end_of_wait(self.clock.now_ns() + delay_ns, lambda _at: None)


def _of_unknown(directory: str) -> str:
    return (
        f"{directory} contains messages of no known topic. A new topic does not take them over: it renames them "
        f"{put_aside_as(directory)}. To get them back, restore catalog.json"
    )


def _refuse(_event: Event) -> None:
    raise BrokerError(ErrorCode.READ_ONLY, _READ_ONLY)


def _listener_failed(error: Exception) -> None:
    if isinstance(error, BrokerError) and error.code is ErrorCode.READ_ONLY:
        raise error
    _log.error("a listener failed", exc_info=error)


@contextlib.contextmanager
def _suggesting_read_only(path: Path | str | None, *, read_only: bool) -> Iterator[None]:
    """Add a hint at `read_only` to the error of a directory that cannot be opened because of its disk."""
    try:
        yield
    except BrokerError as error:
        is_kept = path is not None and str(path) != "" and is_data_directory(Path(path))
        if error.code is not ErrorCode.STORAGE_ERROR or read_only or not is_kept:
            raise
        about = f"{error.about}; it can still be read if it is opened with read_only=True"
        raise BrokerError(ErrorCode.STORAGE_ERROR, about) from error
