from __future__ import annotations

from broker_core.broker.corruption_report import CorruptionReport
from broker_core.broker.durability import Durability
from broker_core.broker.logs import Logs, Topic
from broker_core.errors import BrokerError
from broker_core.events import EventKind, EventStream
from broker_core.log.compaction import Cleaner
from broker_core.log.partition_log import PartitionLog


def _start(log: PartitionLog) -> tuple[int, int]:
    return log.start_offset, log.segments.markers_between(log.start_offset, log.end_offset)


class Cleaning:
    """Retention is applied at once; compactions run in slices, also of the states of transactions."""

    def __init__(self, logs: Logs, durability: Durability, corruption: CorruptionReport, events: EventStream) -> None:
        self._logs = logs
        self._durability = durability
        self._corruption = corruption
        self._events = events
        self._cleaner = Cleaner()
        logs.on_removed(self._forget)

    def clean(self, now_ns: int) -> None:
        """Apply retention, begin the compactions that are due, and report what was found corrupt.

        Raises the first STORAGE_ERROR, after the rest.
        """
        failed: BrokerError | None = None
        for topic in self._logs:
            for log in topic.log.partitions:
                start = _start(log)
                try:
                    log.apply_retention(now_ns)
                except BrokerError as error:
                    failed = failed or error
                self._deleted(now_ns, topic, log, start, "retention")
            self._cleaner.begin(now_ns, topic.log.partitions)
        self._cleaner.begin(now_ns, self._durability.states.logs)
        self._corruption.update(now_ns, self._durability.all_logs())
        if failed is not None:
            raise failed

    def compact(self, now_ns: int) -> float:
        """Run one slice, a few milliseconds, of the compactions that `clean` has begun.

        Returns the fraction of time that the next slices should get, 0 when none is left. Raises STORAGE_ERROR.
        """
        return self._cleaner.step(now_ns)

    def delete_records(self, now_ns: int, name: str, partition: int, before_offset: int) -> int:
        """Delete the messages below `before_offset`; the new start offset of the partition.

        Raises UNKNOWN_TOPIC_OR_PARTITION, OFFSET_OUT_OF_RANGE.
        """
        topic = self._logs.topic(name)
        log = topic.partition(partition)
        start = _start(log)
        log.delete_before(before_offset)
        self._deleted(now_ns, topic, log, start, "delete records")
        return log.start_offset

    def _deleted(self, now_ns: int, topic: Topic, log: PartitionLog, before: tuple[int, int], cause: str) -> None:
        (old_start, old_markers), (start, markers) = before, _start(log)
        if start > old_start:
            self._events.emit(
                now_ns,
                EventKind.RECORDS_DELETED,
                topic=log.topic,
                partition=log.partition,
                offset=old_start,
                count=start - old_start,
                cause=cause,
                detail={"markers": old_markers - markers} if old_markers > markers else None,
            )
            topic.make_room(now_ns)

    def _forget(self, topic: Topic) -> None:
        for log in topic.log.partitions:
            self._cleaner.forget(log)
