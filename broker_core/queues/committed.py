"""A partition as a reader of committed messages sees it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from broker_core.messages import Run
from broker_core.queues.log_port import PartitionPort


class CommittedPartition:
    """`log` up to its first open transaction; an aborted message is, like a marker, no message."""

    def __init__(self, log: PartitionPort) -> None:
        self._log = log
        self.read, self.message, self.append_batch = log.read, log.message, log.append_batch
        self.published_ns, self.batch_end = log.published_ns, log.batch_end
        self.aborted_ranges, self.messages_between = log.aborted_ranges, log.messages_between

    @property
    def topic(self) -> str:
        return self._log.topic

    @property
    def partition(self) -> int:
        return self._log.partition

    @property
    def start_offset(self) -> int:
        return self._log.start_offset

    @property
    def end_offset(self) -> int:
        return self._log.end_offset

    @property
    def last_stable_offset(self) -> int:
        return self._log.last_stable_offset

    @property
    def high_watermark(self) -> int:
        return self._log.last_stable_offset

    def markers(self, offset: int, end_offset: int) -> Sequence[int]:
        aborted = [at for each in self._aborted(offset, end_offset) for at in each]
        return sorted([*self._log.markers(offset, end_offset), *aborted])

    def runs(self, offset: int, end_offset: int) -> list[Run]:
        found: list[Run] = []
        for gone in [*self._aborted(offset, end_offset), range(end_offset, end_offset)]:
            if offset < gone.start:
                found += self._log.runs(offset, gone.start)
            offset = max(offset, gone.stop)
        return found

    def _aborted(self, offset: int, end_offset: int) -> Iterator[range]:
        for each in self.aborted_ranges(offset, end_offset):
            yield range(max(offset, each.start), min(end_offset, each.stop))
