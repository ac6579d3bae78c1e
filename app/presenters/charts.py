from __future__ import annotations

from typing import NamedTuple

import numpy as np

from app.presenters.clients import Client, producers, readers
from app.presenters.columns import Column, number_column
from app.presenters.panel_presenter import PanelPresenter, Sources
from app.presenters.table import TableModel
from app.sessions.collectors.collectors import Collectors
from app.sessions.collectors.latency import Bin, percentile_ns
from app.sessions.history.series import BLOCKED, WINDOW_NS, SessionSeries, published, stored_bytes
from broker_core.clock import NS_PER_MS, NS_PER_S, s_from_ns
from broker_core.snapshots import Snapshot, counts_removed, total_lag
from resources.units import KIB
from widgets.formats import at_most, byte_rate, count, duration, per_second
from widgets.i18n import tr
from widgets.panels.charts import ChartsPanel
from widgets.panels.curves import ChartFacts, Curve
from widgets.roles import Role


class RateRow(NamedTuple):
    """One line. `behind` is how many messages wait for it, `behind_ns` for how long the oldest has; None for "n/a"."""

    kind: str
    name: str
    state: str
    per_s: float
    bytes_per_s: float | None = None
    behind: int | None = None
    behind_ns: int | None = None
    is_at_most: bool = False
    slowest: bool = False


def _behind(row: RateRow) -> str:
    if row.behind is None:
        return ""
    behind = at_most(count(row.behind), row.is_at_most)
    return tr("{count}, oldest {age}", count=behind, age=duration(row.behind_ns)) if row.behind_ns else behind


class RateTable(TableModel[RateRow]):
    def __init__(self, series: SessionSeries) -> None:
        self.series = series
        columns: tuple[Column[RateRow], ...] = (
            Column("Name", lambda row: row.name, (100, 3)),
            Column("Kind", lambda row: tr(row.kind), (84, 1, 3)),
            number_column(
                "Messages/s",
                lambda row: row.per_s,
                (84,),
                shown=per_second,
                about="Messages published to a topic, published by a producer, acknowledged by a consumer, or "
                "delivered to a worker: the mean over 2 s, or between the last two commits.",
            ),
            number_column("Bytes/s", lambda row: row.bytes_per_s, (76, 0, 1), shown=byte_rate, absent=""),
            Column(
                "Behind",
                _behind,
                (132, 1),
                "number",
                sort=lambda row: (row.behind_ns or 0, row.behind or 0),
                about="Messages waiting for this consumer, and how long the oldest has waited.",
            ),
            Column(
                "State",
                lambda row: tr("slowest") if row.slowest else row.state,
                (122, 1, 2),
                roles={Role.WARN: lambda row: "lag_up" if row.slowest else ""},
                about="The consumer whose oldest message has waited longest is the slowest.",
            ),
        )
        super().__init__(columns, key=lambda row: (row.kind, row.name))

    def set_snapshot(self, snapshot: Snapshot) -> None:
        rows = [self._topic(topic.name, snapshot.time_ns) for topic in snapshot.topics]
        rows += [self._client(snapshot, each) for each in producers(snapshot, self.series)]
        reading = [self._client(snapshot, each) for each in readers(snapshot, self.series)]
        reading.sort(key=lambda row: (-(row.behind_ns or 0), -(row.behind or 0), row.name))
        # A client with its first message has delayed nothing yet.
        if reading and reading[0].behind and reading[0].behind_ns:
            reading[0] = reading[0]._replace(slowest=True)
        self.set_rows(tuple(rows + reading))

    def _topic(self, name: str, now_ns: int) -> RateRow:
        per_s, bytes_per_s = (self.series.rate(key, now_ns) for key in (published(name), stored_bytes(name)))
        return RateRow("topic", name, "", per_s, bytes_per_s)

    def _client(self, snapshot: Snapshot, client: Client) -> RateRow:
        per_s = self.series.rate(client.rate, snapshot.time_ns)
        return RateRow(client.kind, client.name, client.state, per_s, None, *_behind_of(snapshot, client))


def _behind_of(snapshot: Snapshot, client: Client) -> tuple[int | None, int | None, bool]:
    """How many messages wait for a client, how long the oldest has waited, in ns, and whether compaction may have
    removed some; None if nothing can be said.
    """
    if client.kind == "producer":
        return None, None, False
    groups = [found for name in client.targets if (found := snapshot.group(name))]
    if groups:
        owned = [one for group in groups for one in group.offsets if one.owner == client.name]
        lag, is_at_most = total_lag(one.lag for one in owned), counts_removed(owned, snapshot.compacted)
        return lag, None if lag is None else max(one.lag_ns or 0 for one in owned), is_at_most
    queue = snapshot.queue(client.target)
    if queue is None:
        return None, None, False
    held = [lease for lease in queue.leases if lease.holder == client.name]
    return len(held), max((snapshot.time_ns - lease.acquired_ns for lease in held), default=None), False


POINTS_MAX = 600
# Curves are drawn a few times a second at most: they cost more than all other panels together.
EVERY_LOOKS = 3


class ChartsPresenter(PanelPresenter[ChartsPanel]):
    panel_class = ChartsPanel

    def __init__(self, sources: Sources) -> None:
        self.model = RateTable(sources.series)
        super().__init__(sources, self.model)
        self._looks = 0

    def show(self, snapshot: Snapshot) -> None:
        self.model.series = self._controller.collectors.series
        self.model.set_snapshot(snapshot)
        if self._looks % EVERY_LOOKS == 0 or not self.panel.charts():
            end_ns = max(snapshot.time_ns, self._controller.source.end_ns)
            self.panel.set_charts(chart_facts(self._controller.collectors, end_ns), s_from_ns(end_ns))
        self._looks += 1


def chart_facts(collectors: Collectors, end_ns: int) -> tuple[ChartFacts, ...]:
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
    about = tr("Each point is the mean of the preceding {time}.", time=over)
    latencies = _percentiles(*collectors.latencies.copy())
    blocked = np.array(series.rates(BLOCKED, lines, step), dtype=np.float64) / NS_PER_S
    held_back = (Curve(tr("producers"), 0, times_s, blocked),) if np.nansum(blocked) else ()
    known = collectors.deliveries  # else sizes are not known, either, and who reads is seen to commit
    handed = tr("Delivered") if known else tr("Committed")
    charts = [
        ChartFacts("published", tr("Published"), tr("messages/s"), rates("published"), about=about),
        ChartFacts("bytes", tr("Published"), tr("KiB/s"), rates("bytes", 1 / KIB) if known else (), about=about),
        ChartFacts("delivered", handed, tr("messages/s"), rates("delivered"), about=about),
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
    for hue, (share, name) in enumerate(((0.5, "p50"), (0.9, "p90"), (0.99, "p99"))):
        found = [percentile_ns(one, share) for one in bins]
        values = [np.nan if ns is None else ns / NS_PER_MS for ns in found]
        curves.append(Curve(name, hue, times_s, np.array(values, dtype=np.float64)))
    return tuple(curves)
