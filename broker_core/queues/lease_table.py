"""The lease states of the messages of one partition.

As in KIP-932: messages from `next_offset` on were never delivered; below it, unfinished messages are kept as spans.
Acquiring, finishing and expiring cost O(log n) in the messages in flight, independent of the backlog.
"""

from __future__ import annotations

from collections.abc import Iterator

from broker_core.errors import BrokerError, ErrorCode
from broker_core.log.partition_log import PartitionLog
from broker_core.messages import MessageRun
from broker_core.queues import delivery
from broker_core.queues.due_heap import Due, DueHeap
from broker_core.queues.lease import Held, Lease
from broker_core.queues.ready_spans import ReadySpans
from broker_core.queues.spans import LeaseSpan, SpanIndex, SpanLease, part_of, shares_of
from broker_core.queues.states import NEXT_STATE, LeaseAction, LeaseState
from broker_core.snapshots import AttemptView


class LeaseTable:
    """The states of the messages of one partition log. It has no clock and emits no events; `Queue` does.

    With several `priorities`, the most urgent message is delivered first; with one, the lowest offset. `committed`
    takes nothing of open and of aborted transactions.
    """

    def __init__(self, log: PartitionLog, priorities: int = 1, *, committed: bool = False) -> None:
        self.log: delivery.ReadPartition = delivery.CommittedPartition(log) if committed else log
        self._whole = log
        self.next_offset = log.start_offset
        self.end_offset = log.start_offset
        self.index = SpanIndex()
        self._counts = [0] * len(LeaseState)
        self._fresh_bytes = 0
        self._bytes = [0] * len(LeaseState)
        self._ready = ReadySpans(priorities)
        self.has_priorities = priorities > 1
        self._due = DueHeap()
        self._trimmed_to = log.start_offset
        self.was_read = False  # something was delivered, or its start was set
        self._held: dict[str, dict[LeaseSpan, None]] = {}
        self.grow()

    # -- queries

    @property
    def ready(self) -> int:
        return self.end_offset - self.next_offset + self._counts[LeaseState.AVAILABLE]

    @property
    def blocked_by_transactions(self) -> int:
        """Messages that nobody can take before a transaction has ended."""
        end_offset, whole = self.end_offset, self._whole
        return 0 if whole is self.log else whole.messages_between(end_offset, max(end_offset, whole.high_watermark))

    @property
    def delayed(self) -> int:
        return self._counts[LeaseState.DELAYED]

    @property
    def in_flight(self) -> int:
        return self._counts[LeaseState.ACQUIRED]

    @property
    def size_bytes(self) -> int:
        return self._fresh_bytes + sum(self._bytes)

    @property
    def ready_bytes(self) -> int:
        return self._fresh_bytes + self._bytes[LeaseState.AVAILABLE]

    @property
    def first_open_offset(self) -> int:
        """All messages below are finished: the log may be trimmed up to here."""
        first = self.index.first_offset()
        return self.next_offset if first is None else min(first, self.next_offset)

    def held_by(self, holder: str | None) -> list[LeaseSpan]:
        """The spans of `holder`; those of all holders for None."""
        found = self._held.values() if holder is None else (self._held.get(holder, {}),)
        return [span for held in found for span in held]

    def next_due(self) -> Due | None:
        span = self._due.first()
        return None if span is None else (span.lease.deadline_ns, span.ticket)

    def heads(self) -> list[tuple[int, int, int]]:
        """(priority, published_ns, offset) of the next message of each priority."""
        self._move_fresh_to_ready()
        spans = [(priority, self._ready.first(priority)) for priority in self._ready.filled()]
        found = [(at, span.published_ns, next(self.index.segments(span))[0]) for at, span in spans if span is not None]
        if not found and self.next_offset < self.end_offset:
            # What retention or compaction has removed since the last take is still counted, and cannot be read.
            first = max(self.next_offset, self.log.start_offset)
            return [(0, self.log.published_from_ns(first) or 0, first)] if first < self.end_offset else []
        return found

    def head(self) -> tuple[int, int] | None:
        """(published_ns, offset) of the ready message with the lowest offset."""
        oldest = min(self.heads(), key=lambda head: head[2], default=None)
        return None if oldest is None else oldest[1:]

    def newest_ready(self) -> tuple[int, int] | None:
        """(priority, offset) of the newest among the least urgent ready messages."""
        self._move_fresh_to_ready()
        if self.next_offset < self.end_offset:
            return 0, self.end_offset - 1
        filled = self._ready.filled()
        if not filled:
            return None
        newest = self.index.newest(
            lambda span: span.state is LeaseState.AVAILABLE and span.lease.priority == filled[-1]
        )
        return None if newest is None else (filled[-1], newest)

    def ready_offsets(self, most: int) -> list[int]:
        self._move_fresh_to_ready()
        returned = [offset for span in self._ready for part in self.index.segments(span) for offset in range(*part)]
        return [*returned, *range(self.next_offset, min(self.end_offset, self.next_offset + most))][:most]

    # -- growth

    def grow(self) -> int:
        """Add the messages that became readable. Returns where they begin."""
        start, self.end_offset = self.end_offset, self.log.high_watermark
        self._fresh_bytes += self._bytes_between(start, self.end_offset)
        markers = self.log.markers(start, self.end_offset)
        for marker in markers:  # no message: what lies before it is entered by itself
            while self.next_offset < marker:
                self.insert(self._pop_fresh(marker - self.next_offset))
            self.next_offset = marker + 1
        return start

    def aborted_from(self, offset: int) -> Iterator[LeaseSpan]:
        """The messages that `grow` has skipped since `offset`, if only committed messages are read."""
        if self._whole is not self.log and offset < self.end_offset:
            for gone in self._whole.segments.aborted_ranges(offset, self.end_offset):
                for run in self._whole.runs(max(offset, gone.start), gone.stop):
                    end, sizes = run.end_offset, shares_of(run)
                    yield LeaseSpan(
                        run.offset, end, LeaseState.AVAILABLE, run.published_ns, sizes, run.offset, run.count
                    )

    def skip_to(self, next_offset: int) -> None:
        """Start at `next_offset`; only for a table that has delivered nothing."""
        first = self.index.first_offset()
        if first is not None:
            self.remove_range(first, next_offset)
        self.next_offset = min(max(next_offset, self.next_offset), self.end_offset)
        self._fresh_bytes = self._bytes_between(self.next_offset, self.end_offset)

    def insert(self, span: LeaseSpan) -> None:
        """Add a span in its state. Its offsets must be in no other span."""
        self.index.put(span.offset, span.end, span)
        self._counts[span.state] += span.open
        self._bytes[span.state] += sum(span.sizes)
        if span.state is LeaseState.AVAILABLE:
            self._ready.push(span)
            return
        self._due.push(span)
        if span.state is LeaseState.ACQUIRED:
            self._held.setdefault(span.lease.holder, {})[span] = None

    # -- removal

    def take(
        self, now_ns: int, holder: str, due: Due, wanted: int, priority: int | None = None
    ) -> tuple[list[delivery.Taken], list[delivery.Skipped]]:
        """Lease up to `wanted` messages of `priority` (default: the most urgent), the lowest offsets first."""
        taken: list[delivery.Taken] = []
        skipped: list[delivery.Skipped] = []
        if self.log.start_offset > self._trimmed_to:
            self.trim()
        self._move_fresh_to_ready()
        while wanted > 0 and self.ready and (priority is None or self._ready.first(priority) is not None):
            piece = self._pop_ready(wanted, priority)
            try:
                messages = delivery.read_live(self.log, now_ns, piece, skipped)
            except BrokerError:
                self.insert(piece)
                if taken or skipped:
                    break
                raise
            wanted -= len(messages)
            state, last = NEXT_STATE[piece.state, LeaseAction.TAKE], piece.lease
            lease = SpanLease(last.attempts + 1, holder, now_ns, due[0], last.history, priority=last.priority)
            for first, end in delivery.neighbours(messages):
                group = messages[first:end]
                span = LeaseSpan(
                    group[0].offset,
                    group[-1].offset + 1,
                    state,
                    group[0].published_ns,
                    tuple([len(message.key or b"") + len(message.value or b"") for message in group]),
                    group[0].offset,
                    end - first,
                    lease,
                    due[1],
                )
                self.insert(span)
                taken.append(delivery.Taken(span, group))
        self.was_read = self.was_read or bool(taken)
        return taken, skipped

    def up_to_batch(self, wanted: int) -> int:
        """`wanted`, or more if the last of them was never delivered: then up to the end of its batch."""
        first, end = self.next_offset, self.end_offset
        if self._ready.filled():
            span = self._ready.first(self._ready.filled()[0])
            if span is None or span.lease.attempts:
                return wanted
            first, end = next(self.index.segments(span))
        if not 0 < wanted < end - first:
            return wanted
        return min(self.log.batch_end(first + wanted - 1), end) - first

    def pass_fresh(self, wanted: int, holder: str) -> LeaseSpan:
        """Deliver and acknowledge up to `wanted` new messages that were published at one moment."""
        span = self._pop_fresh(min(wanted, self.end_offset - self.next_offset))
        for action in (LeaseAction.TAKE, LeaseAction.ACKNOWLEDGE):
            span.state = NEXT_STATE[span.state, action]
        span.lease = SpanLease(1, holder)
        return span

    def remove_ready(self, wanted: int) -> list[LeaseSpan]:
        removed = []
        while wanted > 0 and self.ready:
            oldest = min(self.heads(), key=lambda head: head[2])[0] if self.has_priorities else None
            piece = self._pop_ready(1 if self.has_priorities else wanted, oldest)
            piece.state = NEXT_STATE[piece.state, LeaseAction.REMOVE]
            wanted -= piece.open
            removed.append(piece)
        return removed

    def remove_delayed(self) -> list[LeaseSpan]:
        delayed = [part for part in self.index.runs() if part[2].state is LeaseState.DELAYED]
        return [self.finish(span, first, end, LeaseAction.REMOVE) for first, end, span in delayed]

    def remove_one(self, offset: int) -> LeaseSpan | None:
        self._move_fresh_to_ready()
        if self.next_offset <= offset < self.end_offset:
            while offset > self.next_offset:
                self.insert(self._pop_fresh(offset - self.next_offset))
            piece = self._pop_fresh(1)
            piece.state = NEXT_STATE[piece.state, LeaseAction.REMOVE]
            return piece
        span = self.index.get(offset)
        if span is None or span.state is LeaseState.ACQUIRED:
            return None
        return self.finish(span, offset, offset + 1, LeaseAction.REMOVE)

    def remove_range(self, first: int, end: int) -> tuple[int, int]:
        """Remove the messages from `first` up to `end` in any state. Returns the part of the range that the log has."""
        self._move_fresh_to_ready()
        first, end = max(first, self.log.start_offset), min(end, self.end_offset)
        while self.next_offset < first:
            self.insert(self._pop_fresh(first - self.next_offset))
        for offset in range(first, min(end, self.next_offset)):
            span = self.index.get(offset)
            if span is not None:
                self.index.clear(offset, offset + 1)
                self._leave(span, offset, offset + 1)
        while self.next_offset < end:
            self._pop_fresh(end - self.next_offset)
        return first, end

    def bring_back(self, removed: LeaseSpan) -> int:
        first = max(removed.offset, self.log.start_offset)
        if first >= removed.end:
            return 0
        span = part_of(removed, first, removed.end, NEXT_STATE[removed.state, LeaseAction.RESTORE])
        self.insert(span)
        return span.open

    def remove_below(self, offset: int) -> list[LeaseSpan]:
        removed = []
        while self.next_offset < min(offset, self.end_offset):
            piece = self._pop_fresh(min(offset, self.end_offset) - self.next_offset)
            piece.state = NEXT_STATE[piece.state, LeaseAction.REMOVE]
            removed.append(piece)
        for first, end, span in [part for part in self.index.runs() if part[0] < offset]:
            removed.append(self.finish(span, first, min(end, offset), LeaseAction.REMOVE))
        return removed

    def bring_back_from(self, offset: int) -> list[LeaseSpan]:
        """Make all finished messages from `offset` on ready again, as never delivered, as far as the log has them."""
        first = max(offset, self.log.start_offset)
        added: list[LeaseSpan] = []
        markers = set(self.log.markers(first, self.next_offset))
        for run in self.log.runs(first, self.next_offset):
            sizes = shares_of(run)
            for at in range(run.offset, run.end_offset):
                if self.index.get(at) is not None or at in markers:
                    continue
                if added and added[-1].end == at and added[-1].base == run.offset:
                    added[-1].end, added[-1].open = at + 1, added[-1].open + 1
                else:
                    span = LeaseSpan(at, at + 1, LeaseState.AVAILABLE, run.published_ns, sizes, run.offset, 1)
                    added.append(span)
        spans = [part_of(span, span.offset, span.end, span.state) for span in added]
        for span in spans:
            self.insert(span)
        return spans

    def trim(self) -> None:
        """Finish all messages below the log's start, leased or not."""
        start = self._trimmed_to = self.log.start_offset
        if start > self.next_offset:
            self.next_offset = min(start, self.end_offset)
            self._fresh_bytes = self._bytes_between(self.next_offset, self.end_offset)
        for first, end, span in list(self.index.runs()):
            if first < start:
                self.finish(span, first, min(end, start), LeaseAction.REMOVE)

    # -- leased messages

    def held(self, now_ns: int, lease: Lease | Held, count: int = 1) -> list[tuple[LeaseSpan, int, int]]:
        """The parts (span, first, end) of `count` messages from its own. Raises INVALID_LEASE if one is not held."""
        parts: list[tuple[LeaseSpan, int, int]] = []
        offset, holder, attempt = lease.offset, lease.holder, lease.attempt
        end = offset + count
        while offset < end:
            span = self.index.get(offset)
            if (
                span is None
                or span.state is not LeaseState.ACQUIRED
                or span.lease.holder != holder
                or now_ns > span.lease.deadline_ns
                or (attempt is not None and span.lease.attempts != attempt)
            ):
                raise BrokerError(ErrorCode.INVALID_LEASE, f"{self.log.topic} {offset} is not held by {holder!r}")
            first, offset = offset, offset + 1 if count == 1 else self.index.end_of(span, offset, end)
            parts.append((span, first, offset))
        return parts

    def finish(self, span: LeaseSpan, first: int, end: int, action: LeaseAction) -> LeaseSpan:
        """Finish the members from `first` up to `end`. Returns them as a span of their own."""
        state = NEXT_STATE[span.state, action]
        self.index.clear(first, end)
        self._leave(span, first, end)
        return part_of(span, first, end, state)

    def move(
        self,
        span: LeaseSpan,
        first: int,
        end: int,
        action: LeaseAction,
        *,
        attempts: int | None = None,
        history: tuple[AttemptView, ...] | None = None,
        due: Due | None = None,
        doomed: bool = False,
    ) -> LeaseSpan:
        """Move the members from `first` up to `end` to a new span, in the state after `action`."""
        moved, lease = part_of(span, first, end, NEXT_STATE[span.state, action]), span.lease
        holds = moved.state is LeaseState.ACQUIRED
        deadline_ns, moved.ticket = due or (0, -1)
        moved.lease = SpanLease(
            lease.attempts if attempts is None else attempts,
            lease.holder if holds else "",
            lease.since_ns if holds else 0,
            deadline_ns,
            lease.history if history is None else history,
            doomed,
            lease.priority,
        )
        self._leave(span, first, end)
        self.insert(moved)
        return moved

    def pop_due(self, due: Due) -> Iterator[tuple[LeaseSpan, int, int]]:
        """The parts (span, first, end) that are due at exactly `due`. The caller must move or finish each."""
        while (span := self._due.first()) is not None and (span.lease.deadline_ns, span.ticket) == due:
            for first, end in list(self.index.segments(span)):
                yield span, first, end

    # -- inside

    def _bytes_between(self, first: int, end: int) -> int:
        return sum(run.size_bytes for run in self.log.runs(first, end)) if first < end else 0

    def _leave(self, span: LeaseSpan, first: int, end: int) -> None:
        self._counts[span.state] -= end - first
        self._bytes[span.state] -= span.size_bytes(first, end)
        span.open -= end - first
        if span.open:
            return
        if span.state is LeaseState.ACQUIRED:
            held = self._held[span.lease.holder]
            del held[span]
            if not held:
                del self._held[span.lease.holder]
        if span.state is not LeaseState.AVAILABLE:
            self._due.count_stale()

    def _move_fresh_to_ready(self) -> None:
        """With priorities, sort fresh messages by priority, which is known once they are read."""
        while self.has_priorities and self.next_offset < self.end_offset:
            piece = self._pop_fresh(self.end_offset - self.next_offset)
            for span in delivery.by_priority(self.log, piece, len(self._ready) - 1):
                self.insert(span)

    def _pop_ready(self, most: int, priority: int | None) -> LeaseSpan:
        """Remove up to `most` of the next ready messages of `priority` (default: the most urgent), redelivered ones
        first.
        """
        if priority is None:
            priority = next(iter(self._ready.filled()), 0) if self.has_priorities else 0
        span = self._ready.first(priority)
        if span is None:
            return self._pop_fresh(min(most, self.end_offset - self.next_offset))
        self._ready.pop(priority)
        first, end = next(self.index.segments(span))
        end = min(end, first + most)
        self.index.clear(first, end)
        self._leave(span, first, end)
        if span.open:
            span.offset = end
            self._ready.push(span)
        return part_of(span, first, end, span.state)

    def _pop_fresh(self, most: int) -> LeaseSpan:
        first = self.next_offset
        runs = self.log.runs(first, first + most)
        if runs and runs[0].offset == first:
            run = runs[0]
        else:  # compaction has left a gap, which `read_live` reports
            run = MessageRun(first, (runs[0].offset if runs else first + most) - first, 0, 0)
        self.next_offset = run.end_offset
        self._fresh_bytes -= run.size_bytes
        # On delivery they are replaced by the exact sizes.
        sizes = shares_of(run)
        return LeaseSpan(first, run.end_offset, LeaseState.AVAILABLE, run.published_ns, sizes, first, run.count)
