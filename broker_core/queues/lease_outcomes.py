from __future__ import annotations

from collections.abc import Callable

import msgspec

from broker_core.clock import NS_PER_S
from broker_core.errors import BrokerError
from broker_core.events import EventKind, EventStream
from broker_core.limits import MAX_ATTEMPTS_KEPT, MAX_CAUSE_CHARS
from broker_core.queues.config import QueueConfig
from broker_core.queues.dead_letters import DeadLetters
from broker_core.queues.delivery import Skipped, why_unread
from broker_core.queues.due_heap import DueTimer
from broker_core.queues.journal import QueueJournal
from broker_core.queues.levels import Levels
from broker_core.queues.queue_state import QueueCounts
from broker_core.queues.spans import LeaseSpan
from broker_core.queues.states import LeaseAction, LeaseState
from broker_core.snapshots import AttemptView


class QueueEvents:
    """Emits the events of messages of `topic` in queue `name`; the queue is the event's `group`."""

    def __init__(self, name: str, topic: str, stream: EventStream) -> None:
        self._name = name
        self._topic = topic
        self._stream = stream

    def emit_part(
        self,
        now_ns: int,
        kind: EventKind,
        level: int,
        span: LeaseSpan,
        first: int | None = None,
        end: int | None = None,
        *,
        cause: str = "",
        client: str | None = None,
        key: bytes | None = None,
    ) -> None:
        """Emit `kind` for the members of `span` from `first` up to `end`, or for all."""
        if first is None or end is None:
            first, end = span.offset, span.end
        self._stream.emit(
            now_ns,
            kind,
            topic=self._topic,
            partition=level,
            offset=first,
            count=end - first,
            size_bytes=span.size_bytes(first, end),
            client=span.lease.holder if client is None else client,
            group=self._name,
            attempt=span.lease.attempts or None,
            published_ns=span.published_ns,
            key=key,
            cause=cause,
        )

    def skipped(self, now_ns: int, level: int, skipped: Skipped) -> None:
        self._stream.emit(
            now_ns,
            skipped.kind,
            topic=self._topic,
            partition=level,
            offset=skipped.offset,
            count=1,
            size_bytes=skipped.size_bytes,
            group=self._name,
            published_ns=skipped.published_ns,
            cause=skipped.cause,
        )

    def undone(self, now_ns: int, what: str, client: str, count: int, runs: list[tuple[int, int, int]]) -> None:
        self._stream.emit_action(
            now_ns,
            topic=self._topic,
            group=self._name,
            client=client,
            count=count,
            cause=what,
            detail={"runs": [list(run) for run in runs if run[1] < run[2]]},
        )


LEASE_EXPIRED = "lease expired"  # the outcome of an attempt whose lease expired

_DEAD_LETTER_RETRY_NS = NS_PER_S  # the delay after the dead letter queue could not be written

History = tuple[AttemptView, ...]


