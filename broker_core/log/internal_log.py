from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from broker_core.errors import ErrorCode, Suppress
from broker_core.files import FileSystem
from broker_core.log.config import MAX_SEGMENT_BYTES, LogConfig
from broker_core.log.group_commit import GroupCommit
from broker_core.log.partition_log import PartitionLog
from broker_core.messages import Message, StoredMessage
from broker_core.replies import Reply

_PAGE = 10_000


class InternalLog:
    """A log of the broker's own, as durable as its data directory, and made when it is first written to.

    `directory` cannot be a topic's, which ends with a partition number. `log` is None before the first write.
    """

    def __init__(
        self, files: FileSystem, syncs: GroupCommit, config: LogConfig, epoch_ms: int, directory: str, **settings: Any
    ) -> None:
        config = LogConfig(
            durability=config.durability, segment_ms=None, max_message_bytes=MAX_SEGMENT_BYTES, **settings
        )
        self.syncs = syncs
        self._made = partial(PartitionLog, files, directory, directory, 0, config=config, epoch_ms=epoch_ms)
        self.log = self._made() if files.exists(directory) else None

    @property
    def logs(self) -> tuple[PartitionLog, ...]:
        """The log, () before the first write."""
        return () if self.log is None else (self.log,)

    def append(self, now_ns: int, messages: Sequence[Message]) -> Reply[None]:
        """The reply is settled when they are durable. Raises or fails with STORAGE_ERROR."""
        if self.log is None:
            self.log = self._made()
        self.log.append_batch(now_ns, messages)
        return self.syncs.durable(self.log, self.log.end_offset)

    def records(self, offset: int = 0) -> Iterator[StoredMessage]:
        """The records from `offset` on, without unreadable ones, which are reported with the corruption of all logs."""
        offset = 0 if self.log is None else max(offset, self.log.start_offset)
        while self.log is not None and offset < self.log.high_watermark:
            page: list[StoredMessage] = []
            with Suppress(ErrorCode.DAMAGED):
                page = self.log.read(offset, max_messages=_PAGE)
            offset = page[-1].offset + 1 if page else offset + 1
            yield from page

    def close(self) -> None:
        if self.log is not None:
            self.log.close()
