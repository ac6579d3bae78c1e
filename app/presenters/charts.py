"""Charts over session time: throughput, latency, lag, depth and blocking; and the rates of now as a table."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from PySide6.QtCore import QObject

from app.filters.help import help_rows
from app.presenters.panel_presenter import PanelPresenter
from app.presenters.rate_table import RateTable
from app.presenters.rates import Rates
from app.sessions.collectors.hues import HueCollector
from app.sessions.collectors.latencies import Bin, LatencyCollector, percentile_ns
from app.sessions.history.series import BLOCKED, WINDOW_NS
from broker_core.clock import NS_PER_MS, NS_PER_S, s_from_ns
from broker_core.snapshots import Snapshot
from resources.units import KIB
from widgets.formats import duration
from widgets.i18n import tr
from widgets.panels.charts import ChartFacts, ChartsPanel, Curve

POINTS_MAX = 600
# Curves are drawn a few times a second at most: they cost more than all other panels together.
EVERY_LOOKS = 3
PERCENTILES = ((0.5, "p50"), (0.9, "p90"), (0.99, "p99"))


class ChartsPresenter(PanelPresenter):
    """Fills the charts. `follow` when another session begins."""

    def __init__(
        self, tab: str, panel: ChartsPanel, table: RateTable, rates: Rates, parent: QObject | None = None
    ) -> None:
        super().__init__(tab, panel, parent)
        self._charts = panel
        self._table = table
        self._rates = rates
        self._latencies = LatencyCollector()
        self._hues = HueCollector()
        self._end_ns: Callable[[], int] = lambda: 0
        self._looks = 0
        panel.filterChanged.connect(table.set_filter)
        table.filter_judged.connect(panel.set_filter_problem)
        panel.set_filter_help(help_rows(table.fields))

    def follow(self, latencies: LatencyCollector, hues: HueCollector, end_ns: Callable[[], int]) -> None:
        """The collectors follow the session that is shown from now on, which has come to `end_ns()`."""
        self._latencies, self._hues, self._end_ns = latencies, hues, end_ns

    def show(self, snapshot: Snapshot) -> None:
        """The rates at every look, the curves at every third."""
        self._table.set_snapshot(snapshot)
        if self._looks % EVERY_LOOKS == 0 or not self._charts.charts():
            end_ns = max(snapshot.time_ns, self._end_ns())
            self._charts.set_charts(self._facts(end_ns), s_from_ns(end_ns))
        self._looks += 1

    def _facts(self, end_ns: int) -> tuple[ChartFacts, ...]:
        series = self._rates.series
        end = series.line(end_ns)
        step = max(1, -(-end // POINTS_MAX))
        lines = range(0, end + 1, step)
        times_s = np.array(lines, dtype=np.float64) * series.grid_ns / NS_PER_S

        def curves(values: dict[str, list[float]], scale: float = 1.0) -> tuple[Curve, ...]:
            return tuple(
                Curve(name, self._hues.flows.of(name), times_s, np.array(of_name, dtype=np.float64) * scale)
                for name, of_name in values.items()
            )

        def rates(kind: str, scale: float = 1.0) -> tuple[Curve, ...]:
            return curves({name: series.rates((kind, name), lines, step) for name in series.names(kind)}, scale)

        def levels(kind: str) -> tuple[Curve, ...]:
            return curves({name: series.values((kind, name), lines) for name in series.names(kind)})

        over = duration(max(WINDOW_NS, step * series.grid_ns))
        about = tr("Each point is the mean of the {time} before it.", time=over)
        latencies = _percentiles(*self._latencies.copy())
        blocked = np.array(series.rates(BLOCKED, lines, step), dtype=np.float64) / NS_PER_S
        held_back = (Curve(tr("producers"), 0, times_s, blocked),) if np.nansum(blocked) else ()
        charts = [
            ChartFacts("published", tr("Published"), tr("messages/s"), rates("published"), about=about),
            ChartFacts("bytes", tr("Published"), tr("KiB/s"), rates("bytes", 1 / KIB), about=about),
            ChartFacts("delivered", tr("Delivered"), tr("messages/s"), rates("delivered"), about=about),
            ChartFacts("latency", tr("Publish to delivery"), tr("ms"), latencies, logarithmic=True),
            ChartFacts("lag", tr("Consumer lag"), tr("messages"), levels("lag")),
            ChartFacts("depth", tr("Queue depth"), tr("messages"), levels("depth")),
            ChartFacts("blocked", tr("Blocked producers"), tr("on average"), held_back, about=about),
        ]
        return tuple(chart for chart in charts if chart.curves)


def _percentiles(bin_ns: int, bins: list[Bin]) -> tuple[Curve, ...]:
    if not any(bins):
        return ()
    times_s = (np.arange(len(bins), dtype=np.float64) + 0.5) * bin_ns / NS_PER_S
    curves = []
    for hue, (share, name) in enumerate(PERCENTILES):
        found = [percentile_ns(one, share) for one in bins]
        values = [np.nan if ns is None else ns / NS_PER_MS for ns in found]
        curves.append(Curve(name, hue, times_s, np.array(values, dtype=np.float64)))
    return tuple(curves)
