from __future__ import annotations

from collections.abc import Sequence

from broker_core.clock import ns_from_ms
from broker_core.errors import BrokerError, ErrorCode
from broker_core.log.partition_log import PartitionLog
from broker_core.messages import Message
from broker_core.queues.config import QueueConfig
from broker_core.queues.due_heap import Due
from broker_core.queues.lease_table import LeaseTable
from broker_core.queues.spans import LeaseSpan


def check_priorities(queue: str, levels: int, messages: Sequence[Message]) -> None:
    """Raises INVALID_RECORD if `queue`, which has `levels` levels, has none for the priority of a message.

    RabbitMQ treats such a message as one of the highest level. Here that would be the least urgent one, and a mistyped
    number would silently wait behind all others.
    """
    # Level 0 always exists, and nearly all messages use it.
    for priority in [message.priority for message in messages if message.priority]:
        if not isinstance(priority, int) or not 0 <= priority < levels:
            those = "priority 0 only" if levels == 1 else f"priorities from 0, the most urgent, to {levels - 1}"
            raise BrokerError(ErrorCode.INVALID_RECORD, f"{queue} has {those}, and none of {priority!r}")


class Levels:
    """A lease table for each level, 0 the most urgent.

    With ageing, a message rises one level each time that long has passed since it was published. Within a level
    the oldest message is next, so that after (its level * ageing) only older messages precede a message.
    """

    def __init__(self, partitions: Sequence[PartitionLog], config: QueueConfig) -> None:
        self.tables = [LeaseTable(partition) for partition in partitions[: config.priorities]]
        self.max_in_flight = config.max_in_flight
        ageing_ms = config.ageing_ms if config.priorities > 1 else None
        self._ageing_ns = None if ageing_ms is None else ns_from_ms(ageing_ms)

    def grow(self, partitions: Sequence[PartitionLog]) -> None:
        """The topic has `partitions` now: the new ones are read from their start."""
        raise BrokerError(ErrorCode.INVALID_REQUEST, "the levels of a queue cannot be changed after its creation")

    def table(self, level: int) -> LeaseTable:
        if not 0 <= level < len(self.tables):
            raise BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"the queue has no partition {level}")
        return self.tables[level]

    def room(self, table: LeaseTable) -> int:
        return table.ready if self.max_in_flight is None else max(0, self.max_in_flight - table.in_flight)

    def _takeable(self, table: LeaseTable) -> bool:
        return bool(table.ready) and self.room(table) > 0

    @property
    def ready(self) -> int:
        return sum([table.ready for table in self.tables])

    @property
    def blocked_by_transactions(self) -> int:
        """Messages of open transactions, which a reader of committed messages cannot take yet."""
        return sum([table.blocked_by_transactions for table in self.tables])

    @property
    def delayed(self) -> int:
        return sum([table.delayed for table in self.tables])

    @property
    def in_flight(self) -> int:
        return sum([table.in_flight for table in self.tables])

    @property
    def size_bytes(self) -> int:
        return sum([table.size_bytes for table in self.tables])

    def next_level(self, now_ns: int) -> tuple[int, int | None, bool] | None:
        """(level, priority or None, whether later messages may come from there too) of the next message, if one is
        ready.
        """
        if self._ageing_ns is None:
            return next(((level, None, True) for level, table in enumerate(self.tables) if self._takeable(table)), None)
        heads = [
            (max(level - (now_ns - published_ns) // self._ageing_ns, 0), published_ns, level)
            for level, table in enumerate(self.tables)
            if self._takeable(table)
            for _, published_ns, _ in table.heads()
        ]
        return (min(heads)[2], None, False) if heads else None

    def next_due(self) -> Due | None:
        return min([due for table in self.tables if (due := table.next_due()) is not None], default=None)

    def evict(self, messages: int, size_bytes: int, than: int | None) -> list[tuple[int, LeaseSpan]]:
        """Remove the oldest ready messages to free that many messages and bytes; none where that is impossible.

        With `than`, only messages of less urgent levels are removed, the newest of the least urgent first. Returns
        (level, span) pairs.
        """
        levels = range(0 if than is None else max(than + 1, 0), len(self.tables))
        tables = self.tables[levels.start :]
        if messages > sum(table.ready for table in tables) or size_bytes > sum(table.ready_bytes for table in tables):
            return []
        evicted: list[tuple[int, LeaseSpan]] = []
        while messages > 0 or size_bytes > 0:
            # One by one where bytes are needed, so that no more than necessary is removed.
            wanted = messages if size_bytes <= 0 and len(levels) == 1 else 1
            found = self._oldest(levels, wanted) if than is None else [self.newest_of_least_urgent()]
            for level, span in found:
                evicted.append((level, span))
                messages -= span.open
                size_bytes -= sum(span.sizes)
        return evicted

    def newest_of_least_urgent(self) -> tuple[int, LeaseSpan]:
        """Remove the newest of the least urgent ready messages; there must be one."""
        level = max(level for level, table in enumerate(self.tables) if table.ready)
        return level, self._newest_of(level)

    def _newest_of(self, level: int) -> LeaseSpan:
        newest = self.tables[level].newest_ready()
        span = None if newest is None else self.tables[level].remove_one(newest[1])
        assert span is not None
        return span

    def _oldest(self, levels: range, wanted: int) -> list[tuple[int, LeaseSpan]]:
        heads = [(head[0], -level) for level in levels if (head := self.tables[level].head()) is not None]
        level = -min(heads)[1]  # among equal ages, the less urgent
        return [(level, span) for span in self.tables[level].remove_ready(wanted)]


class TopicLevels(Levels):
    """The partitions of a topic as levels without an order: the most urgent message of all is next, then the oldest.

    With ageing, messages rise as in `Levels`. A message whose priority has no level counts as the least urgent.
    """

    def __init__(self, partitions: Sequence[PartitionLog], config: QueueConfig) -> None:
        super().__init__((), config)
        self._priorities = config.priorities
        self._committed = config.isolation_level == "read_committed"
        self.grow(partitions)

    def grow(self, partitions: Sequence[PartitionLog]) -> None:
        self.tables += [
            LeaseTable(partition, self._priorities, committed=self._committed)
            for partition in partitions[len(self.tables) :]
        ]

    def next_level(self, now_ns: int) -> tuple[int, int | None, bool] | None:
        ageing_ns = self._ageing_ns
        if len(self.tables) == 1 and ageing_ns is None:
            return (0, None, True) if self._takeable(self.tables[0]) else None
        heads = [
            (
                priority if ageing_ns is None else max(priority - (now_ns - published_ns) // ageing_ns, 0),
                published_ns,
                level,
                priority,
            )
            for level, table in enumerate(self.tables)
            if self._takeable(table)
            for priority, published_ns, _ in table.heads()
        ]
        if not heads:
            return None
        _, _, level, priority = min(heads)
        return level, (priority if self.tables[level].has_priorities else None), False

    def newest_of_least_urgent(self) -> tuple[int, LeaseSpan]:
        found = []
        for level, table in enumerate(self.tables):
            newest = table.newest_ready()
            if newest is not None:
                found.append((newest[0], table.log.published_from_ns(newest[1]) or 0, newest[1], level))
        level = max(found)[3]
        return level, self._newest_of(level)
