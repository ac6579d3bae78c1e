"""A work queue: a log that is read with leases. A message is leased to one holder at a time until one acknowledges it.

Priority levels are the partitions of the log, 0 the most urgent. A lease counts from delivery. A message that was
nacked, or whose lease expired, is delivered again, before later ones; after the last attempt it is dead-lettered.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from broker_core.clock import ns_from_ms
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import EventKind, EventStream
from broker_core.limits import MAX_WAIT_MS, UNDO_WINDOW_MS
from broker_core.messages import StoredMessage
from broker_core.queues.balancing import Memory
from broker_core.queues.config import FIRST_COME, QueueConfig
from broker_core.queues.dead_letters import DeadLetters
from broker_core.queues.due_heap import DueTimer, Place
from broker_core.queues.journal import Entry, Journal, QueueJournal
from broker_core.queues.lease import Lease
from broker_core.queues.lease_outcomes import LeaseOutcomes
from broker_core.queues.lease_table import LeaseTable
from broker_core.queues.levels import Levels
from broker_core.queues.log_port import TopicPort
from broker_core.queues.purge_log import PurgeLog
from broker_core.queues.queue_events import QueueEvents
from broker_core.queues.queue_state import QueueCounts, QueueState, replayed, restored, saved
from broker_core.queues.states import LeaseAction, LeaseState
from broker_core.queues.waiting_acquires import WaitingAcquire, WaitingAcquires
from broker_core.replies import Reply
from broker_core.snapshots import LeaseView, QueueView, RetryView, WaitView
from broker_core.timers import Timers

if TYPE_CHECKING:
    from collections.abc import Iterator


def queue_view(queue: Queue, max_leases: int, max_dead_letters: int) -> QueueView:
    """At most `max_leases` leases, the lowest offsets of the most urgent levels, and the newest dead letters."""
    leases = (lease for table in queue.levels.tables for lease in _leases(queue, table))
    waits = (wait for table in queue.levels.tables for wait in _waits(table)) if queue.delayed else ()
    retry = queue.config.retry
    return QueueView(
        name=queue.name,
        priorities=len(queue.levels.tables),
        ready=queue.ready + queue.levels.held_back,
        delayed=queue.delayed,
        in_flight=queue.in_flight,
        dead=queue.dead_letters.count(queue.name),
        lease_ms=round(queue.config.lease_ms),
        max_attempts=queue.config.max_attempts or 0,
        waiting_takers=queue.waiting_takers,
        acknowledged=queue.counts.acknowledged,
        redelivered=queue.counts.redelivered,
        dead_lettered=queue.counts.dead_lettered,
        redriven=queue.dead_letters.redriven(queue.name),
        leases=tuple(islice(leases, max_leases)),
        dead_letters=queue.dead_letters.newest(queue.name, max_dead_letters),
        gate=None,
        topic=queue.levels.tables[0].log.topic,
        dead_letter_topic=queue.dead_letters.name,
        retry=RetryView(retry.kind, retry.base_ms, retry.max_ms, retry.factor),
        waits=tuple(islice(waits, max_leases)),
    )


def _leases(queue: Queue, table: LeaseTable) -> Iterator[LeaseView]:
    for first, end, span in table.index.runs():
        if span.state is LeaseState.ACQUIRED:
            for offset in range(first, end):
                yield LeaseView(
                    queue.name,
                    table.log.partition,
                    offset,
                    _key(table, offset),
                    span.holder,
                    span.since_ns,
                    span.deadline_ns,
                    span.attempts,
                    queue.config.max_attempts or 0,
                )


def _waits(table: LeaseTable) -> Iterator[WaitView]:
    for first, end, span in table.index.runs():
        if span.state is LeaseState.DELAYED:
            for offset in range(first, end):
                yield WaitView(table.log.partition, offset, None if span.doomed else span.deadline_ns)


def _key(table: LeaseTable, offset: int) -> bytes | None:
    try:
        return table.log.message(offset).key
    except BrokerError:  # corrupt, or just deleted
        return None


ABORTED = "aborted"  # the cause of a purge of what a reader of committed messages passes over
_WRITTEN: Reply[None] = Reply.of(None)
_DELIVERED, _REDELIVERED = ("delivered",), ("delivered", "redelivered")  # totals


class Queue:
    """A work queue. `counts` holds the totals, `levels` the states of the messages."""

    def __init__(
        self,
        name: str,
        log: TopicPort,
        dead_letters: DeadLetters,
        events: EventStream,
        timers: Timers,
        config: QueueConfig,
        *,
        jitter: Callable[[], float] = lambda: 0.5,
        room: Callable[[int], object] | None = None,
        journal: Journal | None = None,
        levels: Levels | None = None,
        undo_window_ms: float = UNDO_WINDOW_MS,
    ) -> None:
        """`jitter` returns random numbers in [0, 1) for the retry policy.

        `room(now_ns)` is called when messages were finished, so that the gate can admit others. `journal` is None for a
        queue in memory. `levels` are by default the log's partitions. Raises INVALID_CONFIG if the log has fewer
        partitions than there are priorities.
        """
        if levels is None and len(log.partitions) < config.priorities:
            raise BrokerError(
                ErrorCode.INVALID_CONFIG,
                f"queue {name!r} has {config.priorities} priorities and {len(log.partitions)} partitions",
            )
        self.name = name
        self.config = config
        self.dead_letters = dead_letters
        self.counts = QueueCounts()
        ageing_ns = None if config.ageing_ms is None else ns_from_ms(config.ageing_ms)
        self.levels = levels or Levels(log.partitions[: config.priorities], ageing_ns)
        self._events = QueueEvents(name, log.name, events)
        self._timers = timers
        self._due = DueTimer(timers, self._end_waits)
        self._journal = QueueJournal(name, journal, counts_attempts=config.max_attempts is not None)
        self._lease_outcomes = LeaseOutcomes(
            name, config, self.levels, self.counts, dead_letters, self._events, self._due, jitter, self._journal
        )
        self._purge_log = PurgeLog(self.levels, self.counts, self._events, ns_from_ms(undo_window_ms))
        self._room = room
        self._lease_ns = ns_from_ms(config.lease_ms)
        self._waiting_acquires = WaitingAcquires()
        self._serving = False
        self._balance = Memory()

    @property
    def ready(self) -> int:
        return self.levels.ready

    @property
    def delayed(self) -> int:
        return self.levels.delayed

    @property
    def in_flight(self) -> int:
        return self.levels.in_flight

    @property
    def size_bytes(self) -> int:
        return self.levels.size_bytes

    @property
    def waiting_takers(self) -> int:
        return len(self._waiting_acquires)

    @property
    def wanted(self) -> int:
        return self._waiting_acquires.wanted

    # -- taking

    def appended(self, now_ns: int) -> None:
        for level, table in enumerate(self.levels.tables):
            for span in table.aborted_from(table.grow()):
                self.counts.purged += span.open
                self._events.part(now_ns, EventKind.PURGED, level, span, cause=ABORTED)
        self._finished(now_ns)

    def take(
        self,
        now_ns: int,
        holder: str,
        *,
        max_messages: int = 1,
        deadline_ns: int | None = None,
        weight: int = 1,
        whole_batches: bool = False,
    ) -> Reply[list[Lease]]:
        """Lease up to `max_messages` messages to `holder`.

        Where no message is ready, the reply is [] at once; with a `deadline_ns` it waits until then. Waiting acquires
        are served first come, first served, or one message at a time as the queue's `balancing` says; `weight` is the
        holder's share. With `whole_batches` the last one is not cut, however many messages it has. The reply is
        settled when the attempts are as durable as the queue.
        """
        if max_messages < 1:
            raise BrokerError(ErrorCode.INVALID_REQUEST, f"max_messages is {max_messages}; it must be at least 1")
        # Waiting acquires come first, even where this call is made by a callback of one.
        leases = [] if self._waiting_acquires else self._deliver(now_ns, holder, max_messages, whole_batches)
        if self._room is not None:
            self._room(now_ns)
        reply: Reply[list[Lease]] = Reply()
        if leases or deadline_ns is None or deadline_ns <= now_ns:
            self._answer(now_ns, reply, leases)
            return reply
        timer = self._timers.at_end_of_wait(deadline_ns, lambda _: self.cancel_take(reply))
        self._waiting_acquires.join(WaitingAcquire(reply, holder, max_messages, timer, weight, whole_batches))
        return reply

    def _answer(self, now_ns: int, reply: Reply[list[Lease]], leases: list[Lease]) -> None:
        # Where the journal cannot be written, which it reports, delivery continues.
        written = self._journal.write(now_ns) if leases else _WRITTEN
        if written.done:
            reply.resolve(leases)
        else:
            written.then(lambda _written: reply.resolve(leases))

    def cancel_take(self, reply: Reply[list[Lease]]) -> None:
        """Settle a waiting `reply` with []. A reply that is settled, or has its messages, is not affected."""
        if self._waiting_acquires.leave(reply) is not None:
            reply.resolve([])

    # -- lease outcomes

    def ack(
        self,
        now_ns: int,
        partition: int,
        offset: int,
        holder: str,
        *,
        count: int = 1,
        attempt: int | None = None,
        durable: bool | None = None,
    ) -> Reply[None]:
        """Acknowledge `count` messages from `offset` on, all or none.

        `attempt`, where given, must be the lease's, so that a holder of two deliveries of a message can distinguish
        them. With `durable` (default: the queue's `durable_acks`) the reply is settled when the acknowledgement is as
        durable as the queue; otherwise a crash may undo it. Raises INVALID_LEASE if a lease has expired or belongs
        to another holder, and STORAGE_ERROR; the reply fails with STORAGE_ERROR.
        """
        table = self.levels.table(partition)
        parts = table.held(now_ns, offset, count, holder, attempt)
        if durable is None:
            durable = self.config.durable_acks
        written = _WRITTEN
        if self._journal.is_kept:
            for _, first, end in parts:
                self._journal.finished(now_ns, partition, first, end, "acknowledged", urgent=durable)
            if durable:
                written = self._journal.write(now_ns)
                if written.done:
                    written.result()
        for span, first, end in parts:
            table.finish(span, first, end, LeaseAction.ACKNOWLEDGE)
            self.counts.acknowledged += end - first
            self._events.part(now_ns, EventKind.ACKNOWLEDGED, partition, span, first, end)
        self._finished(now_ns)
        return written

    def nack(
        self,
        now_ns: int,
        partition: int,
        offset: int,
        holder: str,
        cause: str,
        *,
        requeue: bool = True,
        count: int = 1,
        attempt: int | None = None,
    ) -> None:
        """`holder` could not process the messages: retry them, or dead-letter them after the last attempt or without
        `requeue`. A long `cause` is truncated. Raises as `ack`.
        """
        table = self.levels.table(partition)
        for span, first, end in table.held(now_ns, offset, count, holder, attempt):
            self._lease_outcomes.failed(now_ns, partition, span, first, end, cause, requeue=requeue)
        self._finished(now_ns)

    def release(
        self,
        now_ns: int,
        partition: int,
        offset: int,
        holder: str,
        *,
        cause: str = "released",
        count: int = 1,
        attempt: int | None = None,
    ) -> None:
        """Give the messages back at once; the attempt does not count. Raises INVALID_LEASE as `ack` does."""
        table = self.levels.table(partition)
        for span, first, end in table.held(now_ns, offset, count, holder, attempt):
            self._lease_outcomes.released(now_ns, partition, span, first, end, cause)
        self._finished(now_ns)

    def extend(
        self,
        now_ns: int,
        partition: int,
        offset: int,
        holder: str,
        lease_ms: float | None = None,
        *,
        count: int = 1,
        attempt: int | None = None,
    ) -> int:
        """End the lease `lease_ms` from now (default: the queue's lease). Returns the end, in ns. Raises as `ack`, and
        INVALID_REQUEST unless `lease_ms` is above 0 and at most a week.
        """
        if lease_ms is not None and not 0 < lease_ms <= MAX_WAIT_MS:
            about = f"a lease of {lease_ms} ms; it must be more than 0 and at most {MAX_WAIT_MS}, a week"
            raise BrokerError(ErrorCode.INVALID_REQUEST, about)
        lease_ns = self._lease_ns if lease_ms is None else max(1, ns_from_ms(lease_ms))
        table = self.levels.table(partition)
        parts = table.held(now_ns, offset, count, holder, attempt)
        due = self._due.place_in(lease_ns, now_ns)
        for span, first, end in parts:
            moved = table.move(span, first, end, LeaseAction.EXTEND, due=due)
            self._journal.moved(now_ns, partition, moved)
            self._events.part(now_ns, EventKind.LEASE_EXTENDED, partition, moved, first, end)
        self._journal.flush(now_ns)
        return due[0]

    def release_holder(self, now_ns: int, holder: str, cause: str) -> int:
        for acquire in self._waiting_acquires.of(holder):
            self.cancel_take(acquire.reply)
        released = 0
        for level, table in enumerate(self.levels.tables):
            for span in table.held_by(holder):
                for first, end in list(table.index.segments(span)):
                    self._lease_outcomes.released(now_ns, level, span, first, end, cause)
                    released += end - first
        self._finished(now_ns)
        return released

    # -- inside

    def _deliver(self, now_ns: int, holder: str, most: int, whole_batches: bool) -> list[Lease]:
        leases: list[Lease] = []
        due: Place | None = None
        while len(leases) < most and (place := self.levels.next_place(now_ns)) is not None:
            level, priority, goes_on = place
            due = due or self._due.place_in(self._lease_ns, now_ns)
            wanted, table = most - len(leases) if goes_on else 1, self.levels.tables[level]
            wanted = table.up_to_batch(wanted) if whole_batches else wanted
            taken, skipped = table.take(now_ns, holder, due, wanted, priority)
            for lost in skipped:
                self._lease_outcomes.skipped(now_ns, level, lost)
            for span, messages in taken:
                self.counts.delivered += span.open
                if span.attempts > 1:
                    self.counts.redelivered += span.open
                if self._journal.is_kept:
                    self._journal.moved(now_ns, level, span, *(_DELIVERED if span.attempts == 1 else _REDELIVERED))
                key = messages[0].key if span.open == 1 else None
                self._events.part(now_ns, EventKind.DELIVERED, level, span, key=key)
                leases += [
                    Lease(self.name, level, message.offset, holder, span.attempts, due[0], message)
                    for message in messages
                ]
        return leases

    def _serve(self, now_ns: int) -> None:
        """Serve waiting acquires. Callbacks may call this again; then the outer call continues."""
        if self._serving:
            return
        self._serving = True
        try:
            while (acquire := self._waiting_acquires.first()) is not None:
                memory, most = self._balance, acquire.most
                if self.config.balancing != FIRST_COME and self.levels.ready:
                    acquire, memory = self._waiting_acquires.picked(self.config.balancing, self._balance, self._held_by)
                    most = 1
                leases = self._deliver(now_ns, acquire.holder, most, acquire.whole_batches)
                if not leases:
                    return
                self._balance = memory
                self._waiting_acquires.leave(acquire.reply)
                self._answer(now_ns, acquire.reply, leases)
        finally:
            self._serving = False

    def _held_by(self, holder: str) -> int:
        return sum(span.open for table in self.levels.tables for span in table.held_by(holder))

    def _finished(self, now_ns: int) -> None:
        self._journal.flush(now_ns)
        self._serve(now_ns)
        if self._room is not None:
            self._room(now_ns)

    def _end_waits(self, now_ns: int, place: Place) -> None:
        self._pop_due(now_ns, place)
        # Armed before any callback runs.
        self._due.arm(self.levels.next_due())
        self._finished(now_ns)

    def _pop_due(self, now_ns: int, place: Place) -> None:
        for level, table in enumerate(self.levels.tables):
            if table.next_due() == place:
                for span, first, end in table.pop_due(place):
                    self._lease_outcomes.due(now_ns, level, span, first, end)

    # -- messages without leases

    def first_open_offset(self, partition: int) -> int:
        """All messages of `partition` below it are finished: the log may be trimmed up to here."""
        return self.levels.table(partition).first_open_offset

    def trimmed(self, now_ns: int) -> int:
        gone = sum(table.trim() for table in self.levels.tables)
        self._finished(now_ns)
        return gone

    def pass_through(self, now_ns: int, holder: str, count: int) -> None:
        """Record that `holder` has taken and acknowledged the next `count` new messages."""
        table = self.levels.tables[0]
        while count > 0:
            span = table.pass_fresh(count, holder)
            count -= span.open
            self.counts.delivered += span.open
            self.counts.acknowledged += span.open
            for kind in (EventKind.DELIVERED, EventKind.ACKNOWLEDGED):
                self._events.part(now_ns, kind, 0, span)

    def peek(self, max_messages: int = 1) -> list[StoredMessage]:
        found: list[StoredMessage] = []
        for table in self.levels.tables:
            found += [table.log.message(offset) for offset in table.ready_offsets(max_messages - len(found))]
        return found

    # -- removal

    def purge(self, now_ns: int, client: str = "user") -> int:
        """Remove all messages that are not leased. Returns their number."""
        purged = self._purge_log.purge(now_ns, client)
        self._finished(now_ns)
        return purged

    def can_undo_purge(self, now_ns: int) -> bool:
        return self._purge_log.can_undo(now_ns)

    def undo_purge(self, now_ns: int, client: str = "user") -> int:
        brought_back = self._purge_log.undo_purge(now_ns, client)
        self._finished(now_ns)
        return brought_back

    def withdraw(self, now_ns: int, partition: int, offset: int, client: str = "user") -> bool:
        """Remove one message, to undo its redrive; False if it is leased or finished."""
        self.levels.table(partition).grow()
        withdrawn = self._purge_log.withdraw(now_ns, partition, offset, client)
        self._finished(now_ns)
        return withdrawn

    def turn_away(self, now_ns: int, partition: int, offset: int, client: str) -> bool:
        """Evict a message that `client` has just published; False if it is leased already."""
        return self._purge_log.turn_away(now_ns, partition, offset, client)

    def evict(self, now_ns: int, messages: int, size_bytes: int, than: int | None = None) -> bool:
        """Evict the oldest ready messages to make room; False if impossible. With `than`, only less urgent ones."""
        return self._purge_log.evict(now_ns, messages, size_bytes, than)

    def evict_least_urgent(self, now_ns: int, messages: int) -> list[tuple[int, int]]:
        """Evict up to `messages`, the newest of the least urgent first. Returns (partition, offset) of each."""
        return self._purge_log.evict_least_urgent(now_ns, messages)

    # -- offsets

    def reset(self, now_ns: int, partition: int, offset: int, client: str) -> Reply[None]:
        """Finish all messages of `partition` below `offset`, and make all others ready, as never delivered.

        Nothing of it may be leased. The reply is settled when that is durable. Raises UNKNOWN_TOPIC_OR_PARTITION,
        OFFSET_OUT_OF_RANGE.
        """
        table = self.levels.table(partition)
        table.grow()
        if not table.log.start_offset <= offset <= table.end_offset:
            where = f"{self.name} can be reset to {table.log.start_offset} up to {table.end_offset}"
            raise BrokerError(ErrorCode.OFFSET_OUT_OF_RANGE, f"{where} in partition {partition}, and not to {offset}")
        for span in self._purge_log.remove_below(now_ns, partition, offset, client):
            self._journal.finished(now_ns, partition, span.offset, span.end, "purged", urgent=True)
        for span in self._purge_log.bring_back_from(now_ns, partition, offset, client):
            self._journal.moved(now_ns, partition, span, "restored")
        written = self._journal.write(now_ns)
        self._finished(now_ns)
        return written

    # -- views and state

    def view(self, now_ns: int, max_leases: int = 100, max_dead_letters: int = 100) -> QueueView:
        """A view with the leases of the lowest offsets and the newest dead letters. The broker adds the gate."""
        return queue_view(self, max_leases, max_dead_letters)

    def state(self, now_ns: int) -> QueueState:
        self._journal.write(now_ns)
        return saved(now_ns, self.name, self.levels.tables, self.counts)

    def restore(self, now_ns: int, state: QueueState) -> None:
        """Continue from `state`, on an unused queue. Leases and retry delays keep their remaining time."""
        restored(now_ns, state, self.levels.tables, self.counts, self._timers.ticket)
        self._due.arm(self.levels.next_due())

    def begin(self, now_ns: int) -> None:
        self._journal.begin(now_ns)

    def replay(self, now_ns: int, entries: Sequence[Entry]) -> None:
        """Apply journal entries, after `restore` where a state was saved."""
        replayed(now_ns, entries, self.levels.tables, self.counts, self._timers.ticket)
        self._due.arm(self.levels.next_due())

    def close(self) -> None:
        """Fail waiting acquires with CLOSED, and stop the timers. Call `state` before."""
        self._due.stop()
        while (acquire := self._waiting_acquires.first()) is not None:
            self._waiting_acquires.leave(acquire.reply)
            acquire.reply.fail(BrokerError(ErrorCode.CLOSED, f"queue {self.name}"))

    def reopen(self, now_ns: int) -> None:
        """Continue after `close`: leases and retry delays that have ended since are handled now."""
        while (place := self.levels.next_due()) is not None and place[0] <= now_ns:
            self._pop_due(now_ns, place)
        self._due.arm(self.levels.next_due())
        self.appended(now_ns)
