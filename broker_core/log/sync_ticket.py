"""A sync of one partition, run without the broker's lock."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from broker_core.errors import BrokerError
from broker_core.log.segment import Segment


class SyncTicket:
    """Covers everything appended to one partition before the ticket was made.

    Call `run` in any thread, without the broker's lock, then give the ticket to `PartitionLog.end_sync` under it.
    """

    def __init__(self, end_offset: int, active: Segment, calls: Sequence[Callable[[], None]]) -> None:
        self.end_offset = end_offset
        self.active = active
        self.error: BrokerError | None = None
        self._calls = calls

    def run(self) -> None:
        """Sync the files. Never raises: `end_sync` does."""
        for call in self._calls:
            try:
                call()
            except BrokerError as error:
                self.error = self.error or error
