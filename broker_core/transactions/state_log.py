"""The log of transaction states: a compacted log by transactional id, like Kafka's `__transaction_state`."""

from __future__ import annotations

import msgspec

from broker_core.files import FileSystem
from broker_core.log.config import LogConfig
from broker_core.log.group_commit import GroupCommit
from broker_core.log.internal_log import InternalLog
from broker_core.messages import Message
from broker_core.replies import Reply
from broker_core.transactions.transaction import StoredTransaction, Transaction

DIRECTORY = "transaction-state"
_SEGMENT_BYTES = 1_048_576
_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(StoredTransaction)


class StateLog(InternalLog):
    """The states of the transactions of a data directory."""

    def __init__(self, files: FileSystem, syncs: GroupCommit, config: LogConfig, epoch_ms: int) -> None:
        super().__init__(files, syncs, config, epoch_ms, DIRECTORY, segment_bytes=_SEGMENT_BYTES, cleanup="compact")

    def write(self, now_ns: int, transaction: Transaction) -> Reply[None]:
        """Append the state. The reply is settled when it is durable. Raises or fails with STORAGE_ERROR."""
        value = _ENCODER.encode(transaction.stored())
        return self.append(now_ns, (Message(value, transaction.transactional_id.encode()),))

    def forget(self, now_ns: int, transactional_id: str) -> None:
        """Delete the state of an id. Raises STORAGE_ERROR."""
        self.append(now_ns, (Message(None, transactional_id.encode()),))

    def read(self) -> dict[str, Transaction]:
        found: dict[str, Transaction] = {}  # the oldest first
        for record in self.records():
            transactional_id = (record.key or b"").decode()
            found.pop(transactional_id, None)
            if record.value is not None:
                found[transactional_id] = Transaction.of(transactional_id, _DECODER.decode(record.value))
        return found
