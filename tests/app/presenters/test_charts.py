"""Charts: percentiles within a bucket, curves that say what every other place says, and the slowest named."""

from collections import Counter

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt

from app.presenters.backpressure import _slowest_worker
from app.presenters.charts import POINTS_MAX, ChartsPresenter, RateTable
from app.presenters.owners import Owners
from app.presenters.panel_presenter import Sources
from app.sessions.collectors.latency import BINS_MAX, LatencyCollector, bucket_of, latency_ns_of, percentile_ns
from app.sessions.history.past import History
from app.sessions.history.series import SessionSeries
from app.sessions.history.series import published as key_of
from app.sessions.session_controller import SessionController
from broker_core.clock import NS_PER_MS, NS_PER_S
from broker_core.events import Event, EventKind
from broker_core.snapshots import ActorView, GroupView, OffsetView, PartitionView, Snapshot, TopicView
from widgets.formats import Times
from widgets.panels.charts import ChartsPanel


def published(time_ns: int, topic: str = "orders", count: int = 1) -> Event:
    return Event(
        0, time_ns, EventKind.PUBLISHED, topic=topic, partition=0, offset=0, count=count, size_bytes=100 * count
    )


def delivered(time_ns: int, latency_ns: int, attempt: int = 1) -> Event:
    return Event(
        0,
        time_ns,
        EventKind.DELIVERED,
        topic="orders",
        group="g",
        count=1,
        attempt=attempt,
        published_ns=time_ns - latency_ns,
    )


