from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from broker_core.messages import Run
from broker_core.queues.journal import Entry
from broker_core.queues.lease_table import LeaseTable
from broker_core.queues.spans import Span, shares_of
from broker_core.queues.states import OPEN_STATES, LeaseState
from broker_core.snapshots import AttemptView


class QueueCounts(msgspec.Struct):
    """Totals, in messages, since the queue was created.

    `delivered` counts all deliveries, `redelivered` those with an attempt above 1 (released deliveries do not count as
    attempts). `restored` counts messages of undone purges, `lost` messages that could not be read.
    """

    delivered: int = 0
    redelivered: int = 0
    acknowledged: int = 0
    nacked: int = 0
    released: int = 0
    lease_expired: int = 0
    dead_lettered: int = 0
    purged: int = 0
    restored: int = 0
    evicted: int = 0
    expired: int = 0
    lost: int = 0


class SpanState(msgspec.Struct, frozen=True, gc=False):
    """Messages that were delivered and are not finished. Times are relative to `QueueState.time_ns`."""

    offset: int
    state: LeaseState
    sizes: tuple[int, ...]
    ticket: int = -1
    attempts: int = 0
    holder: str = ""
    since_ns: int = 0
    deadline_ns: int = 0
    history: tuple[AttemptView, ...] = ()
    doomed: bool = False
    priority: int = 0


class TableState(msgspec.Struct, frozen=True):
    """One priority level. Messages below `next_offset` that are in no span are finished."""

    next_offset: int
    spans: tuple[SpanState, ...]


class QueueState(msgspec.Struct, frozen=True):
    """The state of a queue at `time_ns`."""

    time_ns: int
    tables: tuple[TableState, ...]
    counts: QueueCounts
    journal_offset: int = 0  # journal entries from here on are not included; set when it is saved


def saved(now_ns: int, tables: Sequence[LeaseTable], counts: QueueCounts) -> QueueState:
    return QueueState(
        now_ns,
        tuple(
            TableState(
                table.next_offset,
                tuple(
                    SpanState(first, span.state, span.sizes_of(first, end), span.ticket, *span.kept)
                    for first, end, span in table.index.runs()
                ),
            )
            for table in tables
        ),
        msgspec.structs.replace(counts),
    )


def restored(
    now_ns: int, state: QueueState, tables: Sequence[LeaseTable], counts: QueueCounts, ticket: Callable[[], int]
) -> None:
    """Put `state` into unused tables and counts. Times continue from `now_ns`; ties keep their order."""
    shift_ns = now_ns - state.time_ns
    turns = {span.ticket: 0 for level in state.tables for span in level.spans}
    for old in sorted(turns):
        turns[old] = -1 if old < 0 else ticket()
    for table, level in zip(tables, state.tables, strict=False):
        table.skip_to(level.next_offset)
        for kept in level.spans:
            end = kept.offset + len(kept.sizes)
            for run in table.log.runs(kept.offset, end):
                first, count = run.offset, run.count
                sizes = kept.sizes[first - kept.offset : first - kept.offset + count]
                table.insert(_span(run, sizes, kept, shift_ns, turns[kept.ticket]))
    for name in QueueCounts.__struct_fields__:
        setattr(counts, name, getattr(state.counts, name))


def _span(run: Run, sizes: tuple[int, ...], kept: SpanState | Entry, shift_ns: int, ticket: int) -> Span:
    """The messages of `run` as they were `kept`; a `ticket` of -1 has no deadline."""
    return Span(
        run.offset,
        run.end_offset,
        kept.state,
        kept.attempts,
        kept.history,
        run.published_ns,
        sizes,
        run.offset,
        run.count,
        kept.holder,
        kept.since_ns + shift_ns if kept.holder else 0,
        kept.deadline_ns + shift_ns if ticket >= 0 else 0,
        ticket,
        kept.doomed,
        kept.priority,
    )


def replayed(
    now_ns: int,
    entries: Sequence[Entry],
    tables: Sequence[LeaseTable],
    counts: QueueCounts,
    ticket: Callable[[], int],
) -> None:
    """Apply journal entries. Leases and retry delays last as long as when they were written."""
    for entry in entries:
        if entry.level >= len(tables):
            continue
        table = tables[entry.level]
        first, end = table.take_out(entry.first, entry.end)
        shift_ns = now_ns - entry.time_ns
        waits = entry.state in (LeaseState.ACQUIRED, LeaseState.DELAYED)
        place = ticket() if waits else -1
        for run in table.log.runs(first, end) if entry.state in OPEN_STATES else ():
            table.insert(_span(run, shares_of(run), entry, shift_ns, place))
        for name in entry.counted:
            setattr(counts, name, getattr(counts, name) + entry.end - entry.first)
