"""A work queue: a topic log, read with leases; and what is done with it beside taking and acknowledging."""

from __future__ import annotations

from collections.abc import Sequence

from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import EventKind
from broker_core.messages import StoredMessage
from broker_core.queues.journal import Entry
from broker_core.queues.queue_leases import QueueLeases
from broker_core.queues.queue_state import QueueState, replayed, restored, saved
from broker_core.queues.queue_view import queue_view
from broker_core.snapshots import QueueView


class Queue(QueueLeases):
    """See `QueueLeases` for takes, leases and their ends. `counts` holds the totals."""

    def first_open_offset(self, partition: int) -> int:
        """Every message of `partition` below it is finished: the log may be trimmed up to here."""
        return self.levels.table(partition).first_open_offset

    def trimmed(self, now_ns: int) -> int:
        """The log has deleted messages: those are finished, even where somebody holds them; how many that is."""
        gone = sum(table.trim() for table in self.levels.tables)
        self._finished(now_ns)
        return gone

    def pass_through(self, now_ns: int, holder: str, count: int) -> None:
        """`holder` took the next `count` messages, fresh ones, and is done with them already."""
        table = self.levels.tables[0]
        while count > 0:
            span = table.pass_fresh(count, holder)
            count -= span.open
            self.counts.delivered += span.open
            self.counts.acknowledged += span.open
            for kind in (EventKind.DELIVERED, EventKind.ACKNOWLEDGED):
                self._events.part(now_ns, kind, 0, span, span.offset, span.end)

    def peek(self, max_messages: int = 1) -> list[StoredMessage]:
        """The next messages, level by level, without taking them."""
        found: list[StoredMessage] = []
        for table in self.levels.tables:
            found += [table.log.message(offset) for offset in table.ready_offsets(max_messages - len(found))]
        return found

    # -- taking out

    def purge(self, now_ns: int, client: str = "user") -> int:
        """Take out everything that nobody holds; how many messages that was. What is in flight stays."""
        purged = self._purge_log.purge(now_ns, client)
        self._finished(now_ns)
        return purged

    def can_undo_purge(self, now_ns: int) -> bool:
        """Whether `undo_purge` has something to bring back."""
        return self._purge_log.can_undo(now_ns)

    def undo_purge(self, now_ns: int, client: str = "user") -> int:
        """What the last purge took is ready again, unless that is too long ago; how many messages that is."""
        brought_back = self._purge_log.undo_purge(now_ns, client)
        self._finished(now_ns)
        return brought_back

    def withdraw(self, now_ns: int, partition: int, offset: int, client: str = "user") -> bool:
        """Take out one message that nobody holds, as when its redrive is undone; False where that is too late."""
        self.levels.table(partition).grow()
        withdrawn = self._purge_log.withdraw(now_ns, partition, offset, client)
        self._finished(now_ns)
        return withdrawn

    def turn_away(self, now_ns: int, partition: int, offset: int, client: str) -> bool:
        """Evict what `client` has just published, for want of room; False where somebody holds it already."""
        return self._purge_log.turn_away(now_ns, partition, offset, client)

    def evict(self, now_ns: int, messages: int, size_bytes: int, than: int | None = None) -> bool:
        """Make room for so many messages and bytes, at the cost of the oldest that wait; nothing where that cannot be.

        With `than`, only less urgent messages than that priority go, the least urgent first.
        """
        return self._purge_log.evict(now_ns, messages, size_bytes, than)

    def evict_least_urgent(self, now_ns: int, messages: int) -> list[tuple[int, int]]:
        """Take out so many, the newest of the least urgent first; (partition, offset) of each."""
        return self._purge_log.evict_least_urgent(now_ns, messages)

    # -- what others see

    def view(self, now_ns: int, max_leases: int = 100, max_dead_letters: int = 100) -> QueueView:
        """Its state, with the leases of the lowest offsets and the newest dead letters. The gate is the broker's."""
        return queue_view(self, max_leases, max_dead_letters)

    def state(self, now_ns: int) -> QueueState:
        """What must be kept so that a restart goes on from here: a plain value, to be stored by the broker."""
        self._journal.write(now_ns)
        return saved(now_ns, self.levels.tables, self.counts)

    def restore(self, now_ns: int, state: QueueState) -> None:
        """Go on from `state`, on a queue that was not used yet: leases and waits last as long as they still had."""
        restored(now_ns, state, self.levels.tables, self.counts, self._timers.ticket)
        self._due.arm(self.levels.next_due())

    def begin(self, now_ns: int) -> None:
        """It is a new one: what the journal tells of another of its name is not about it."""
        self._journal.begin(now_ns)

    def replay(self, now_ns: int, entries: Sequence[Entry]) -> None:
        """Go on from what the journal tells, after `restore` where a state was saved."""
        replayed(now_ns, entries, self.levels.tables, self.counts, self._timers.ticket)
        self._due.arm(self.levels.next_due())

    def close(self) -> None:
        """Those who wait get CLOSED, and nothing ends by itself any more; take its `state` before."""
        self._due.stop()
        while (taker := self._waiting_acquires.first()) is not None:
            self._waiting_acquires.leave(taker.reply)
            taker.reply.fail(BrokerError(ErrorCode.CLOSED, f"queue {self.name}"))

    def reopen(self, now_ns: int) -> None:
        """Go on after a `close`: leases and waits that would have ended meanwhile end now."""
        while (place := self.levels.next_due()) is not None and place[0] <= now_ns:
            for level, table in enumerate(self.levels.tables):
                if table.next_due() == place:
                    for span, first, end in table.pop_due(place):
                        self._lease_outcomes.due(now_ns, level, span, first, end)
        self._due.arm(self.levels.next_due())
        self.appended(now_ns)
