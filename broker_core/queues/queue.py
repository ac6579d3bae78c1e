"""A work queue: a topic log, read with leases. A message is handed to one holder at a time until one is done with it.

Priority levels are the partitions of the log, 0 the most urgent. A lease counts from delivery. What was nacked, or was
not finished in time, is handed out again, ahead of what came later; after the last attempt it goes to the dead letters.
"""

from __future__ import annotations

from collections.abc import Callable

from broker_core.clock import NS_PER_S, ns_from_ms
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import EventKind, EventStream
from broker_core.limits import MAX_ATTEMPTS_KEPT
from broker_core.messages import StoredMessage
from broker_core.queues.config import QueueConfig
from broker_core.queues.dead_letters import DeadLetters
from broker_core.queues.due_heap import Place
from broker_core.queues.handout import Skipped
from broker_core.queues.lease import Lease
from broker_core.queues.lease_table import LeaseTable
from broker_core.queues.log_port import TopicPort
from broker_core.queues.queue_state import QueueCounts, QueueState, restored, saved
from broker_core.queues.queue_view import queue_view
from broker_core.queues.spans import Span
from broker_core.queues.states import LeaseAction, LeaseState
from broker_core.queues.takers import Taker, Takers
from broker_core.replies import Reply
from broker_core.snapshots import AttemptView, QueueView
from broker_core.timers import Timer, Timers

__all__ = ["LEASE_EXPIRED", "Lease", "Queue", "QueueConfig"]

LEASE_EXPIRED = "lease expired"  # the outcome of an attempt whose holder said nothing in time

_BIN_RETRY_NS = NS_PER_S  # a dead letter that the bin's disk refused is tried again after this long


