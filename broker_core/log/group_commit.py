"""Group commit: replies that wait for durability, and rounds in which one sync serves all of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from broker_core.errors import BrokerError
from broker_core.log.partition_log import PartitionLog, SyncTicket
from broker_core.replies import Reply

Round = list[tuple[PartitionLog, SyncTicket]]


class GroupCommit:
    """Parks replies until appends are durable. Only logs with durability `fsync` need it.

    A round is `begin` under the broker's lock, `run` of each ticket without it, and `end` under it.
    """

    def __init__(self) -> None:
        self.synced_ns = 0  # when the last round ended
        self._dirty: dict[PartitionLog, None] = {}
        self._waiting: dict[PartitionLog, deque[tuple[int, Reply[None]]]] = {}

    @property
    def wanted(self) -> bool:
        return bool(self._dirty)

    def durable(self, log: PartitionLog, end_offset: int) -> Reply[None]:
        """A reply that is settled when all messages below `end_offset` are durable; it fails with STORAGE_ERROR."""
        if log.config.durability != "fsync" or log.high_watermark >= end_offset:
            return Reply.of(None)
        reply: Reply[None] = Reply()
        self._dirty[log] = None
        self._waiting.setdefault(log, deque()).append((end_offset, reply))
        return reply

    def note(self, logs: Iterable[PartitionLog]) -> None:
        """Include `logs` in the next round, although no reply waits for them."""
        for log in logs:
            if log.config.durability == "fsync" and log.high_watermark < log.end_offset and not log.read_only:
                self._dirty[log] = None

    def begin(self) -> Round:
        """The tickets of the next round. Replies that wait for a log that cannot be synced fail."""
        dirty, self._dirty = self._dirty, {}
        found: Round = []
        for log in dirty:
            try:
                ticket = log.begin_sync()
            except BrokerError as error:
                self._fail(log, error)
            else:
                if ticket is not None:
                    found.append((log, ticket))
                else:
                    self._answer(log)  # synced by another call
        return found

    def end(self, done: Round) -> list[PartitionLog]:
        """Complete a round and settle its replies. Returns the logs whose high watermark has advanced."""
        advanced: list[PartitionLog] = []
        for log, ticket in done:
            try:
                log.end_sync(ticket)
            except BrokerError as error:
                self._fail(log, error)
            else:
                advanced.append(log)
        for log in advanced:
            self._answer(log)
        return advanced

    def forget(self, log: PartitionLog, error: BrokerError) -> None:
        """Forget a deleted log: replies that wait for it fail with `error`."""
        self._dirty.pop(log, None)
        self._fail(log, error)

    def _answer(self, log: PartitionLog) -> None:
        waiting = self._waiting.get(log)
        while waiting and waiting[0][0] <= log.high_watermark:
            waiting.popleft()[1].resolve(None)
        if waiting is not None and not waiting:
            self._waiting.pop(log, None)

    def _fail(self, log: PartitionLog, error: BrokerError) -> None:
        for _, reply in self._waiting.pop(log, ()):
            reply.fail(error)
