"""The priority levels of a queue, and which of them is next."""

from __future__ import annotations

from collections.abc import Sequence

from broker_core.errors import BrokerError, ErrorCode
from broker_core.messages import Message
from broker_core.queues.due_heap import Place
from broker_core.queues.lease_table import LeaseTable
from broker_core.queues.log_port import PartitionPort
from broker_core.queues.spans import Span


def check_priorities(queue: str, levels: int, messages: Sequence[Message]) -> None:
    """Raises INVALID_RECORD where `queue`, which has so many levels, has none for the priority of a message.

    RabbitMQ takes such a message for one of its highest level. Here that would be the least urgent one, and a mistyped
    number would wait behind all others without a word.
    """
    # Every queue has a level 0, where nearly all messages go.
    for priority in [message.priority for message in messages if message.priority]:
        if not isinstance(priority, int) or not 0 <= priority < levels:
            those = "priority 0 only" if levels == 1 else f"priorities from 0, the most urgent, to {levels - 1}"
            raise BrokerError(ErrorCode.INVALID_RECORD, f"{queue} has {those}, and none of {priority!r}")


class Levels:
    """A lease table for each level, 0 the most urgent.

    With `ageing_ns`, a message rises one level each time that long has passed since it was published. At equal level
    the one that was published first is next, so that after (its level * ageing) only older messages go before it.
    """

    def __init__(self, partitions: Sequence[PartitionPort], ageing_ns: int | None) -> None:
        self.tables = [LeaseTable(partition) for partition in partitions]
        self.ageing_ns = ageing_ns if len(self.tables) > 1 else None

    def table(self, level: int) -> LeaseTable:
        """Raises UNKNOWN_TOPIC_OR_PARTITION where there is no such level."""
        if not 0 <= level < len(self.tables):
            raise BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"the queue has no partition {level}")
        return self.tables[level]

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

    def next_level(self, now_ns: int) -> int | None:
        """The level that the next message comes from; None where nothing is ready."""
        if self.ageing_ns is None:
            return next((level for level, table in enumerate(self.tables) if table.ready), None)
        heads = []
        for level, table in enumerate(self.tables):
            head = table.head()
            if head is not None:
                heads.append((max(level - (now_ns - head[0]) // self.ageing_ns, 0), head[0], level))
        return min(heads)[2] if heads else None

    def next_due(self) -> Place | None:
        """When the earliest lease or wait ends."""
        return min([due for table in self.tables if (due := table.next_due()) is not None], default=None)

    def evict(self, messages: int, size_bytes: int, than: int | None) -> list[tuple[int, Span]]:
        """Take out the oldest waiting messages until so much is free; none where that cannot be reached.

        With `than`, only of less urgent levels than that, the least urgent first. Gives (level, span) pairs.
        """
        levels = range(0 if than is None else max(than + 1, 0), len(self.tables))
        tables = self.tables[levels.start :]
        if messages > sum(table.ready for table in tables) or size_bytes > sum(table.ready_bytes for table in tables):
            return []
        evicted: list[tuple[int, Span]] = []
        while messages > 0 or size_bytes > 0:
            level = self._victim(levels, than)
            # Where bytes count too, one by one: none more than is needed.
            wanted = messages if size_bytes <= 0 and len(levels) == 1 else 1
            for span in self.tables[level].remove_ready(wanted):
                evicted.append((level, span))
                messages -= span.open
                size_bytes -= sum(span.sizes)
        return evicted

    def _victim(self, levels: range, than: int | None) -> int:
        filled = [level for level in levels if self.tables[level].ready]
        if than is not None or len(filled) == 1:
            return filled[-1]
        # Of the same age, the less urgent goes.
        return -min(((self.tables[level].head() or (0, 0))[0], -level) for level in filled)[1]
