"""The timeline's feed: exact at any speed, small however long the session."""

from __future__ import annotations

from typing import Any

from app.presenters.timeline import SAMPLES_MAX, TimelineModel
from app.sessions.collectors.timeline import SPANS_MAX, TICKS_MAX, TimelineCollector
from app.sessions.history.series import ALL_PUBLISHED, SessionSeries
from broker_core.clock import NS_PER_S
from broker_core.events import Event, EventKind, EventStream
from broker_core.snapshots import Snapshot
from widgets.formats import duration

K = EventKind


def fed(*events: tuple[float, EventKind, dict[str, Any]]) -> TimelineCollector:
    feed, stream = TimelineCollector(), EventStream()
    stream.attach(feed)
    for second, kind, fields in events:
        stream.emit(round(second * NS_PER_S), kind, **fields)
    return feed


def test_rate_bands_and_ticks_are_gathered() -> None:
    feed = fed(
        (1.2, K.DEAD_LETTERED, {"count": 2}),
        (1.3, K.PRODUCER_BLOCKED, {"client": "shop", "topic": "orders"}),
        (1.4, K.USER_ACTION, {"cause": "moved a to b"}),
        (1.0, K.REBALANCE_STARTED, {"group": "g", "cause": "a joined"}),
    )
    model = TimelineModel(series := SessionSeries())
    for at_ns, count in ((NS_PER_S // 10, 5), (NS_PER_S // 5, 5), (NS_PER_S, 3)):
        series(Event(0, at_ns, K.PUBLISHED, topic="orders", count=count))
    model.attach(feed)
    facts = model.update(Snapshot(2 * NS_PER_S, 7))
    assert facts.samples[:2] == ((0, 0.0), (NS_PER_S // 4, 40.0))
    assert facts.samples[-1] == (2 * NS_PER_S, 6.5) == (2 * NS_PER_S, series.rate(ALL_PUBLISHED, 2 * NS_PER_S))
    assert facts.peak_per_s == 40
    assert [(tick.kind, tick.label) for tick in facts.ticks] == [
        ("dead letter", "2 dead-lettered"),
        ("action", "moved a to b"),
    ]
    assert [(band.lane, band.label) for band in facts.bands] == [
        ("rebalances", "g rebalances, 1.0 s: a joined"),
        ("backpressure", "shop blocked by orders, 700 ms"),
    ]


def test_what_is_blocked_many_times_is_told_with_the_sum_of_the_times() -> None:
    events = [
        (at / 10 + end / 20, kind, {"client": "shop", "topic": "orders"})
        for at in range(10 * SPANS_MAX)
        for end, kind in enumerate((K.PRODUCER_BLOCKED, K.PRODUCER_UNBLOCKED))
    ]
    bands = fed(*events).bands(round(events[-1][0] * NS_PER_S))
    assert len(bands) <= SPANS_MAX
    band = max(bands, key=lambda one: (one.end_ns or 0) - one.start_ns)
    times = round(((band.end_ns or 0) - band.start_ns + NS_PER_S // 20) / (NS_PER_S // 10))
    assert band.label == f"Producers were blocked {times:,} times, {duration(times * NS_PER_S // 20)} in all"


def test_many_that_are_open_at_once_do_not_join_what_is_far_apart_later() -> None:
    blocked = [(1 + at / 1000, K.PRODUCER_BLOCKED, {"client": f"shop-{at}", "topic": "t"}) for at in range(350)]
    ended = [(2 + at / 1000, K.PRODUCER_UNBLOCKED, {"client": f"shop-{at}", "topic": "t"}) for at in range(350)]
    later = [
        (second, kind, {"client": "shop", "topic": "t"})
        for second in (10, 20)
        for kind in (K.PRODUCER_BLOCKED, K.PRODUCER_UNBLOCKED)
    ]
    bands = fed(*blocked, *ended, *later).bands(30 * NS_PER_S)
    assert [band.start_ns // NS_PER_S for band in bands[-2:]] == [10, 20]


def test_the_highest_rate_never_falls_however_long_the_session_becomes() -> None:
    model = TimelineModel(series := SessionSeries())
    model.attach(fed())
    series(Event(0, NS_PER_S, K.PUBLISHED, topic="orders", count=400))
    peaks = [model.update(Snapshot(seconds * NS_PER_S, 1)).peak_per_s for seconds in (3, 60, 600, 3_600)]
    assert peaks == [320] * 4
    assert max(per_s for _ns, per_s in model.update(Snapshot(3_600 * NS_PER_S, 1)).samples) < 320
    model.attach(fed())
    assert model._peak_line == 0


def test_a_look_back_shows_the_whole_session_and_where_one_is() -> None:
    model = TimelineModel(SessionSeries())
    model.attach(fed((0.1, K.PUBLISHED, {"count": 5}), (8.0, K.PUBLISHED, {"count": 1})))
    model.bookmarks = [(3 * NS_PER_S, "here")]
    model.set_bounds(9 * NS_PER_S, looking_back=True)
    facts = model.update(Snapshot(2 * NS_PER_S, 7))
    assert (facts.now_ns, facts.head_ns) == (9 * NS_PER_S, 2 * NS_PER_S)
    assert [(tick.kind, tick.label) for tick in facts.ticks] == [("bookmark", "here")]
    model.set_bounds(9 * NS_PER_S, looking_back=False)
    assert model.update(Snapshot(9 * NS_PER_S, 7)).head_ns is None


def test_what_lasts_is_put_together_when_there_is_too_much_of_it() -> None:
    blocked = [
        (second + part, kind, {"client": "shop", "topic": "t"})
        for second in range(5_000)
        for part, kind in ((0.0, K.PRODUCER_BLOCKED), (0.5, K.PRODUCER_UNBLOCKED))
    ]
    bands = fed(*blocked).bands(5_000 * NS_PER_S)
    assert len(bands) <= SPANS_MAX + 1
    assert bands[0].start_ns == 0 and bands[-1].end_ns == round(4_999.5 * NS_PER_S)
    assert "times" in bands[0].label


def test_it_stays_small_and_keeps_the_beginning_however_long_the_session() -> None:
    feed = fed(*((second, K.DEAD_LETTERED, {"topic": "shop", "count": 1}) for second in range(20_000)))
    ticks = feed.ticks()
    assert len(ticks) <= TICKS_MAX
    assert ticks[0].time_ns == 0 and sum("dead-lettered" in tick.label for tick in ticks) == len(ticks)
    model = TimelineModel(series := SessionSeries())
    for second in range(5_000):
        series(Event(0, second * 10 * NS_PER_S, K.PUBLISHED, topic="t", count=60))
    samples = model.update(Snapshot(50_000 * NS_PER_S, 5_000)).samples
    assert len(samples) <= SAMPLES_MAX + 1
    assert all(abs(per_s - 6) < 1 for _ns, per_s in samples[1:]), "nothing between two samples is left out"


def test_what_a_user_did_is_never_put_together_with_something_else() -> None:
    blocked = [(at / 10, K.DEAD_LETTERED, {"topic": "shop", "count": 1}) for at in range(3_000)]
    acted = [(300 + at / 1000, K.USER_ACTION, {"cause": f"action {at}"}) for at in range(20)]
    labels = [tick.label for tick in fed(*blocked, *acted).ticks() if tick.kind == "action"]
    assert labels == [f"action {at}" for at in range(20)]
