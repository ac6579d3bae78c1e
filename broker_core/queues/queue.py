"""A work queue: a log that is read with leases. A message is leased to one holder at a time until one acknowledges it.

Priority levels are the partitions of the log, 0 the most urgent. A lease counts from delivery. A message that was
nacked, or whose lease expired, is delivered again, before later ones; after the last attempt it is dead-lettered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice, starmap

from broker_core.clock import NS_PER_MS, ns_from_ms
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import ABORTED, RESET_OFFSETS, UNDO_PURGE, WITHDRAWN, EventKind, EventStream
from broker_core.limits import MAX_WAIT_MS, UNDO_WINDOW_MS
from broker_core.log.topic_log import TopicLog
from broker_core.messages import StoredMessage
from broker_core.queues.config import FIRST_COME, QueueConfig
from broker_core.queues.dead_letters import DeadLetters
from broker_core.queues.due_heap import Due, DueTimer
from broker_core.queues.journal import Journal, JournalEntry, QueueJournal
from broker_core.queues.lease import Held, Lease
from broker_core.queues.lease_outcomes import LeaseOutcomes, QueueEvents
from broker_core.queues.lease_table import LeaseTable
from broker_core.queues.levels import Levels
from broker_core.queues.queue_state import QueueCounts, QueueState, replay_into, restore_into, state_of
from broker_core.queues.spans import LeaseSpan
from broker_core.queues.states import LeaseAction, LeaseState
from broker_core.queues.waiting_acquires import Balance, WaitingAcquire, WaitingAcquires
from broker_core.replies import Reply
from broker_core.snapshots import LeaseView, QueueView, RetryView, WaitView
from broker_core.timers import Timers

_WRITTEN: Reply[None] = Reply.of(None)
_DELIVERED, _REDELIVERED = ("delivered",), ("delivered", "redelivered")  # totals
_Purge = tuple[int, list[tuple[LeaseTable, LeaseSpan]]]  # its time, and what it has removed


def _in_time(now_ns: int, purge: _Purge) -> bool:
    return now_ns - purge[0] <= UNDO_WINDOW_MS * NS_PER_MS


class Queue:
    """A work queue. `counts` holds the totals, `levels` the states of the messages."""

    def __init__(
        self,
        name: str,
        log: TopicLog,
        dead_letters: DeadLetters,
        events: EventStream,
        timers: Timers,
        config: QueueConfig,
        *,
        jitter: Callable[[], float] = lambda: 0.5,
        room: Callable[[int], object] | None = None,
        journal: Journal | None = None,
        levels: Levels | None = None,
    ) -> None:
        """`jitter` returns random numbers in [0, 1) for the retry policy.

        `room(now_ns)` is called when messages were finished, so that the gate can admit others. `journal` is None for a
        queue in memory. `levels` are by default the log's partitions, of which there is one for each priority.
        """
        self.name = name
        self.config = config
        self.dead_letters = dead_letters
        self.counts = QueueCounts()
        self.levels = levels or Levels(log.partitions, config)
        self._events = QueueEvents(name, log.name, events)
        self._timers = timers
        self._due = DueTimer(timers, self._end_waits)
        self._journal = QueueJournal(name, journal, counts_attempts=config.max_attempts is not None)
        self._lease_outcomes = LeaseOutcomes(
            queue=name,
            config=config,
            levels=self.levels,
            counts=self.counts,
            dead_letters=dead_letters,
            events=self._events,
            due_timer=self._due,
            jitter=jitter,
            journal=self._journal,
        )
        self._purges: list[_Purge] = []  # within the undo window, the oldest first
        self._room = room
        self._lease_ns = ns_from_ms(config.lease_ms)
        self._waiting_acquires = WaitingAcquires()
        self._serving = False
        self._balance = Balance()

    def configure(self, config: QueueConfig) -> None:
        """Other leases, attempts, retries and limits, from the next delivery on; all else is as it was made."""
        self.config, self._lease_ns = config, ns_from_ms(config.lease_ms)
        self._lease_outcomes.config = config
        self.levels.max_in_flight = config.max_in_flight

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
                self._events.emit_part(now_ns, EventKind.PURGED, level, span, cause=ABORTED)
        self._after_change(now_ns)

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

        If no message is ready, the reply is [] at once; with a `deadline_ns` it waits until then. Waiting acquires are
        served first come, first served, or one message at a time as the queue's `balancing` says; `weight` is the
        holder's share. With `whole_batches` the last one is not cut, however many messages it has. The reply is settled
        when the attempts are as durable as the queue.
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
        written.then(lambda _written: reply.resolve(leases))

    def cancel_take(self, reply: Reply[list[Lease]]) -> None:
        """Settle a waiting `reply` with []. A reply that is settled, or has its messages, is not affected."""
        if self._waiting_acquires.leave(reply) is not None:
            reply.resolve([])

    # -- lease outcomes

    def ack(self, now_ns: int, lease: Lease | Held, count: int = 1, *, durable: bool | None = None) -> Reply[None]:
        """Acknowledge `count` messages from the lease's on, all or none.

        With `durable` (default: the queue's `durable_acks`) the reply is settled when the acknowledgement is as durable
        as the queue; otherwise a crash may undo it. Raises INVALID_LEASE if a lease has expired or belongs to another
        holder, and STORAGE_ERROR; the reply fails with STORAGE_ERROR.
        """
        partition, table = lease.partition, self.levels.table(lease.partition)
        parts = table.held(now_ns, lease, count)
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
            self._events.emit_part(now_ns, EventKind.ACKNOWLEDGED, partition, span, first, end)
        self._after_change(now_ns)
        return written

    def nack(self, now_ns: int, lease: Lease | Held, cause: str, *, requeue: bool = True) -> None:
        """The holder could not process the messages: retry them, or dead-letter them after the last attempt or without
        `requeue`. A long `cause` is truncated. Raises as `ack`.
        """
        for span, first, end in self.levels.table(lease.partition).held(now_ns, lease):
            self._lease_outcomes.failed(now_ns, lease.partition, span, first, end, cause, requeue=requeue)
        self._after_change(now_ns)

    def release(self, now_ns: int, lease: Lease | Held, cause: str = "released") -> None:
        """Give the message back at once; the attempt does not count. Raises INVALID_LEASE as `ack` does."""
        for span, first, end in self.levels.table(lease.partition).held(now_ns, lease):
            self._lease_outcomes.released(now_ns, lease.partition, span, first, end, cause)
        self._after_change(now_ns)

    def extend(self, now_ns: int, lease: Lease | Held, lease_ms: float | None = None) -> int:
        """End the lease `lease_ms` from now (default: the queue's lease). Returns the end, in ns. Raises as `ack`, and
        INVALID_REQUEST unless `lease_ms` is above 0 and at most a week.
        """
        if lease_ms is not None and not 0 < lease_ms <= MAX_WAIT_MS:
            about = f"a lease of {lease_ms} ms; it must be more than 0 and at most {MAX_WAIT_MS}, a week"
            raise BrokerError(ErrorCode.INVALID_REQUEST, about)
        lease_ns = self._lease_ns if lease_ms is None else max(1, ns_from_ms(lease_ms))
        table = self.levels.table(lease.partition)
        parts = table.held(now_ns, lease)
        due = self._due.due_in(lease_ns, now_ns)
        for span, first, end in parts:
            moved = table.move(span, first, end, LeaseAction.EXTEND, due=due)
            self.counts.lease_extended += end - first
            self._journal.moved(now_ns, lease.partition, moved, "lease_extended")
            self._events.emit_part(now_ns, EventKind.LEASE_EXTENDED, lease.partition, moved, first, end)
        self._journal.flush(now_ns)
        return due[0]

    def release_holder(self, now_ns: int, holder: str | None, cause: str) -> int:
        """Release what `holder` has, or all have; their attempts do not count. The number of messages."""
        for acquire in self._waiting_acquires.of(holder):
            self.cancel_take(acquire.reply)
        released = 0
        for level, table in enumerate(self.levels.tables):
            for span in table.held_by(holder):
                for first, end in list(table.index.segments(span)):
                    self._lease_outcomes.released(now_ns, level, span, first, end, cause)
                    released += end - first
        self._after_change(now_ns)
        return released

    # -- inside

    def _deliver(self, now_ns: int, holder: str, most: int, whole_batches: bool) -> list[Lease]:
        leases: list[Lease] = []
        due: Due | None = None
        while len(leases) < most and (found := self.levels.next_level(now_ns)) is not None:
            level, priority, goes_on = found
            due = due or self._due.due_in(self._lease_ns, now_ns)
            wanted, table = most - len(leases) if goes_on else 1, self.levels.tables[level]
            wanted = min(wanted, self.levels.room(table))
            wanted = table.up_to_batch(wanted) if whole_batches else wanted
            taken, skipped = table.take(now_ns, holder, due, wanted, priority)
            for lost in skipped:
                self._lease_outcomes.skipped(now_ns, level, lost)
            for span, messages in taken:
                attempt = span.lease.attempts
                self.counts.delivered += span.open
                if attempt > 1:
                    self.counts.redelivered += span.open
                if self._journal.is_kept:
                    self._journal.moved(now_ns, level, span, *(_DELIVERED if attempt == 1 else _REDELIVERED))
                key = messages[0].key if span.open == 1 else None
                self._events.emit_part(now_ns, EventKind.DELIVERED, level, span, key=key)
                leases += [
                    Lease(self.name, level, message.offset, holder, attempt, due[0], message) for message in messages
                ]
        return leases

    def _serve(self, now_ns: int) -> None:
        if self._serving:
            return
        self._serving = True
        try:
            while (acquire := self._waiting_acquires.first()) is not None:
                balance, most = self._balance, acquire.most
                if self.config.balancing != FIRST_COME and self.levels.ready:
                    acquire, balance = self._waiting_acquires.next(self.config.balancing, self._balance, self._held_by)
                    most = 1
                leases = self._deliver(now_ns, acquire.holder, most, acquire.whole_batches)
                if not leases:
                    return
                self._balance = balance
                self._waiting_acquires.leave(acquire.reply)
                self._answer(now_ns, acquire.reply, leases)
        finally:
            self._serving = False

    def _held_by(self, holder: str) -> int:
        return sum(span.open for table in self.levels.tables for span in table.held_by(holder))

    def _after_change(self, now_ns: int) -> None:
        self._journal.flush(now_ns)
        self._serve(now_ns)
        if self._room is not None:
            self._room(now_ns)

    def _end_waits(self, now_ns: int, due: Due) -> None:
        self._pop_due(now_ns, due)
        # Armed before any callback runs.
        self._due.arm(self.levels.next_due())
        self._after_change(now_ns)

    def _pop_due(self, now_ns: int, due: Due) -> None:
        for level, table in enumerate(self.levels.tables):
            if table.next_due() == due:
                for span, first, end in table.pop_due(due):
                    self._lease_outcomes.due(now_ns, level, span, first, end)

    # -- messages without leases

    def pass_through(self, now_ns: int, holder: str, count: int) -> None:
        """Record that `holder` has taken and acknowledged the next `count` new messages."""
        table = self.levels.tables[0]
        while count > 0:
            span = table.pass_fresh(count, holder)
            count -= span.open
            self.counts.delivered += span.open
            self.counts.acknowledged += span.open
            for kind in (EventKind.DELIVERED, EventKind.ACKNOWLEDGED):
                self._events.emit_part(now_ns, kind, 0, span)

    def peek(self, max_messages: int = 1) -> list[StoredMessage]:
        found: list[StoredMessage] = []
        for table in self.levels.tables:
            found += [table.log.message(offset) for offset in table.ready_offsets(max_messages - len(found))]
        return found

    # -- removal

    def purge(self, now_ns: int, client: str = "user") -> int:
        """Remove all messages that are not leased. Returns their number."""
        removed = []
        for level, table in enumerate(self.levels.tables):
            for span in table.remove_ready(table.ready) + table.remove_delayed():
                removed.append((table, span))
                self._events.emit_part(now_ns, EventKind.PURGED, level, span, cause="purge", client=client)
        purged = sum(span.open for _, span in removed)
        self.counts.purged += purged
        if removed:
            self._purges = [each for each in self._purges if _in_time(now_ns, each)] + [(now_ns, removed)]
        self._after_change(now_ns)
        return purged

    def can_undo_purge(self, now_ns: int) -> bool:
        return bool(self._purges) and _in_time(now_ns, self._purges[-1])

    def undo_purge(self, now_ns: int, client: str = "user") -> int:
        """Restore the messages of the last purge within the undo window. Returns their number."""
        brought_back, runs = 0, []
        _, removed = self._purges.pop() if self.can_undo_purge(now_ns) else (0, [])
        for table, span in removed:
            count = table.bring_back(span)
            brought_back += count
            runs.append((table.log.partition, span.end - count, span.end))
        self._brought_back(now_ns, UNDO_PURGE, client, brought_back, runs)
        self._after_change(now_ns)
        return brought_back

    def _brought_back(self, now_ns: int, what: str, client: str, count: int, runs: list[tuple[int, int, int]]) -> None:
        self.counts.restored += count
        if count:
            self._events.undone(now_ns, what, client, count, runs)

    def withdraw(self, now_ns: int, partition: int, offset: int, client: str = "user") -> bool:
        """Remove one message, to undo its redrive; False if it is leased or finished."""
        table = self.levels.table(partition)
        table.grow()
        span = table.remove_one(offset)
        if span is not None:
            self.counts.purged += 1
            self._events.emit_part(now_ns, EventKind.PURGED, partition, span, cause=WITHDRAWN, client=client)
        self._after_change(now_ns)
        return span is not None

    def turn_away(self, now_ns: int, partition: int, offset: int, client: str) -> bool:
        """Evict a message that `client` has just published; False if it is leased already."""
        span = self.levels.table(partition).remove_one(offset)
        if span is not None:
            self._evicted(now_ns, partition, span, "no room", client)
        return span is not None

    def evict(self, now_ns: int, messages: int, size_bytes: int, than: int | None = None) -> bool:
        """Evict the oldest ready messages to free that many messages and bytes; False if that is impossible. With
        `than`, only less urgent ones.
        """
        evicted = self.levels.evict(messages, size_bytes, than)
        cause = "room for a newer message" if than is None else f"room for a message of priority {than}"
        for level, span in evicted:
            self._evicted(now_ns, level, span, cause)
        return bool(evicted)

    def evict_least_urgent(self, now_ns: int, messages: int) -> list[tuple[int, int]]:
        """Evict up to `messages`, the newest of the least urgent first. Returns (partition, offset) of each."""
        found: list[tuple[int, int]] = []
        while len(found) < messages and self.levels.ready:
            level, span = self.levels.newest_of_least_urgent()
            self._evicted(now_ns, level, span, "no room")
            found.append((level, span.offset))
        return found

    def _evicted(self, now_ns: int, level: int, span: LeaseSpan, cause: str, client: str | None = None) -> None:
        self.counts.evicted += span.open
        self._events.emit_part(now_ns, EventKind.EVICTED, level, span, cause=cause, client=client)

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
        for span in table.remove_below(offset):
            self.counts.purged += span.open
            self._events.emit_part(now_ns, EventKind.PURGED, partition, span, cause=RESET_OFFSETS, client=client)
            self._journal.finished(now_ns, partition, span.offset, span.end, "purged", urgent=True)
        back = table.bring_back_from(offset)
        runs = [(table.log.partition, span.offset, span.end) for span in back]
        self._brought_back(now_ns, RESET_OFFSETS, client, sum(span.open for span in back), runs)
        for span in back:
            self._journal.moved(now_ns, partition, span, "restored")
        table.was_read = True
        written = self._journal.write(now_ns)
        self._after_change(now_ns)
        return written

    # -- views and state

    def view(self, max_leases: int = 100, max_dead_letters: int = 100) -> QueueView:
        """The queue's state without its gate, which the broker adds. It has at most `max_leases` leases, the lowest
        offsets of the most urgent levels, and the newest `max_dead_letters` dead letters.
        """
        config, counts, dead_letters = self.config, self.counts, self.dead_letters
        retry = config.retry
        return QueueView(
            name=self.name,
            priorities=len(self.levels.tables),
            ready=self.ready + self.levels.blocked_by_transactions,
            delayed=self.delayed,
            in_flight=self.in_flight,
            dead=dead_letters.count(self.name),
            lease_ms=round(config.lease_ms),
            max_attempts=config.max_attempts or 0,
            waiting_takers=self.waiting_takers,
            acknowledged=counts.acknowledged,
            redelivered=counts.redelivered,
            dead_lettered=counts.dead_lettered,
            redriven=dead_letters.redriven(self.name),
            leases=tuple(starmap(self.lease_view, islice(self._in_state(LeaseState.ACQUIRED), max_leases))),
            dead_letters=dead_letters.newest(self.name, max_dead_letters),
            gate=None,
            topic=self.levels.tables[0].log.topic,
            dead_letter_topic=dead_letters.name,
            retry=RetryView(retry.kind, retry.base_ms, retry.max_ms, retry.factor),
            waits=tuple(islice(self._waits(), max_leases)) if self.delayed else (),
        )

    def _in_state(self, state: LeaseState) -> Iterator[tuple[LeaseTable, int, LeaseSpan]]:
        """(table, offset, span) of each message in this state."""
        for table in self.levels.tables:
            for first, end, span in table.index.runs():
                if span.state is state:
                    yield from ((table, offset, span) for offset in range(first, end))

    def lease_view(self, table: LeaseTable, offset: int, span: LeaseSpan) -> LeaseView:
        try:
            key = table.log.message(offset).key
        except BrokerError:  # damaged, or deleted a moment ago
            key = None
        lease, partition = span.lease, table.log.partition
        most = self.config.max_attempts or 0
        return LeaseView(
            self.name, partition, offset, key, lease.holder, lease.since_ns, lease.deadline_ns, lease.attempts, most
        )

    def _waits(self) -> Iterator[WaitView]:
        for table, offset, span in self._in_state(LeaseState.DELAYED):
            yield WaitView(table.log.partition, offset, None if span.lease.doomed else span.lease.deadline_ns)

    def state(self, now_ns: int) -> QueueState:
        self._journal.write(now_ns)
        return state_of(now_ns, self.name, self.levels.tables, self.counts)

    def restore(self, now_ns: int, state: QueueState) -> None:
        """Continue from `state`, on an unused queue. Leases and retry delays keep their remaining time."""
        restore_into(now_ns, state, self.levels.tables, self.counts, self._timers.ticket)
        self._due.arm(self.levels.next_due())

    def begin(self, now_ns: int) -> None:
        self._journal.begin(now_ns)

    def replay(self, now_ns: int, entries: Sequence[JournalEntry]) -> None:
        """Apply journal entries, after `restore` where a state was saved."""
        replay_into(now_ns, entries, self.levels.tables, self.counts, self._timers.ticket)
        self._due.arm(self.levels.next_due())

    def close(self) -> None:
        """Fail waiting acquires with CLOSED, and stop the timers. Call `state` before."""
        self._due.stop()
        while (acquire := self._waiting_acquires.first()) is not None:
            self._waiting_acquires.leave(acquire.reply)
            acquire.reply.fail(BrokerError(ErrorCode.CLOSED, f"queue {self.name}"))

    def reopen(self, now_ns: int) -> None:
        """Continue after `close`: leases and retry delays that have ended since are handled now."""
        while (due := self.levels.next_due()) is not None and due[0] <= now_ns:
            self._pop_due(now_ns, due)
        self._due.arm(self.levels.next_due())
        self.appended(now_ns)
