"""A work queue: a log that is read with leases."""

from __future__ import annotations

from collections.abc import Sequence

from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import EventKind
from broker_core.messages import StoredMessage
from broker_core.queues.journal import Entry
from broker_core.queues.queue_leases import QueueLeases
from broker_core.queues.queue_state import QueueState, replayed, restored, saved
from broker_core.queues.queue_view import queue_view
from broker_core.replies import Reply
from broker_core.snapshots import QueueView


class Queue(QueueLeases):
    """A work queue. See `QueueLeases` for delivery and leases. `counts` holds the totals."""

    def first_open_offset(self, partition: int) -> int:
        """All messages of `partition` below it are finished: the log may be trimmed up to here."""
        return self.levels.table(partition).first_open_offset

    def trimmed(self, now_ns: int) -> int:
        """Finish messages that the log has deleted, leased or not. Returns their number."""
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
                self._events.part(now_ns, kind, 0, span, span.offset, span.end)

    def peek(self, max_messages: int = 1) -> list[StoredMessage]:
        """Up to `max_messages` of the next messages, level by level, without taking them."""
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
        """Whether `undo_purge` can restore messages."""
        return self._purge_log.can_undo(now_ns)

    def undo_purge(self, now_ns: int, client: str = "user") -> int:
        """Restore the messages of the last purge within the undo window. Returns their number."""
        brought_back = self._purge_log.undo_purge(now_ns, client)
        self._finished(now_ns)
        return brought_back

    def withdraw(self, now_ns: int, partition: int, offset: int, client: str = "user") -> bool:
        """Remove one message, to undo its redrive; False where it is leased or finished."""
        self.levels.table(partition).grow()
        withdrawn = self._purge_log.withdraw(now_ns, partition, offset, client)
        self._finished(now_ns)
        return withdrawn

    def turn_away(self, now_ns: int, partition: int, offset: int, client: str) -> bool:
        """Evict a message that `client` has just published; False where it is leased already."""
        return self._purge_log.turn_away(now_ns, partition, offset, client)

    def evict(self, now_ns: int, messages: int, size_bytes: int, than: int | None = None) -> bool:
        """Evict the oldest ready messages to free that many messages and bytes; False where that is impossible.

        With `than`, only messages less urgent than that priority are evicted, the least urgent first.
        """
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
        """The state to save, as a plain value."""
        self._journal.write(now_ns)
        return saved(now_ns, self.levels.tables, self.counts)

    def restore(self, now_ns: int, state: QueueState) -> None:
        """Continue from `state`, on an unused queue. Leases and retry delays keep their remaining time."""
        restored(now_ns, state, self.levels.tables, self.counts, self._timers.ticket)
        self._due.arm(self.levels.next_due())

    def begin(self, now_ns: int) -> None:
        """Mark the queue as new in the journal."""
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
            for level, table in enumerate(self.levels.tables):
                if table.next_due() == place:
                    for span, first, end in table.pop_due(place):
                        self._lease_outcomes.due(now_ns, level, span, first, end)
        self._due.arm(self.levels.next_due())
        self.appended(now_ns)
