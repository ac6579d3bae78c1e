"""The log of transaction states: a compacted log by transactional id, like Kafka's `__transaction_state`."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from broker_core.errors import BrokerError, ErrorCode
from broker_core.files import FileSystem
from broker_core.log.config import MAX_SEGMENT_BYTES, LogConfig
from broker_core.log.group_commit import GroupCommit
from broker_core.log.partition_log import PartitionLog
from broker_core.messages import Message
from broker_core.replies import Reply
from broker_core.transactions.transaction import StoredTransaction, Transaction

DIRECTORY = "transaction-state"  # cannot be a topic's, which ends with a partition number
_SEGMENT_BYTES = 1_048_576
_PAGE = 10_000
_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(StoredTransaction)


class StateLog:
    """The log of a data directory, as durable as the directory. It is created with the first transactional id."""

    def __init__(self, files: FileSystem, syncs: GroupCommit, config: LogConfig, epoch_ms: int) -> None:
        self._files = files
        self._syncs = syncs
        self._config = LogConfig(
            durability=config.durability,
            segment_bytes=_SEGMENT_BYTES,
            segment_ms=None,
            max_message_bytes=MAX_SEGMENT_BYTES,
            cleanup="compact",
        )
        self._epoch_ms = epoch_ms
        self._log = self._opened() if files.exists(DIRECTORY) else None

    @property
    def logs(self) -> tuple[PartitionLog, ...]:
        return () if self._log is None else (self._log,)

    def _opened(self) -> PartitionLog:
        return PartitionLog(self._files, DIRECTORY, DIRECTORY, 0, config=self._config, epoch_ms=self._epoch_ms)

    def write(self, now_ns: int, transaction: Transaction) -> Reply[None]:
        """Append the state. The reply is settled when it is durable. Raises or fails with STORAGE_ERROR."""
        return self._append(now_ns, transaction.transactional_id, _ENCODER.encode(transaction.stored()))

    def forget(self, now_ns: int, transactional_id: str) -> None:
        """Delete the state of an id. Raises STORAGE_ERROR."""
        self._append(now_ns, transactional_id, None)

    def _append(self, now_ns: int, transactional_id: str, value: bytes | None) -> Reply[None]:
        if self._log is None:
            self._log = self._opened()
        self._log.append_batch(now_ns, (Message(value, transactional_id.encode()),))
        return self._syncs.durable(self._log, self._log.end_offset)

    def read(self) -> dict[str, Transaction]:
        found: dict[str, Transaction] = {}
        for key, value in self._records():
            transactional_id = key.decode()
            found.pop(transactional_id, None)
            if value is not None:
                found[transactional_id] = Transaction.of(transactional_id, _DECODER.decode(value))
        return found

    def _records(self) -> Iterator[tuple[bytes, bytes | None]]:
        log = self._log
        offset = 0 if log is None else log.start_offset
        while log is not None and offset < log.high_watermark:
            try:
                page = log.read(offset, max_messages=_PAGE)
            except BrokerError as error:
                if error.code is not ErrorCode.DAMAGED:
                    raise
                page = []  # reported with the corruption of all logs
            offset = page[-1].offset + 1 if page else offset + 1
            for record in page:
                yield record.key or b"", record.value

    def close(self) -> None:
        """Close its log. Raises STORAGE_ERROR."""
        if self._log is not None:
            self._log.close()
