from __future__ import annotations

import msgspec

from broker_core.events import EventKind
from broker_core.queues.lease_table import LeaseTable
from broker_core.queues.levels import Levels
from broker_core.queues.queue_events import RESET_OFFSETS, UNDO_PURGE, QueueEvents
from broker_core.queues.queue_state import QueueCounts
from broker_core.queues.spans import Span

#: The cause of a purge that takes one message back: its redrive or its publishing was undone.
WITHDRAWN = "withdrawn"


class _Purge(msgspec.Struct, frozen=True):
    time_ns: int
    removed: list[tuple[LeaseTable, Span]]


class PurgeLog:
    """Removes messages that are not leased, and remembers purges within the undo window."""

    def __init__(self, levels: Levels, counts: QueueCounts, events: QueueEvents, undo_window_ns: int) -> None:
        self._levels = levels
        self._counts = counts
        self._events = events
        self._undo_window_ns = undo_window_ns
        self._purges: list[_Purge] = []  # oldest first

    def purge(self, now_ns: int, client: str) -> int:
        removed = []
        for level, table in enumerate(self._levels.tables):
            for span in table.remove_ready(table.ready) + table.remove_delayed():
                removed.append((table, span))
                self._events.part(now_ns, EventKind.PURGED, level, span, cause="purge", client=client)
        purged = sum(span.open for _, span in removed)
        self._counts.purged += purged
        if removed:
            self._purges = [each for each in self._purges if self._in_time(now_ns, each)] + [_Purge(now_ns, removed)]
        return purged

    def can_undo(self, now_ns: int) -> bool:
        return bool(self._purges) and self._in_time(now_ns, self._purges[-1])

    def undo_purge(self, now_ns: int, client: str) -> int:
        """Restore the messages of the last purge within the undo window. Returns their number."""
        if not self.can_undo(now_ns):
            return 0
        last = self._purges.pop()
        brought_back, runs = 0, []
        for table, span in last.removed:
            count = table.bring_back(span)
            brought_back += count
            runs.append((table.log.partition, span.end - count, span.end))
        self._counts.restored += brought_back
        if brought_back:
            self._events.undone(now_ns, UNDO_PURGE, client, brought_back, runs)
        return brought_back

    def remove_below(self, now_ns: int, level: int, offset: int, client: str) -> list[Span]:
        """Remove all messages below `offset`, of which none may be leased."""
        removed = self._levels.table(level).remove_below(offset)
        for span in removed:
            self._counts.purged += span.open
            self._events.part(now_ns, EventKind.PURGED, level, span, cause=RESET_OFFSETS, client=client)
        return removed

    def bring_back_from(self, now_ns: int, level: int, offset: int, client: str) -> list[Span]:
        table = self._levels.table(level)
        spans = table.bring_back_from(offset)
        count = sum(span.open for span in spans)
        self._counts.restored += count
        if count:
            runs = [(table.log.partition, span.offset, span.end) for span in spans]
            self._events.undone(now_ns, RESET_OFFSETS, client, count, runs)
        return spans

    def _in_time(self, now_ns: int, purge: _Purge) -> bool:
        return now_ns - purge.time_ns <= self._undo_window_ns

    def withdraw(self, now_ns: int, level: int, offset: int, client: str) -> bool:
        span = self._levels.table(level).withdraw(offset)
        if span is None:
            return False
        self._counts.purged += 1
        self._events.part(now_ns, EventKind.PURGED, level, span, offset, offset + 1, cause=WITHDRAWN, client=client)
        return True

    def turn_away(self, now_ns: int, level: int, offset: int, client: str) -> bool:
        span = self._levels.table(level).withdraw(offset)
        if span is None:
            return False
        self._counts.evicted += 1
        self._events.part(now_ns, EventKind.EVICTED, level, span, offset, offset + 1, cause="no room", client=client)
        return True

    def evict(self, now_ns: int, messages: int, size_bytes: int, than: int | None) -> bool:
        """Evict the oldest ready messages to free that many messages and bytes; False if that is impossible."""
        evicted = self._levels.evict(messages, size_bytes, than)
        cause = "room for a newer message" if than is None else f"room for a message of priority {than}"
        for level, span in evicted:
            self._counts.evicted += span.open
            self._events.part(now_ns, EventKind.EVICTED, level, span, cause=cause)
        return bool(evicted)

    def evict_least_urgent(self, now_ns: int, messages: int) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        while len(found) < messages and self._levels.ready:
            level, span = self._levels.newest_of_least_urgent()
            self._counts.evicted += 1
            self._events.part(now_ns, EventKind.EVICTED, level, span, cause="no room")
            found.append((level, span.offset))
        return found
