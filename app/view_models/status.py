"""The status bar's facts."""

from __future__ import annotations

from app.view_models.formats import byte_size, rate
from app.view_models.rates import Rates
from broker_core.snapshots import Snapshot
from widgets.status_bar import StatusFacts


class StatusModel:
    """Puts a snapshot, and what only the workbench knows, into the words of the status bar."""

    def __init__(self) -> None:
        self._rates = Rates()
        self.seed: int | None = None
        self.recording_bytes: int | None = None
        self.frame_ms: float | None = None

    def meet(self, snapshot: Snapshot) -> StatusFacts:
        """The facts after one more snapshot."""
        per_s = self._rates.meet("published", snapshot.time_ns, snapshot.totals.published)
        in_flight = sum(queue.in_flight for queue in snapshot.queues)
        return StatusFacts(
            seed="" if self.seed is None else f"Seed {self.seed}",
            rate=f"{rate(per_s)} messages/s",
            in_flight=f"{in_flight:,} in flight",
            recording="" if self.recording_bytes is None else f"Recording {byte_size(self.recording_bytes)}",
            frame="" if self.frame_ms is None else f"Frame {self.frame_ms:.0f} ms",
        )
