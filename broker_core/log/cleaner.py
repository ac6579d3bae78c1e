"""The compactions of all logs, by turns."""

from __future__ import annotations

from collections.abc import Iterable

from broker_core.log.compaction import Compaction, is_behind, is_due
from broker_core.log.partition_log import PartitionLog

# Who writes faster than compaction gets on with little is slowed by it: else the log would grow without end.
USUAL_FRACTION, BEHIND_FRACTION = 0.4, 0.9


class Cleaner:
    """Runs one slice of one pass at a time, of each log in its turn, as long as there is something to gain."""

    def __init__(self) -> None:
        self._running: dict[PartitionLog, Compaction] = {}

    def look(self, now_ns: int, logs: Iterable[PartitionLog]) -> None:
        """Begin a pass of each of these logs that has become worth one."""
        for log in logs:
            if log not in self._running and is_due(log, now_ns):
                self._running[log] = Compaction(log, now_ns)

    def step(self, now_ns: int) -> float:
        """One slice; which part of the time the next ones are to get, 0 where there are none.

        Raises STORAGE_ERROR, and begins that pass anew when looked at.
        """
        if not self._running:
            return 0.0
        log = next(iter(self._running))
        running = self._running.pop(log)
        if running.step():
            self._running[log] = running  # behind the others
        else:
            self.look(now_ns, (log,))  # what was written meanwhile may be worth another
        if not self._running:
            return 0.0
        return BEHIND_FRACTION if any(map(is_behind, self._running)) else USUAL_FRACTION

    def forget(self, log: PartitionLog) -> None:
        """The log is going away."""
        self._running.pop(log, None)
