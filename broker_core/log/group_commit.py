"""Group commit: who waits for the disk, and the rounds in which one sync serves all of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from broker_core.errors import BrokerError
from broker_core.log.partition_log import PartitionLog
from broker_core.log.sync_ticket import SyncTicket
from broker_core.replies import Reply

Round = list[tuple[PartitionLog, SyncTicket]]


class GroupCommit:
    """Parks who waits until an append is durable. Only logs with durability `fsync` are ever waited for.

    A round is `begin` under the broker's lock, `SyncTicket.run` of each of its tickets without it, and `end` under it.
    """

    def __init__(self) -> None:
        self._dirty: dict[PartitionLog, None] = {}
        self._waiting: dict[PartitionLog, deque[tuple[int, Reply[None]]]] = {}

    @property
    def wanted(self) -> bool:
        """True where a round would make something durable."""
        return bool(self._dirty)

    def durable(self, log: PartitionLog, end_offset: int) -> Reply[None]:
        """There when everything below `end_offset` is as durable as the log promises; fails with STORAGE_ERROR."""
        if log.config.durability != "fsync" or log.high_watermark >= end_offset:
            return Reply.of(None)
        reply: Reply[None] = Reply()
        self._dirty[log] = None
        self._waiting.setdefault(log, deque()).append((end_offset, reply))
        return reply

    def note(self, logs: Iterable[PartitionLog]) -> None:
        """Let the next round cover what nobody waits for, too."""
        for log in logs:
            if log.config.durability == "fsync" and log.high_watermark < log.end_offset and not log.read_only:
                self._dirty[log] = None

    def begin(self) -> Round:
        """The tickets of the next round; those who wait for a log that takes no more syncs get its error."""
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
                    self._answer(log)  # somebody else has synced it
        return found

    def end(self, done: Round) -> list[PartitionLog]:
        """Take note of a round that was run, and answer those it served; the logs that can be read further now."""
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
        """The log is going away: those who wait for it get `error`."""
        self._dirty.pop(log, None)
        self._fail(log, error)

    def _answer(self, log: PartitionLog) -> None:
        """Tell those whose messages are durable."""
        waiting = self._waiting.get(log)
        while waiting and waiting[0][0] <= log.high_watermark:
            waiting.popleft()[1].resolve(None)
        if waiting is not None and not waiting:
            self._waiting.pop(log, None)

    def _fail(self, log: PartitionLog, error: BrokerError) -> None:
        for _, reply in self._waiting.pop(log, ()):
            reply.fail(error)