class LeaseOutcomes(msgspec.Struct, eq=False, kw_only=True):
    """Handles nacked, expired and released deliveries: requeue, delay, or dead-letter."""

    queue: str
    config: QueueConfig
    levels: Levels
    counts: QueueCounts
    dead_letters: DeadLetters
    events: QueueEvents
    due_timer: DueTimer
    jitter: Callable[[], float]
    journal: QueueJournal

    def failed(
        self, now_ns: int, level: int, span: LeaseSpan, first: int, end: int, cause: str, *, requeue: bool
    ) -> None:
        """The holder nacked the members from `first` up to `end`: retry, or dead-letter after the last attempt."""
        cause = cause[:MAX_CAUSE_CHARS]
        if not cause.isascii():  # half a character cannot be stored
            cause = cause.encode(errors="replace").decode()
        self.counts.nacked += end - first
        self.events.emit_part(now_ns, EventKind.NACKED, level, span, first, end, cause=cause)
        history = _with_outcome(span, now_ns, cause)
        if not requeue or self._was_last(span):
            self._dead_letter(now_ns, level, span, first, end, history, "nacked")
            return
        delay_ns = self.config.retry.delay_ns(span.lease.attempts, self.jitter())
        due = self.due_timer.due_in(delay_ns, now_ns) if delay_ns else None
        action = LeaseAction.REQUEUE if due is None else LeaseAction.DELAY
        moved = self.levels.tables[level].move(span, first, end, action, history=history, due=due)
        self.journal.moved(now_ns, level, moved, "nacked")

    def released(self, now_ns: int, level: int, span: LeaseSpan, first: int, end: int, cause: str) -> None:
        self.counts.released += end - first
        self.events.emit_part(now_ns, EventKind.RELEASED, level, span, first, end, cause=cause)
        attempts = span.lease.attempts - 1
        moved = self.levels.tables[level].move(span, first, end, LeaseAction.REQUEUE, attempts=attempts)
        self.journal.moved(now_ns, level, moved, "released")

    def due(self, now_ns: int, level: int, span: LeaseSpan, first: int, end: int) -> None:
        """Their lease or their retry delay is over. After an expired lease there is no retry delay."""
        history = span.lease.history
        held = span.state is LeaseState.ACQUIRED
        counted = ("lease_expired",) if held else ()
        if held:
            history = _with_outcome(span, now_ns, LEASE_EXPIRED)
            self.counts.lease_expired += end - first
            self.events.emit_part(now_ns, EventKind.LEASE_EXPIRED, level, span, first, end, cause=LEASE_EXPIRED)
        if span.lease.doomed or self._was_last(span):
            self._dead_letter(now_ns, level, span, first, end, history, *counted)
        else:
            action = LeaseAction.REQUEUE if held else LeaseAction.DUE
            moved = self.levels.tables[level].move(span, first, end, action, history=history)
            self.journal.moved(now_ns, level, moved, *counted)

    def skipped(self, now_ns: int, level: int, skipped: Skipped) -> None:
        """A message has expired, was removed by compaction, or cannot be read; it is finished."""
        self.counts.expired += skipped.kind is EventKind.EXPIRED
        self.counts.purged += skipped.kind is EventKind.PURGED
        self.counts.lost += skipped.kind is EventKind.DAMAGE
        self.events.skipped(now_ns, level, skipped)

    def _was_last(self, span: LeaseSpan) -> bool:
        return self.config.max_attempts is not None and span.lease.attempts >= self.config.max_attempts

    def _dead_letter(
        self, now_ns: int, level: int, span: LeaseSpan, first: int, end: int, history: History, *counted: str
    ) -> None:
        """Append to the dead letter queue, then finish here. If the append fails, it is retried later."""
        table = self.levels.tables[level]
        for offset in range(first, end):
            try:
                stored = table.log.message(offset)
            except BrokerError as error:
                why = why_unread(table.log, offset, error)
                self.skipped(
                    now_ns, level, Skipped(offset, span.published_ns, span.size_bytes(offset, offset + 1), *why)
                )
            else:
                try:
                    last = history[-1].outcome
                    self.dead_letters.add(now_ns, stored, self.queue, last, history, span.lease.attempts)
                except BrokerError:
                    due = self.due_timer.due_in(_DEAD_LETTER_RETRY_NS, now_ns)
                    moved = table.move(span, offset, end, LeaseAction.DELAY, history=history, due=due, doomed=True)
                    self.journal.moved(now_ns, level, moved, *counted)
                    return
                self.counts.dead_lettered += 1
                letters = self.dead_letters.log
                if self.config.durable_acks or letters.high_watermark == letters.end_offset:
                    self.journal.dead_lettered(now_ns, level, offset, letters, *counted)
            table.finish(span, offset, offset + 1, LeaseAction.REMOVE)


def _with_outcome(span: LeaseSpan, now_ns: int, outcome: str) -> History:
    ended = AttemptView(span.lease.holder, span.lease.since_ns, now_ns, outcome)
    return (*span.lease.history[-(MAX_ATTEMPTS_KEPT - 1) :], ended)
