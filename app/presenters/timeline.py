from __future__ import annotations

import math
from collections.abc import Sequence

from app.sessions.collectors.timeline import TimelineCollector
from app.sessions.history.series import ALL_PUBLISHED, SessionSeries
from broker_core.snapshots import Snapshot
from widgets.timeline_facts import Tick, TimelineFacts

SAMPLES_MAX = 600


class TimelineModel:
    def __init__(self, series: SessionSeries) -> None:
        self.series = series
        self.bookmarks: Sequence[tuple[int, str]] = ()
        self.attach(TimelineCollector())

    def attach(self, collector: TimelineCollector) -> None:
        self._collector = collector
        self.set_bounds(None, looking_back=False)
        self._peak_per_s, self._peak_line = 0.0, 0

    def set_bounds(
        self,
        end_ns: int | None,
        *,
        looking_back: bool,
        branch_ns: int | None = None,
        scenario_end_ns: int | None = None,
    ) -> None:
        """The session has come to `end_ns` (None: to what is shown), and its past is shown, or its present.

        It left another one at `branch_ns`, and has passed the end of its scenario at `scenario_end_ns`.
        """
        self._end_ns, self._looking_back = end_ns, looking_back
        self._branch_ns, self._scenario_end_ns = branch_ns, scenario_end_ns

    def update(self, snapshot: Snapshot) -> TimelineFacts:
        collector = self._collector
        end_ns = max(self._end_ns or 0, snapshot.time_ns)
        marks = tuple(Tick(time_ns, "bookmark", name) for time_ns, name in self.bookmarks)
        return TimelineFacts(
            start_ns=0,
            now_ns=end_ns,
            samples=self._samples(end_ns),
            peak_per_s=round(self._peak(end_ns)),
            bands=collector.bands(end_ns),
            ticks=(*collector.ticks(), *marks),
            head_ns=snapshot.time_ns if self._looking_back else None,
            branch_ns=self._branch_ns,
            scenario_end_ns=self._scenario_end_ns,
        )

    def _peak(self, end_ns: int) -> float:
        """The highest rate so far: of every line of the grid, not only of those that are drawn, so it never falls."""
        series = self.series
        first = min(self._peak_line, end := series.line(end_ns))
        for line, per_s in enumerate(series.rates(ALL_PUBLISHED, range(first, end + 1)), first):
            if math.isnan(per_s):
                break  # not read yet
            self._peak_per_s, self._peak_line = max(self._peak_per_s, per_s), line
        return self._peak_per_s

    def _samples(self, end_ns: int) -> tuple[tuple[int, float], ...]:
        series, end = self.series, self.series.line(end_ns)
        step = max(1, -(-end // SAMPLES_MAX))
        lines = range(0, end + 1, step)
        rates = series.rates(ALL_PUBLISHED, lines, step)
        return tuple(
            (line * series.grid_ns, per_s) for line, per_s in zip(lines, rates, strict=True) if not math.isnan(per_s)
        )
