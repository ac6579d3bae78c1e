from __future__ import annotations

from broker_core.errors import BrokerError, ErrorCode
from broker_core.files import FileSystem
from broker_core.limits import MAX_PARTITIONS
from broker_core.log.config import LogConfig
from broker_core.log.partition_log import PartitionLog
from broker_core.log.partitioners import Partitioner
from broker_core.names import check_name


def check_partitions(name: str, total: int, present: int = 0) -> None:
    """Raises INVALID_PARTITIONS if a topic that has `present` partitions cannot be given `total`."""
    if not present < total <= MAX_PARTITIONS:
        why = f"{total} for topic {name!r}; {present + 1} to {MAX_PARTITIONS} are allowed"
        raise BrokerError(ErrorCode.INVALID_PARTITIONS, why)


class TopicLog:
    """The partitions of one topic, each in its own directory `<name>-<partition>` below the root."""

    def __init__(
        self,
        files: FileSystem,
        name: str,
        partitions: int,
        *,
        config: LogConfig,
        epoch_ms: int,
        partitioner: Partitioner | None = None,
    ) -> None:
        self.name = check_name(name)
        self.config = config
        self.was_compacted = config.compacts  # at some time: then messages may be missing in between
        self.partitions: list[PartitionLog] = []
        self.partitioner = partitioner or Partitioner()
        self._files = files
        self._epoch_ms = epoch_ms
        self.add_partitions(partitions)

    def add_partitions(self, count: int) -> None:
        """Add `count` partitions; keys may map to other partitions then. Raises INVALID_PARTITIONS."""
        present = len(self.partitions)
        check_partitions(self.name, present + count, present)
        self.partitions += [
            PartitionLog(
                self._files, f"{self.name}-{number}", self.name, number, config=self.config, epoch_ms=self._epoch_ms
            )
            for number in range(present, present + count)
        ]

    def partition_for(self, key: bytes | None) -> int:
        return self.partitioner.choose(key, len(self.partitions))

    def configure(self, config: LogConfig) -> None:
        for log in self.partitions:
            log.configure(config)
        self.config = config
        self.was_compacted |= config.compacts

    def close(self) -> None:
        for log in self.partitions:
            log.close()

    def remove(self) -> None:
        for log in self.partitions:
            log.abandon()
        for log in self.partitions:
            for name in self._files.listdir(log.name):
                self._files.remove(f"{log.name}/{name}")
            self._files.remove(log.name)
