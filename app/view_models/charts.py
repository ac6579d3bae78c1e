"""Charts over session time: throughput, latency, lag, depth and blocking; and the rates of now as a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from PySide6.QtCore import QObject

from app.view_models.chart_feed import Bin, ChartFeed, percentile_ns
from app.view_models.feed import PanelFeed
from app.view_models.filter_help import help_rows
from app.view_models.gauges import gates
from app.view_models.group_lag import lag_of
from app.view_models.hue_feed import HueFeed
from app.view_models.rate_table import RateTable
from broker_core.clock import NS_PER_MS, NS_PER_S, s_from_ns
from broker_core.snapshots import Snapshot
from resources.units import KIB
from widgets.panels.charts import ChartFacts, ChartsPanel, Curve, Values
from widgets.words import tr

SAMPLES_MAX = 600
# Curves are drawn a few times a second at most: they cost more than all other panels together.
EVERY_LOOKS = 3
HueOf = Callable[[str], int]
PERCENTILES = ((0.5, "p50"), (0.9, "p90"), (0.99, "p99"))


class Levels:
    """What stands at a level, sampled from snapshots: lag by group, depth by queue, producers held back."""

    def __init__(self) -> None:
        self.times_ns: list[int] = []
        self._rows: list[dict[tuple[str, str], float]] = []
        self._gap_ns = NS_PER_S // 2
        self._blocked_ns = 0

    def meet(self, snapshot: Snapshot) -> None:
        """One more look; one that is no later than the last (somebody went back in time) tells nothing new."""
        if self.times_ns and snapshot.time_ns < self.times_ns[-1] + self._gap_ns:
            return
        row: dict[tuple[str, str], float] = {}
        for group in snapshot.groups:
            lag = lag_of(group)
            if lag is not None:
                row["lag", group.name] = lag
        for queue in snapshot.queues:
            row["depth", queue.name] = queue.ready + queue.delayed
        blocked_ns = sum(gate.blocked_ns_total for gate, _kind in gates(snapshot))
        if self.times_ns and snapshot.time_ns > self.times_ns[-1]:
            passed_ns = snapshot.time_ns - self.times_ns[-1]
            if blocked_ns:
                row["blocked", tr("producers")] = max(0, blocked_ns - self._blocked_ns) / passed_ns
        self._blocked_ns = blocked_ns
        self.times_ns.append(snapshot.time_ns)
        self._rows.append(row)
        if len(self.times_ns) > SAMPLES_MAX:
            self.times_ns, self._rows, self._gap_ns = self.times_ns[::2], self._rows[::2], self._gap_ns * 2

    def curves(self, kind: str, hue_of: HueOf) -> tuple[Curve, ...]:
        """The curves of one kind, each in the hue of its name."""
        names = sorted({name for row in self._rows for found, name in row if found == kind})
        times_s = np.array(self.times_ns, dtype=np.float64) / NS_PER_S
        return tuple(
            Curve(
                name,
                hue_of(name),
                times_s,
                np.array([row.get((kind, name), np.nan) for row in self._rows], dtype=np.float64),
            )
            for name in names
        )


class ChartsFeed(PanelFeed):
    """Feeds the charts. `follow(feed)` when another session begins; `load` where one is opened that was recorded."""

    def __init__(self, tab: str, panel: ChartsPanel, rates: RateTable, parent: QObject | None = None) -> None:
        super().__init__(tab, panel, parent)
        self._charts = panel
        self._rates = rates
        self._feed = ChartFeed()
        self._hues = HueFeed()
        self._levels = Levels()
        self._looks = 0
        panel.filterChanged.connect(rates.set_filter)
        rates.filter_judged.connect(panel.set_filter_problem)
        panel.set_filter_help(help_rows(rates.fields))

    def follow(self, feed: ChartFeed, hues: HueFeed) -> None:
        """`feed` and `hues` hear of the session that is shown from now on."""
        self._feed, self._hues = feed, hues

    def restart(self) -> None:
        """Another session begins: nothing of the last one is drawn."""
        self._levels = Levels()
        self._rates.restart()

    def load(self, keyframes: Iterable[Snapshot]) -> None:
        """The levels of a session that was recorded, oldest first."""
        self._levels = Levels()
        for snapshot in keyframes:
            self._levels.meet(snapshot)

    def meet(self, snapshot: Snapshot) -> None:
        """Levels are remembered whether the charts are seen or not."""
        self._levels.meet(snapshot)
        self._rates.meet(snapshot)

    def show(self, snapshot: Snapshot) -> None:
        """The rates at every look, the curves at every third."""
        self._rates.set_snapshot(snapshot)
        if self._looks % EVERY_LOOKS == 0 or not self._charts.charts():
            bin_ns, bins = self._feed.copy()
            self._charts.set_charts(
                self._facts(bin_ns, bins), s_from_ns(max(snapshot.time_ns, self._end_ns(bin_ns, bins)))
            )
        self._looks += 1

    def _end_ns(self, bin_ns: int, bins: list[Bin]) -> int:
        last_ns = self._levels.times_ns[-1] if self._levels.times_ns else 0
        return max(last_ns, (len(bins) - 1) * bin_ns)

    def _facts(self, bin_ns: int, bins: list[Bin]) -> tuple[ChartFacts, ...]:
        if not bins and not self._levels.times_ns:
            return ()
        times_s = (np.arange(len(bins), dtype=np.float64) + 0.5) * bin_ns / NS_PER_S
        per_s = NS_PER_S / bin_ns
        published = [one.published for one in bins]
        sizes = [{name: count / KIB for name, count in one.bytes.items()} for one in bins]
        delivered = [one.delivered for one in bins]
        charts = [
            ChartFacts("published", tr("Published"), tr("messages/s"), self._sums(published, times_s, per_s)),
            ChartFacts("bytes", tr("Published"), tr("KiB/s"), self._sums(sizes, times_s, per_s)),
            ChartFacts("delivered", tr("Delivered"), tr("messages/s"), self._sums(delivered, times_s, per_s)),
            ChartFacts("latency", tr("Publish to delivery"), tr("ms"), _percentiles(bins, times_s), logarithmic=True),
            ChartFacts("lag", tr("Consumer lag"), tr("messages"), self._levels.curves("lag", self._hues.flows.of)),
            ChartFacts("depth", tr("Queue depth"), tr("messages"), self._levels.curves("depth", self._hues.flows.of)),
            ChartFacts(
                "blocked", tr("Blocked producers"), tr("on average"), self._levels.curves("blocked", lambda _name: 0)
            ),
        ]
        return tuple(chart for chart in charts if chart.curves)

    def _sums(
        self, bins: list[dict[str, int]] | list[dict[str, float]], times_s: Values, per_s: float
    ) -> tuple[Curve, ...]:
        names = sorted({name for one in bins for name in one})
        # The newest bin is not over: drawn, it would always fall.
        return tuple(
            Curve(
                name,
                self._hues.flows.of(name),
                times_s[:-1],
                np.array([one.get(name, 0) * per_s for one in bins[:-1]], dtype=np.float64),
            )
            for name in names
        )


def _percentiles(bins: list[Bin], times_s: Values) -> tuple[Curve, ...]:
    if not any(one.latencies for one in bins):
        return ()
    curves = []
    for hue, (share, name) in enumerate(PERCENTILES):
        found = [percentile_ns(one.latencies, share) for one in bins]
        values = [np.nan if ns is None else ns / NS_PER_MS for ns in found]
        curves.append(Curve(name, hue, times_s, np.array(values, dtype=np.float64)))
    return tuple(curves)
