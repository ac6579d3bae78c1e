from __future__ import annotations

from collections.abc import Iterable

from broker_core.log.compaction import Compaction, is_behind, is_due
from broker_core.log.partition_log import PartitionLog

# The share of time for compaction: usually, and where it falls behind. Then producers are slowed down, because
# otherwise the log would grow without limit.
USUAL_FRACTION, BEHIND_FRACTION = 0.4, 0.9


class Cleaner:
    """Runs compaction passes slice by slice, with the logs in turn."""

    def __init__(self) -> None:
        self._running: dict[PartitionLog, Compaction] = {}

    def begin(self, now_ns: int, logs: Iterable[PartitionLog]) -> None:
        for log in logs:
            if log not in self._running and is_due(log, now_ns):
                self._running[log] = Compaction(log, now_ns)

    def step(self, now_ns: int) -> float:
        """Run one slice. Returns the share of time for the next ones, 0 for none. Raises STORAGE_ERROR."""
        if not self._running:
            return 0.0
        log = next(iter(self._running))
        running = self._running.pop(log)
        if running.step():
            self._running[log] = running  # behind the others
        else:
            self.begin(now_ns, (log,))  # another pass may be due for what was written meanwhile
        if not self._running:
            return 0.0
        return BEHIND_FRACTION if any(map(is_behind, self._running)) else USUAL_FRACTION

    def forget(self, log: PartitionLog) -> None:
        self._running.pop(log, None)
