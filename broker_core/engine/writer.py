"""The host's writer thread, the only one that waits for the disk: group commit, and the work of each tick."""

from __future__ import annotations

import logging
import math
import threading
import time
from functools import partial

import msgspec

from broker_core.engine.data_directory import DataDirectory, KeptQueue
from broker_core.engine.host import Host
from broker_core.errors import BrokerError, ErrorCode
from broker_core.groups.offsets import OffsetStore
from broker_core.replies import Reply

_log = logging.getLogger(__name__)
# The largest share of time that saving the states of queues may take.
SAVING_FRACTION = 0.05
# Interval of retention, which visits every partition.
CLEAN_S = 1.0
# Compaction holds the lock for this long at most, plus one slice.
LONGEST_SLICES_S = 0.02


class Writer:
    """Syncs as soon as a caller waits; flushes offsets, saves queues and applies retention once a tick."""

    def __init__(self, host: Host, directory: DataDirectory | None, offsets: OffsetStore, tick_ms: int) -> None:
        self._host = host
        self._offsets = offsets
        self._broker = host.broker
        self._directory = directory
        self._tick_s = tick_ms / 1_000
        self._event = threading.Event()
        self._stopping = False
        self._marks: dict[str, tuple[object, ...]] = {}
        self._unwritable: set[str] = set()  # queues whose last state could not be encoded
        self._next_save_s = self._next_clean_s = 0.0
        self._next_slice_s = math.inf  # of compaction
        self._saving = threading.Lock()
        self._syncing = threading.Lock()
        self._producers = host.broker.producer_ids.state()
        self.thread = threading.Thread(target=self._work, name="broker-writer", daemon=True)

    def wake(self) -> None:
        if not self._event.is_set():
            self._event.set()

    def durable(self) -> Reply[None]:
        """A reply that is settled when all offsets and members so far are on the disk; it fails with STORAGE_ERROR."""
        return self._host.locked(lambda _now: self._offsets.flushed())

    def abandon(self) -> None:
        """End the thread; what is pending is not written."""
        self._stopping = True
        self._event.set()
        self.thread.join()

    def stop(self) -> None:
        """End the thread, then write everything. Raises STORAGE_ERROR for what could not be written."""
        self.abandon()
        self._sync()
        try:
            self._flush()
        finally:
            self.save_queues()
        if self._unwritable:
            names = ", ".join(sorted(self._unwritable))
            raise BrokerError(ErrorCode.STORAGE_ERROR, f"the state of {names} could not be saved")

    def _work(self) -> None:
        next_tick_s = time.monotonic() + self._tick_s
        reported = ""  # once, not at every tick
        while not self._stopping:
            self._event.wait(max(0.0, min(next_tick_s, self._next_slice_s) - time.monotonic()))
            self._event.clear()
            try:
                self._sync()
                if time.monotonic() >= next_tick_s:
                    self._tick()
                    reported = ""
                if time.monotonic() >= self._next_slice_s:
                    self._compact()
                if self._offsets.awaited:
                    self._flush()
            except BrokerError as error:
                # Waiting callers have the error; the next tick tries again.
                if str(error) != reported:
                    reported = str(error)
                    _log.error("the broker could not write everything and is trying again: %s", error)
            except Exception:
                _log.exception("the broker could not write everything")
            if time.monotonic() >= next_tick_s:
                next_tick_s = time.monotonic() + self._tick_s

    def _tick(self) -> None:
        try:
            self._flush()
        finally:  # retention frees space where offsets find none
            self._save_and_clean()

    def _save_and_clean(self) -> None:
        if time.monotonic() >= self._next_save_s:
            started_s = time.monotonic()
            self.save_queues()
            ended_s = time.monotonic()
            self._next_save_s = ended_s + (ended_s - started_s) / SAVING_FRACTION
        if time.monotonic() >= self._next_clean_s:
            self._next_clean_s = time.monotonic() + CLEAN_S
            self._next_slice_s = 0.0  # compaction runs even where retention fails
            self._host.locked(self._broker.cleaning.clean)
            self._host.locked(self._broker.transactions.expire)
            if self._directory is not None:
                self._directory.refill_reserve()
        if self._directory is None:
            return
        producers = self._host.locked(lambda _now: self._broker.producer_ids.state())
        if producers != self._producers:
            self._directory.save_catalog(self._host.locked(lambda _now: self._broker.catalog()))
            self._producers = producers

    def _compact(self) -> None:
        """Run a few slices of compaction, then rest so that it keeps to its share of the time."""
        self._next_slice_s = math.inf  # after a failure, the next cleaning starts it again
        asked_s = time.monotonic()

        def work(now_ns: int) -> tuple[float, float]:
            # The wait for the lock counts: a busy caller reacquires it before this thread wakes up.
            started_s = time.monotonic()
            while True:
                fraction = self._broker.cleaning.compact(now_ns)
                worked_s = time.monotonic() - started_s
                if not fraction or worked_s >= min(LONGEST_SLICES_S, (started_s - asked_s) * fraction / (1 - fraction)):
                    return fraction, worked_s

        fraction, worked_s = self._host.locked(work)
        if fraction:
            self._next_slice_s = time.monotonic() + worked_s * (1 / fraction - 1)

    def _sync(self) -> None:
        """Rounds of group commit until no caller waits; the lock is free during syncs."""
        while self._broker.durability.syncs.wanted:
            # One round at a time: a sync after a failed one must not succeed.
            with self._syncing:
                tickets = self._host.locked(lambda _now: self._broker.durability.syncs.begin())
                for _, ticket in tickets:
                    ticket.run()
                self._host.locked(partial(self._broker.durability.end_sync, done=tickets))

    def _flush(self) -> None:
        ticket = self._host.locked(lambda _now: self._offsets.begin_flush())
        if ticket is not None:
            ticket.run()
            self._host.locked(lambda _now: self._offsets.end_flush(ticket))

    def save_queues(self) -> None:
        """Save the queues that have changed, after syncing the logs that their states refer to."""
        if self._directory is not None:
            with self._saving:
                self._save_queues(self._directory)

    def _save_queues(self, directory: DataDirectory) -> None:
        changed, journal_offset = self._host.locked(self._changed_queues)
        if changed:
            self._host.locked(lambda _now: self._broker.durability.note_unsynced())
            self._sync()
        refused: BrokerError | None = None
        for name, (mark, kept) in changed.items():
            # A queue that cannot be saved does not affect the others.
            try:
                directory.save_queue_state(name, kept)
            except BrokerError as error:
                refused = refused or error
            except Exception as error:
                self._report_unwritable(name, error)
            else:
                self._marks[name] = mark
                self._unwritable.discard(name)
        there = {*self._broker.queues.names(), *self._broker.logs.dead_letters()}
        for name in self._marks.keys() - there:
            directory.forget_queue(name)
            del self._marks[name]
        self._unwritable &= there
        if refused is not None:
            raise refused
        if not self._unwritable:
            self._host.locked(lambda _now: self._broker.durability.journal.forget_before(journal_offset))

    def _report_unwritable(self, name: str, error: Exception) -> None:
        if name in self._unwritable:
            return
        self._unwritable.add(name)
        sentence = f"the state of queue {name} cannot be saved ({error}): after a restart it will be as it was before"
        _log.error("%s", sentence, exc_info=error)
        self._host.locked(lambda now_ns: self._broker.corruption.add(now_ns, sentence))

    def _changed_queues(self, now_ns: int) -> tuple[dict[str, tuple[tuple[object, ...], KeptQueue]], int]:
        """(states to save by queue, the journal offset up to which they are complete).

        The mark of a queue differs from its last whenever a restart would find something else: what takes messages,
        gives them back, finishes them or extends their leases is counted.
        """
        changed = {}
        for name in self._broker.queues.names():
            queue = self._broker.queues.queue(name)
            dead_letters = queue.dead_letters
            counts = msgspec.structs.astuple(queue.counts)
            mark = (*counts, queue.ready, queue.delayed, queue.in_flight, dead_letters.purged, dead_letters.restored)
            mark += (dead_letters.count(), dead_letters.redriven())
            if mark != self._marks.get(name):
                state = queue.state(now_ns)
                known = msgspec.structs.replace(state, journal_offset=self._broker.durability.journal.end_offset)
                changed[name] = (mark, KeptQueue(known, dead_letters.state()))
        for name, dead_letters in self._broker.logs.dead_letters().items():
            mark = (dead_letters.purged, dead_letters.restored, dead_letters.count(), dead_letters.redriven())
            if mark != self._marks.get(name):
                changed[name] = (mark, KeptQueue(None, dead_letters.state()))
        return changed, self._broker.durability.journal.end_offset
