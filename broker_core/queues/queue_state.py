from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from broker_core.messages import MessageRun
from broker_core.queues.journal import JournalEntry
from broker_core.queues.lease_table import LeaseTable
from broker_core.queues.spans import LeaseSpan, shares_of
from broker_core.queues.states import OPEN_STATES, LeaseState


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
    lease_extended: int = 0
    lease_expired: int = 0
    dead_lettered: int = 0
    purged: int = 0
    restored: int = 0
    evicted: int = 0
    expired: int = 0
    lost: int = 0


class QueueState(msgspec.Struct, frozen=True):
    """The state of a queue at `time_ns`. Messages below `next_offsets`, one a level, that are in no entry are finished.
    An entry's deadline is relative to `time_ns`.
    """

    time_ns: int
    next_offsets: tuple[int, ...]
    entries: tuple[JournalEntry, ...]
    counts: QueueCounts
    journal_offset: int = 0  # journal entries from here on are not included; set when it is saved


def state_of(now_ns: int, queue: str, tables: Sequence[LeaseTable], counts: QueueCounts) -> QueueState:
    entries = tuple(
        JournalEntry(
            queue, now_ns, level, first, end, span.state, (), span.lease, span.sizes_of(first, end), span.ticket
        )
        for level, table in enumerate(tables)
        for first, end, span in table.index.runs()
    )
    return QueueState(now_ns, tuple(table.next_offset for table in tables), entries, msgspec.structs.replace(counts))


def restore_into(
    now_ns: int, state: QueueState, tables: Sequence[LeaseTable], counts: QueueCounts, ticket: Callable[[], int]
) -> None:
    """Put `state` into unused tables and counts. Times continue from `now_ns`; ties keep their order."""
    turns = {entry.ticket: 0 for entry in state.entries}
    for old in sorted(turns):
        turns[old] = -1 if old < 0 else ticket()
    for table, next_offset in zip(tables, state.next_offsets, strict=False):
        table.skip_to(next_offset)
        table.was_read = True  # nobody has kept whether it was
    for entry in state.entries:
        table = tables[entry.level]
        for run in table.log.runs(entry.first, entry.end):
            start = run.offset - entry.first
            table.insert(_span(run, entry.sizes[start : start + run.count], entry, now_ns, turns[entry.ticket]))
    for name in QueueCounts.__struct_fields__:
        setattr(counts, name, getattr(state.counts, name))


def _span(run: MessageRun, sizes: tuple[int, ...], kept: JournalEntry, now_ns: int, ticket: int) -> LeaseSpan:
    """The messages of `run` as they were `kept`, `now_ns` for its time; a `ticket` of -1 has no deadline."""
    shift_ns, lease = now_ns - kept.time_ns, kept.lease
    lease = msgspec.structs.replace(
        lease,
        since_ns=lease.since_ns + shift_ns if lease.holder else 0,
        deadline_ns=lease.deadline_ns + shift_ns if ticket >= 0 else 0,
    )
    start, end = run.offset, run.end_offset
    return LeaseSpan(start, end, kept.state, run.published_ns, sizes, start, run.count, lease, ticket)


def replay_into(
    now_ns: int,
    entries: Sequence[JournalEntry],
    tables: Sequence[LeaseTable],
    counts: QueueCounts,
    ticket: Callable[[], int],
) -> None:
    """Apply journal entries. Leases and retry delays last as long as when they were written."""
    for entry in entries:
        if entry.level >= len(tables):
            continue
        table = tables[entry.level]
        first, end = table.remove_range(entry.first, entry.end)
        turn = ticket() if entry.state in (LeaseState.ACQUIRED, LeaseState.DELAYED) else -1
        for run in table.log.runs(first, end) if entry.state in OPEN_STATES else ():
            table.insert(_span(run, shares_of(run), entry, now_ns, turn))
        for name in entry.counted:
            setattr(counts, name, getattr(counts, name) + entry.end - entry.first)
