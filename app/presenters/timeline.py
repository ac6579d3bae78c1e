"""The timeline's facts: what the session's collector knows, and where in the session the window looks."""

from __future__ import annotations

import math
from collections.abc import Sequence

from app.presenters.rates import Rates
from app.sessions.collectors.timeline import TimelineCollector
from app.sessions.history.series import ALL_PUBLISHED
from broker_core.snapshots import Snapshot
from widgets.timeline import Tick, TimelineFacts

SAMPLES_MAX = 600


class TimelineModel:
    """The facts of the strip."""

    def __init__(self, rates: Rates) -> None:
        self._rates = rates
        self._collector = TimelineCollector()
        self._end_ns: int | None = None
        self._looking_back = False
        self.bookmarks: Sequence[tuple[int, str]] = ()
        self.branch_ns: int | None = None

    def attach(self, collector: TimelineCollector) -> None:
        """Another session begins, which `collector` collects."""
        self._collector = collector
        self._end_ns, self._looking_back = None, False
        self.branch_ns = None

    def set_bounds(self, end_ns: int | None, *, looking_back: bool) -> None:
        """The session has come to `end_ns` (None: to what is shown), and its past is shown, or its present."""
        self._end_ns, self._looking_back = end_ns, looking_back

    def update(self, snapshot: Snapshot) -> TimelineFacts:
        """The facts while `snapshot` is shown."""
        collector = self._collector
        end_ns = max(self._end_ns or 0, snapshot.time_ns)
        marks = tuple(Tick(time_ns, "bookmark", name) for time_ns, name in self.bookmarks)
        return TimelineFacts(
            start_ns=0,
            now_ns=end_ns,
            samples=(samples := self._samples(end_ns)),
            peak_per_s=round(max((per_s for _ns, per_s in samples), default=0)),
            bands=collector.spans.bands(end_ns),
            ticks=(*collector.ticks(), *marks),
            head_ns=snapshot.time_ns if self._looking_back else None,
            branch_ns=self.branch_ns,
        )

    def _samples(self, end_ns: int) -> tuple[tuple[int, float], ...]:
        """(ns, messages published a second), where it is known."""
        series = self._rates.series
        end = series.line(end_ns)
        step = max(1, -(-end // SAMPLES_MAX))
        lines = range(0, end + 1, step)
        rates = series.rates(ALL_PUBLISHED, lines, step)
        return tuple(
            (line * series.grid_ns, per_s) for line, per_s in zip(lines, rates, strict=True) if not math.isnan(per_s)
        )
