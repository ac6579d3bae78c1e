"""Charts over session time: throughput, latency, lag, depth and blocking; and the rates of now as a table."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QObject

from app.presenters.panel_presenter import PanelPresenter, Sources, connect_filter
from app.presenters.rate_table import RateTable
from app.sessions.collectors.latencies import Bin, percentile_ns
from app.sessions.history.series import BLOCKED, WINDOW_NS
from app.sessions.shown import Collectors
from broker_core.clock import NS_PER_MS, NS_PER_S, s_from_ns
from broker_core.snapshots import Snapshot
from resources.units import KIB
from widgets.formats import duration
from widgets.i18n import tr
from widgets.panels.charts import ChartsPanel
from widgets.panels.curves import ChartFacts, Curve

POINTS_MAX = 600
# Curves are drawn a few times a second at most: they cost more than all other panels together.
EVERY_LOOKS = 3
PERCENTILES = ((0.5, "p50"), (0.9, "p90"), (0.99, "p99"))


class ChartsPresenter(PanelPresenter):
    panel_class = ChartsPanel

    def __init__(self, sources: Sources, parent: QObject | None = None) -> None:
        self.model = RateTable(sources.rates)
        self.panel: ChartsPanel = ChartsPanel(self.model)
        super().__init__(self.panel, parent)
        self.model.setParent(self)
        self._controller = sources.controller
        self._looks = 0
        connect_filter(self.panel, self.model)

    def show(self, snapshot: Snapshot) -> None:
        """The rates at every look, the curves at every third."""
        self.model.set_snapshot(snapshot)
        if self._looks % EVERY_LOOKS == 0 or not self.panel.charts():
            end_ns = max(snapshot.time_ns, self._controller.end_ns)
            self.panel.set_charts(chart_facts(self._controller.collectors, end_ns), s_from_ns(end_ns))
        self._looks += 1


def chart_facts(collectors: Collectors, end_ns: int) -> tuple[ChartFacts, ...]:
    """All charts that have a curve, over a session up to `end_ns`."""
    series = collectors.series
    end = series.line(end_ns)
    step = max(1, -(-end // POINTS_MAX))
    lines = range(0, end + 1, step)
    times_s = np.array(lines, dtype=np.float64) * series.grid_ns / NS_PER_S

    def curves(values: dict[str, list[float]], scale: float = 1.0) -> tuple[Curve, ...]:
        return tuple(
            Curve(name, collectors.hues.flows.of(name), times_s, np.array(of_name, dtype=np.float64) * scale)
            for name, of_name in values.items()
        )

    def rates(kind: str, scale: float = 1.0) -> tuple[Curve, ...]:
        return curves({name: series.rates((kind, name), lines, step) for name in series.names(kind)}, scale)

    def levels(kind: str) -> tuple[Curve, ...]:
        return curves({name: series.values((kind, name), lines) for name in series.names(kind)})

    over = duration(max(WINDOW_NS, step * series.grid_ns))
    about = tr("Each point is the mean of the {time} before it.", time=over)
    latencies = _percentiles(*collectors.latencies.copy())
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