@given(st.lists(st.tuples(st.integers(0, 10**13), st.integers(1, 10**9)), max_size=60))
def test_however_long_the_session_no_latency_is_lost_from_the_bins(runs):
    feed = LatencyCollector()
    for time_ns, latency_ns in sorted(runs):
        feed(delivered(time_ns, latency_ns))
    bin_ns, bins = feed.copy()
    assert len(bins) <= BINS_MAX
    for at, one in enumerate(bins):
        assert sum(one.values()) == sum(1 for time_ns, _latency in runs if time_ns // bin_ns == at)
    assert sum(sum(one.values()) for one in bins) == len(runs)


@given(st.integers(1_000, 10**12))
def test_a_latency_is_known_to_within_its_bucket(latency_ns):
    assert latency_ns_of(bucket_of(latency_ns)) == pytest.approx(latency_ns, rel=0.045)


def test_percentiles_are_those_of_the_first_deliveries_only():
    feed = LatencyCollector()
    for latency_ms in range(1, 101):
        feed(delivered(NS_PER_S, latency_ms * NS_PER_MS))
    feed(delivered(NS_PER_S, 3_600 * NS_PER_S, attempt=2))
    latencies = feed.copy()[1][1]
    assert percentile_ns(latencies, 0.5) == pytest.approx(50 * NS_PER_MS, rel=0.05)
    assert percentile_ns(latencies, 0.99) == pytest.approx(99 * NS_PER_MS, rel=0.05)
    assert percentile_ns(Counter(), 0.5) is None


def looked_at(time_ns: int, *, lag: int = 0, published: int = 0, processed: int = 0) -> Snapshot:
    def offset(partition, owner, behind):
        return OffsetView("orders", partition, owner, 0, 0, behind, behind, behind * NS_PER_MS)

    group = GroupView("g", "Stable", 1, "range", "", ("orders",), (), (offset(0, "a", lag), offset(1, "b", 2 * lag)), 0)
    topic = TopicView("orders", (PartitionView(0, 0, published, 0),), published, published * 100, None)
    actors = tuple(ActorView(name, "consumer", "running", "g", ("orders",), processed, 0, 0) for name in ("a", "b"))
    return Snapshot(time_ns, 0, (topic,), (group,), (), actors)


def test_a_curve_is_the_rate_of_every_moment_and_stays_bounded(qtbot, qapp):
    panel, charts, series = shown_charts(qtbot)
    for second in range(900):
        series(published(second * NS_PER_S, count=1 + second % 3))
    charts.show(looked_at(900 * NS_PER_S))
    facts = panel.charts()["published"].facts
    assert facts is not None
    (curve,) = facts.curves
    assert len(curve.times_s) <= POINTS_MAX + 1
    for time_s, per_s in zip(curve.times_s, curve.values, strict=True):
        assert per_s == series.rate(key_of("orders"), round(time_s * NS_PER_S))


def test_the_rates_are_those_of_the_moment_and_the_furthest_behind_is_the_slowest(qapp):
    table = RateTable(series := SessionSeries())
    for second in range(3):
        series(published(second * NS_PER_S, count=50))
    table.set_snapshot(looked_at(3 * NS_PER_S, lag=4, published=150, processed=60))
    rows = {row.name: row for row in table.rows}
    assert rows["orders"].per_s == pytest.approx(50)
    assert rows["orders"].bytes_per_s == pytest.approx(5_000)
    assert (rows["b"].slowest, rows["b"].behind, rows["a"].slowest) == (True, 8, False)


def test_nobody_is_slowest_while_nothing_waits(qapp):
    table = RateTable(SessionSeries())
    table.set_snapshot(looked_at(NS_PER_S, lag=0))
    assert not any(row.slowest for row in table.rows)


def shown_charts(qtbot) -> tuple[ChartsPanel, ChartsPresenter, SessionSeries]:
    controller = SessionController(record=False)
    sources = Sources(controller, History(), Owners(), Times())
    charts = ChartsPresenter(sources)
    panel = charts.panel
    qtbot.addWidget(panel)
    panel.resize(1200, 300)
    panel.show()
    return panel, charts, controller.collectors.series


def test_the_panel_is_empty_then_draws_a_curve_a_topic(qtbot, qapp):
    panel, charts, series = shown_charts(qtbot)
    charts.show(Snapshot(0, 0))
    assert panel.charts() == {}
    assert panel.empty_state.isVisible()
    series(Event(0, 0, EventKind.TOPIC_CREATED, topic="orders", count=1))
    for second in range(5):
        series(published(second * NS_PER_S, count=10))
        series(published(second * NS_PER_S, topic="<b>mails</b>", count=20))
        if not second:
            acknowledged = Event(
                0, 0, EventKind.ACKNOWLEDGED, topic="orders", partition=0, offset=0, count=1, group="g"
            )
            series(acknowledged)
    charts.show(looked_at(5 * NS_PER_S, lag=1))
    shown = panel.charts()
    assert list(shown) == ["published", "bytes", "lag"]
    facts = shown["published"].facts
    assert facts is not None
    curves = facts.curves
    assert [(curve.name, curve.values[-1]) for curve in curves] == [("<b>mails</b>", 20.0), ("orders", 10.0)]
    assert "&lt;b&gt;mails" in shown["published"]._legend.text(), "names are data, never markup"


def test_a_double_click_into_a_chart_chooses_its_moment(qtbot, qapp):
    panel, charts, series = shown_charts(qtbot)
    for second in range(11):
        series(published(second * NS_PER_S))
    charts.show(looked_at(10 * NS_PER_S))
    qtbot.waitExposed(panel)
    (chart, *_rest) = panel.charts().values()
    plot = chart._plot
    middle = plot.mapFromScene(plot.getPlotItem().vb.sceneBoundingRect().center())
    with qtbot.waitSignal(panel.momentChosen, timeout=2_000) as told:
        qtbot.mouseDClick(plot.viewport(), Qt.MouseButton.LeftButton, pos=middle)
    assert told.args[0] == pytest.approx(5.0, abs=0.3)


def test_who_has_kept_nothing_waiting_yet_is_not_the_slowest(qapp):
    table = RateTable(SessionSeries())
    at_first = looked_at(0, lag=4)
    offsets = tuple(msgspec.structs.replace(one, lag_ns=0) for one in at_first.groups[0].offsets)
    group = msgspec.structs.replace(at_first.groups[0], offsets=offsets)
    table.set_snapshot(msgspec.structs.replace(at_first, groups=(group,)))
    assert not any(row.slowest for row in table.rows)


def test_a_worker_that_has_just_begun_blocks_nobody():
    worker = ActorView("w", "worker", "processing", "jobs", (), 0, 0, 0)
    assert _slowest_worker(Snapshot(0, 0, (), (), (), (worker,)), "jobs", SessionSeries()) is None
    assert _slowest_worker(Snapshot(NS_PER_S, 0, (), (), (), (worker,)), "jobs", SessionSeries()) == worker
    crashed = msgspec.structs.replace(worker, state="crashed")
    assert _slowest_worker(Snapshot(0, 0, (), (), (), (crashed,)), "jobs", SessionSeries()) == crashed
