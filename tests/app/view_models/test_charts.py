"""Charts: bins that lose nothing, percentiles within a bucket, levels thinned, rates and the slowest named."""

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt

from app.view_models.block_chains import _slowest_worker
from app.view_models.chart_feed import BINS_MAX, ChartFeed, bucket_of, latency_ns_of, percentile_ns
from app.view_models.charts import SAMPLES_MAX, ChartsFeed, Levels
from app.view_models.hue_feed import HueFeed
from app.view_models.rate_table import RateTable
from broker_core.clock import NS_PER_MS, NS_PER_S
from broker_core.events import Event, EventKind
from broker_core.snapshots import ActorView, GroupView, OffsetView, PartitionView, Snapshot, TopicView
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


@given(st.lists(st.tuples(st.integers(0, 10**13), st.integers(1, 1000)), max_size=60))
def test_however_long_the_session_no_message_is_lost_from_the_bins(runs):
    feed = ChartFeed()
    for time_ns, count in sorted(runs):
        feed(published(time_ns, count=count))
    bin_ns, bins = feed.copy()
    assert sum(one.published.get("orders", 0) for one in bins) == sum(count for _, count in runs)
    assert len(bins) <= BINS_MAX
    for at, one in enumerate(bins):
        inside = sum(count for time_ns, count in runs if time_ns // bin_ns == at)
        assert one.published.get("orders", 0) == inside


@given(st.integers(1_000, 10**12))
def test_a_latency_is_known_to_within_its_bucket(latency_ns):
    assert latency_ns_of(bucket_of(latency_ns)) == pytest.approx(latency_ns, rel=0.045)


def test_percentiles_are_those_of_the_first_deliveries_only():
    feed = ChartFeed()
    for latency_ms in range(1, 101):
        feed(delivered(NS_PER_S, latency_ms * NS_PER_MS))
    feed(delivered(NS_PER_S, 3_600 * NS_PER_S, attempt=2))
    latencies = feed.copy()[1][1].latencies
    assert percentile_ns(latencies, 0.5) == pytest.approx(50 * NS_PER_MS, rel=0.05)
    assert percentile_ns(latencies, 0.99) == pytest.approx(99 * NS_PER_MS, rel=0.05)
    assert percentile_ns({}, 0.5) is None


def looked_at(time_ns: int, *, lag: int = 0, published: int = 0, processed: int = 0) -> Snapshot:
    def offset(partition, owner, behind):
        return OffsetView("orders", partition, owner, 0, 0, behind, behind, behind * NS_PER_MS)

    group = GroupView("g", "Stable", 1, "range", "", ("orders",), (), (offset(0, "a", lag), offset(1, "b", 2 * lag)), 0)
    topic = TopicView("orders", (PartitionView(0, 0, published, 0),), published, published * 100, None)
    actors = tuple(
        ActorView(name, "consumer", "running", "g", ("orders",), processed, 0, 0.0, 0) for name in ("a", "b")
    )
    return Snapshot(time_ns, 0, (topic,), (group,), (), actors)


def test_levels_stay_bounded_and_a_look_back_adds_nothing():
    levels = Levels()
    for second in range(SAMPLES_MAX * 3):
        levels.meet(looked_at(second * NS_PER_S, lag=second))
    assert len(levels.times_ns) <= SAMPLES_MAX
    before = list(levels.times_ns)
    levels.meet(looked_at(5 * NS_PER_S, lag=1))
    assert levels.times_ns == before
    (curve,) = levels.curves("lag", HueFeed().flows.of)
    assert np.array_equal(curve.values, 3 * curve.times_s)


def test_the_rates_are_of_the_last_second_and_the_furthest_behind_is_the_slowest(qapp):
    table = RateTable()
    for second in range(3):
        table.meet(looked_at(second * NS_PER_S, lag=4, published=50 * second, processed=20 * second))
    table.set_snapshot(looked_at(3 * NS_PER_S, lag=4, published=150, processed=60))
    rows = {row.name: row for row in table.rows}
    assert rows["orders"].per_s == pytest.approx(50)
    assert rows["orders"].bytes_per_s == pytest.approx(5_000)
    assert (rows["b"].slowest, rows["b"].behind, rows["a"].slowest) == (True, 8, False)


def test_nobody_is_slowest_while_nothing_waits(qapp):
    table = RateTable()
    table.set_snapshot(looked_at(NS_PER_S, lag=0))
    assert not any(row.slowest for row in table.rows)


def test_the_panel_is_empty_then_draws_a_curve_a_topic(qtbot, qapp):
    panel = ChartsPanel(table := RateTable())
    qtbot.addWidget(panel)
    panel.resize(1200, 300)
    panel.show()
    feed, charts = ChartFeed(), ChartsFeed("charts", panel, table)
    charts.follow(feed, HueFeed())
    charts.show(Snapshot(0, 0))
    assert panel.charts() == {}
    assert panel.empty_state.isVisible()
    for second in range(5):
        feed(published(second * NS_PER_S, count=10))
        feed(published(second * NS_PER_S, topic="<b>mails</b>", count=20))
        charts.meet(looked_at(second * NS_PER_S, lag=second))
    charts.show(looked_at(5 * NS_PER_S, lag=1))
    shown = panel.charts()
    assert list(shown) == ["published", "bytes", "lag"]
    facts = shown["published"].facts
    assert facts is not None
    curves = facts.curves
    assert [(curve.name, curve.values[0]) for curve in curves] == [("<b>mails</b>", 20.0), ("orders", 10.0)]
    assert "&lt;b&gt;mails" in shown["published"]._legend.text(), "names are data, never markup"


def test_a_double_click_into_a_chart_chooses_its_moment(qtbot, qapp):
    panel = ChartsPanel(table := RateTable())
    qtbot.addWidget(panel)
    panel.resize(900, 300)
    panel.show()
    feed, charts = ChartFeed(), ChartsFeed("charts", panel, table)
    charts.follow(feed, HueFeed())
    for second in range(11):
        feed(published(second * NS_PER_S))
    charts.show(looked_at(10 * NS_PER_S))
    qtbot.waitExposed(panel)
    (chart, *_rest) = panel.charts().values()
    plot = chart._plot
    middle = plot.mapFromScene(plot.getPlotItem().vb.sceneBoundingRect().center())
    with qtbot.waitSignal(panel.momentChosen, timeout=2_000) as told:
        qtbot.mouseDClick(plot.viewport(), Qt.MouseButton.LeftButton, pos=middle)
    assert told.args[0] == pytest.approx(5.0, abs=0.3)


def test_who_has_kept_nothing_waiting_yet_is_not_the_slowest(qapp):
    table = RateTable()
    at_first = looked_at(0, lag=4)
    offsets = tuple(msgspec.structs.replace(one, lag_ns=0) for one in at_first.groups[0].offsets)
    group = msgspec.structs.replace(at_first.groups[0], offsets=offsets)
    table.set_snapshot(msgspec.structs.replace(at_first, groups=(group,)))
    assert not any(row.slowest for row in table.rows)


def test_a_worker_that_has_just_begun_blocks_nobody():
    worker = ActorView("w", "worker", "processing", "jobs", (), 0, 0, 0.0, 0)
    assert _slowest_worker(Snapshot(0, 0, (), (), (), (worker,)), "jobs") is None
    assert _slowest_worker(Snapshot(NS_PER_S, 0, (), (), (), (worker,)), "jobs") == worker
    crashed = msgspec.structs.replace(worker, state="crashed")
    assert _slowest_worker(Snapshot(0, 0, (), (), (), (crashed,)), "jobs") == crashed