class Queue:
    """Takes, leases and their ends. `counts` holds the totals, `tables[level]` where the messages of a level stand."""

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
    ) -> None:
        """`jitter` gives numbers from 0 up to 1 for the retry policy. Raises INVALID_CONFIG where levels lack."""
        if len(log.partitions) < config.priorities:
            raise BrokerError(
                ErrorCode.INVALID_CONFIG,
                f"queue {name!r} has {config.priorities} priorities and {len(log.partitions)} partitions",
            )
        self.name = name
        self.config = config
        self.dead_letters = dead_letters
        self.counts = QueueCounts()
        self.tables = [LeaseTable(partition) for partition in log.partitions[: config.priorities]]
        self._events = events
        self._timers = timers
        self._jitter = jitter
        self._lease_ns = ns_from_ms(config.lease_ms)
        self._ageing_ns = None if config.ageing_ms is None else ns_from_ms(config.ageing_ms)
        self._takers = Takers()
        self._serving = False
        self._armed: Place | None = None
        self._timer: Timer | None = None

    @property
    def ready(self) -> int:
        """Messages that can be taken now."""
        return sum([table.ready for table in self.tables])

    @property
    def delayed(self) -> int:
        """Messages that wait for their next attempt."""
        return sum([table.delayed for table in self.tables])

    @property
    def in_flight(self) -> int:
        """Messages that are leased."""
        return sum([table.in_flight for table in self.tables])

    @property
    def size_bytes(self) -> int:
        """Bytes of keys and values of all messages that are not finished."""
        return sum([table.size_bytes for table in self.tables])

    @property
    def waiting_takers(self) -> int:
        """Takes that are parked."""
        return len(self._takers)

    def first_open_offset(self, partition: int) -> int:
        """Every message of `partition` below it is finished: the log may be trimmed up to here."""
        return self._table(partition).first_open_offset

    # -- taking

    def appended(self, now_ns: int) -> None:
        """The log has grown: those who wait are served."""
        for table in self.tables:
            table.grow()
        self._serve(now_ns)

    def take(
        self, now_ns: int, holder: str, *, max_messages: int = 1, deadline_ns: int | None = None
    ) -> Reply[list[Lease]]:
        """At most `max_messages` messages, leased to `holder`.

        Where nothing is ready, the reply is [] at once without a `deadline_ns`; with one it is parked until something
        is there, and is [] when the deadline passes. Those who wait are served in the order in which they came.
        """
        if max_messages < 1:
            raise BrokerError(ErrorCode.INVALID_REQUEST, f"max_messages is {max_messages}; it must be at least 1")
        # Whoever waits already comes first, also where a callback of theirs is what asks.
        leases = [] if self._takers else self._hand_out(now_ns, holder, max_messages)
        if leases or deadline_ns is None or deadline_ns <= now_ns:
            return Reply.of(leases)
        reply: Reply[list[Lease]] = Reply()
        timer = self._timers.at(deadline_ns, lambda _: self.cancel_take(reply))
        self._takers.join(Taker(reply, holder, max_messages, timer))
        return reply

    def cancel_take(self, reply: Reply[list[Lease]]) -> None:
        """Stop waiting: a parked `reply` becomes []; one that is settled stays as it is."""
        if self._takers.leave(reply) is not None:
            reply.resolve([])

    def peek(self, max_messages: int = 1) -> list[StoredMessage]:
        """The next messages, level by level, without taking them."""
        found: list[StoredMessage] = []
        for table in self.tables:
            found += [table.log.message(offset) for offset in table.ready_offsets(max_messages - len(found))]
        return found

    # -- ending a lease

    def ack(
        self, now_ns: int, partition: int, offset: int, holder: str, *, count: int = 1, attempt: int | None = None
    ) -> None:
        """`holder` is done with `count` messages from `offset` on, all or none.

        `attempt`, where it is given, must be that of the lease: a holder that has got a message twice can tell its
        leases apart. Raises INVALID_LEASE where one has expired, or is another's.
        """
        table = self._table(partition)
        for span, first, end in table.held(now_ns, offset, count, holder, attempt):
            table.finish(span, first, end, LeaseAction.ACKNOWLEDGE)
            self.counts.acknowledged += end - first
            self._emit(now_ns, EventKind.ACKNOWLEDGED, table, span, first, end)

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
        """`holder` has failed, because of `cause`: the message is tried again as the retry policy says.

        After the last attempt, or without `requeue`, it goes to the dead letters. Raises INVALID_LEASE as `ack` does.
        """
        table = self._table(partition)
        for span, first, end in table.held(now_ns, offset, count, holder, attempt):
            self.counts.nacked += end - first
            self._emit(now_ns, EventKind.NACKED, table, span, first, end, cause)
            history = _told(span, now_ns, cause)
            if not requeue or span.attempts >= self.config.max_attempts:
                self._bury(now_ns, table, span, first, end, history)
                continue
            delay_ns = self.config.retry.delay_ns(span.attempts, self._jitter())
            if delay_ns:
                self._delay(now_ns + delay_ns, table, span, first, end, history)
            else:
                table.move(span, first, end, LeaseAction.REQUEUE, history=history)
        self._serve(now_ns)

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
        """`holder` gives the message back as if it had never been handed out: the attempt does not count.

        Raises INVALID_LEASE as `ack` does.
        """
        table = self._table(partition)
        for part in table.held(now_ns, offset, count, holder, attempt):
            self._release(now_ns, table, *part, cause)
        self._serve(now_ns)

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
        """The lease now ends `lease_ms` from now (as long as a new one where none is given); its end, in ns.

        Raises INVALID_LEASE as `ack` does, INVALID_REQUEST where `lease_ms` is not positive.
        """
        lease_ns = self._lease_ns if lease_ms is None else ns_from_ms(lease_ms)
        if lease_ns <= 0:
            raise BrokerError(ErrorCode.INVALID_REQUEST, f"a lease of {lease_ms} ms is over at once")
        table = self._table(partition)
        parts = table.held(now_ns, offset, count, holder, attempt)
        due = (now_ns + lease_ns, self._timers.ticket())
        for span, first, end in parts:
            moved = table.move(span, first, end, LeaseAction.EXTEND, due=due)
            self._emit(now_ns, EventKind.LEASE_EXTENDED, table, moved, first, end)
        self._arm(due)
        return due[0]

    def release_holder(self, now_ns: int, holder: str, cause: str) -> int:
        """A client has closed: its takes end, and what it holds is given back at once; how many messages that is."""
        for taker in self._takers.of(holder):
            self.cancel_take(taker.reply)
        released = 0
        for table in self.tables:
            for span in table.held_by(holder):
                for first, end in list(table.index.segments(span)):
                    self._release(now_ns, table, span, first, end, cause)
                    released += end - first
        self._serve(now_ns)
        return released

    # -- taking out

    def purge(self, now_ns: int, client: str = "user") -> int:
        """Take out everything that nobody holds; how many messages that was. What is in flight stays."""
        purged = 0
        for table in self.tables:
            for span in table.remove_ready(table.ready) + table.remove_delayed():
                purged += span.open
                self._emit(now_ns, EventKind.PURGED, table, span, span.offset, span.end, "purge", client)
        self.counts.purged += purged
        return purged

    # -- what others see

    def view(self, now_ns: int, max_leases: int = 100, max_dead_letters: int = 100) -> QueueView:
        """Its state, with the leases of the lowest offsets and the newest dead letters. The gate is the broker's."""
        return queue_view(self, max_leases, max_dead_letters)

    def state(self, now_ns: int) -> QueueState:
        """What must be kept so that a restart goes on from here: a plain value, to be stored by the broker."""
        return saved(now_ns, self.tables, self.counts)

    def restore(self, now_ns: int, state: QueueState) -> None:
        """Go on from `state`, on a queue that was not used yet: leases and waits last as long as they still had."""
        self.counts = restored(now_ns, state, self.tables, self._timers.ticket)
        for table in self.tables:
            due = table.next_due()
            if due is not None:
                self._arm(due)

    # -- inside

    def _table(self, partition: int) -> LeaseTable:
        if not 0 <= partition < len(self.tables):
            raise BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"{self.name} has no partition {partition}")
        return self.tables[partition]

    def _hand_out(self, now_ns: int, holder: str, most: int) -> list[Lease]:
        leases: list[Lease] = []
        due: Place | None = None
        while len(leases) < most and (level := self._next_level(now_ns)) is not None:
            if due is None:
                due = (now_ns + self._lease_ns, self._timers.ticket())
                self._arm(due)
            # Where messages rise, the next one may be another level's.
            wanted = most - len(leases) if self._ageing_ns is None else 1
            table = self.tables[level]
            taken, skipped = table.take(now_ns, holder, due, wanted)
            for lost in skipped:
                self._report(now_ns, level, lost)
            for span, messages in taken:
                self.counts.delivered += span.open
                if span.attempts > 1:
                    self.counts.redelivered += span.open
                key = messages[0].key if span.open == 1 else None
                self._emit(now_ns, EventKind.DELIVERED, table, span, span.offset, span.end, key=key)
                leases += [
                    Lease(self.name, level, message.offset, holder, span.attempts, due[0], message)
                    for message in messages
                ]
        return leases

    def _next_level(self, now_ns: int) -> int | None:
        """The level that the next message comes from."""
        if self._ageing_ns is None or len(self.tables) == 1:
            return next((level for level, table in enumerate(self.tables) if table.ready), None)
        heads = []
        for level, table in enumerate(self.tables):
            head = table.head()
            if head is not None:
                risen = max(level - (now_ns - head[0]) // self._ageing_ns, 0)
                heads.append((risen, head[0], level))
        return min(heads)[2] if heads else None

    def _serve(self, now_ns: int) -> None:
        """Hand what is ready to those who wait. A callback of theirs may come back in here: the outer call goes on."""
        if self._serving:
            return
        self._serving = True
        try:
            while (taker := self._takers.first()) is not None:
                leases = self._hand_out(now_ns, taker.holder, taker.most)
                if not leases:
                    return
                self._takers.leave(taker.reply)
                taker.reply.resolve(leases)
        finally:
            self._serving = False

    def _release(self, now_ns: int, table: LeaseTable, span: Span, first: int, end: int, cause: str) -> None:
        self.counts.released += end - first
        self._emit(now_ns, EventKind.RELEASED, table, span, first, end, cause)
        table.move(span, first, end, LeaseAction.REQUEUE, attempts=span.attempts - 1)

    def _delay(
        self,
        due_ns: int,
        table: LeaseTable,
        span: Span,
        first: int,
        end: int,
        history: tuple[AttemptView, ...],
        *,
        doomed: bool = False,
    ) -> None:
        due = (due_ns, self._timers.ticket())
        moved = table.move(span, first, end, LeaseAction.DELAY, history=history, due=due)
        moved.doomed = doomed
        self._arm(due)

    def _bury(
        self, now_ns: int, table: LeaseTable, span: Span, first: int, end: int, history: tuple[AttemptView, ...]
    ) -> None:
        """Into the bin first, out of the queue after; where the bin refuses, the message waits and is tried again."""
        for offset in range(first, end):
            try:
                stored = table.log.message(offset)
            except BrokerError as error:
                self._report(now_ns, table.log.partition, Skipped(offset, span.published_ns, 0, error))
            else:
                try:
                    self.dead_letters.bury(now_ns, stored, self.name, history[-1].outcome, history, span.attempts)
                except BrokerError:
                    self._delay(now_ns + _BIN_RETRY_NS, table, span, offset, end, history, doomed=True)
                    return
                self.counts.dead_lettered += 1
            table.finish(span, offset, offset + 1, LeaseAction.REMOVE)

    def _arm(self, due: Place) -> None:
        """One timer for all leases and waits: it is set to the earliest, and keeps that one's place in line."""
        if self._armed is None or due < self._armed:
            if self._timer is not None:
                self._timer.cancel()
            self._armed = due
            self._timer = self._timers.at(due[0], self._due, due[1])

    def _due(self, now_ns: int) -> None:
        place, self._armed, self._timer = self._armed, None, None
        for table in self.tables:
            if place is not None and table.next_due() == place:
                for span, first, end in table.pop_due(place):
                    self._end_wait(now_ns, table, span, first, end)
        self._serve(now_ns)
        for table in self.tables:
            following = table.next_due()
            if following is not None:
                self._arm(following)

    def _end_wait(self, now_ns: int, table: LeaseTable, span: Span, first: int, end: int) -> None:
        history = span.history
        held = span.state is LeaseState.ACQUIRED
        if held:
            history = _told(span, now_ns, LEASE_EXPIRED)
            self.counts.lease_expired += end - first
            self._emit(now_ns, EventKind.LEASE_EXPIRED, table, span, first, end, LEASE_EXPIRED)
        if span.doomed or span.attempts >= self.config.max_attempts:
            self._bury(now_ns, table, span, first, end, history)
        else:
            action = LeaseAction.REQUEUE if held else LeaseAction.DUE
            table.move(span, first, end, action, history=history)

    def _report(self, now_ns: int, partition: int, lost: Skipped) -> None:
        fields = {"topic": self.name, "partition": partition, "offset": lost.offset, "count": 1}
        if lost.error is not None:
            self.counts.lost += 1
            self._events.emit(now_ns, EventKind.DAMAGE, **fields, group=self.name, cause=str(lost.error))
            return
        self.counts.expired += 1
        self._events.emit(
            now_ns,
            EventKind.EXPIRED,
            **fields,
            size_bytes=lost.size_bytes,
            group=self.name,
            published_ns=lost.published_ns,
        )

    def _emit(
        self,
        now_ns: int,
        kind: EventKind,
        table: LeaseTable,
        span: Span,
        first: int,
        end: int,
        cause: str = "",
        client: str | None = None,
        key: bytes | None = None,
    ) -> None:
        self._events.emit(
            now_ns,
            kind,
            topic=self.name,
            partition=table.log.partition,
            offset=first,
            count=end - first,
            size_bytes=span.size_bytes(first, end),
            client=span.holder if client is None else client,
            group=self.name,
            attempt=span.attempts or None,
            published_ns=span.published_ns,
            key=key,
            cause=cause,
        )


def _told(span: Span, now_ns: int, outcome: str) -> tuple[AttemptView, ...]:
    """The attempts of a span, the present one included, which ends now."""
    ended = AttemptView(span.holder, span.since_ns, now_ns, outcome)
    return (*span.history[-(MAX_ATTEMPTS_KEPT - 1) :], ended)
