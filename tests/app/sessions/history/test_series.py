"""Rates and levels: a moment has one figure, whoever asks and whenever, and it is the plain count of the events."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import resources
from app.presenters.clients import other_producers
from app.sessions.history.lag_trend import lag_trend
from app.sessions.history.series import (
    ALL_PUBLISHED,
    BLOCKED,
    GRID_NS,
    STEPS_MAX,
    WINDOW_NS,
    SessionSeries,
    acknowledged,
    dead,
    delivered,
    depth,
    lag,
    published,
    sent,
    stored_bytes,
)
from broker_core.clock import NS_PER_MS, NS_PER_S
from broker_core.events import Event, EventKind, EventStream
from broker_core.simulation import Simulation, load_scenario
from broker_core.snapshots import Snapshot

K = EventKind
RUNS = st.lists(st.tuples(st.integers(0, 20 * NS_PER_S), st.integers(1, 50)), max_size=60)


def publish(stream: EventStream, time_ns: int, count: int = 1, topic: str = "orders") -> None:
    stream.emit(time_ns, K.PUBLISHED, topic=topic, client="shop", count=count, size_bytes=10 * count)


def plain_rate(runs: list[tuple[int, int]], time_ns: int) -> float:
    end_ns = time_ns // GRID_NS * GRID_NS
    start_ns = max(0, end_ns - WINDOW_NS)
    counted = sum(count for at_ns, count in runs if start_ns <= at_ns < end_ns)
    return counted * NS_PER_S / (end_ns - start_ns) if end_ns else 0.0


@given(RUNS, st.lists(st.integers(0, 21 * NS_PER_S), max_size=20))
def test_a_rate_is_the_plain_count_of_its_window_live_and_from_later(runs, looks):
    series, stream = SessionSeries(), EventStream()
    stream.attach(series)
    runs = sorted(runs)
    live: dict[int, float] = {}
    todo = list(runs)
    for look_ns in sorted(looks):
        while todo and todo[0][0] <= look_ns:
            publish(stream, *todo.pop(0))
        live[look_ns] = series.rate(published("orders"), look_ns)
        assert series.rate(stored_bytes("orders"), look_ns) == pytest.approx(10 * live[look_ns])
    for run in todo:
        publish(stream, *run)
    for look_ns in looks:  # in any order, with all that came later
        assert series.rate(published("orders"), look_ns) == live[look_ns] == series.rate(ALL_PUBLISHED, look_ns)
        assert live[look_ns] == pytest.approx(plain_rate(runs, look_ns))


def acknowledge(stream: EventStream, time_ns: int, count: int, client: str = "pod-1") -> None:
    place = {"topic": "orders", "partition": 0, "offset": 0, "group": "billing"}
    stream.emit(time_ns, K.ACKNOWLEDGED, count=count, client=client, **place)


def commits(times_ns: Iterable[int], count: int = 20) -> SessionSeries:
    series, stream = SessionSeries(), EventStream()
    stream.attach(series)
    for time_ns in times_ns:
        acknowledge(stream, time_ns, count)
    return series


def test_who_commits_every_five_seconds_has_its_rate_in_between_too() -> None:
    series = commits(range(NS_PER_S, 22 * NS_PER_S, 5 * NS_PER_S))
    shown = {series.rate(acknowledged("pod-1"), at * GRID_NS) for at in range(4 * 7, 4 * 26)}
    assert shown == {4.0}
    start_ns, end_ns = series.window_ns(23 * NS_PER_S, acknowledged("pod-1"))
    assert end_ns - start_ns == 5 * NS_PER_S, "the figure says over which time it is"
    assert series.rate(acknowledged("pod-1"), 30 * NS_PER_S) == 0, "it has stopped"


def test_who_commits_often_has_the_mean_of_the_window_also_after_a_pause() -> None:
    series = commits([at * GRID_NS for at in (*range(40), *range(100, 140))], count=1)
    assert series.rate(acknowledged("pod-1"), 9 * NS_PER_S) == 4
    assert series.rate(acknowledged("pod-1"), 12 * NS_PER_S) == 0
    assert series.rate(acknowledged("pod-1"), 26 * NS_PER_S) == 2, "half of the window"
    assert series.rate(acknowledged("pod-1"), 28 * NS_PER_S) == 4


def test_two_members_that_commit_in_turn_are_one_flow_where_only_commits_are_seen() -> None:
    series, stream = SessionSeries(deliveries=False), EventStream()
    stream.attach(series)
    for second in range(1, 30, 5):
        for late_ns, client in ((0, "pod-1"), (3 * GRID_NS, "pod-2")):
            acknowledge(stream, second * NS_PER_S + late_ns, 20, client)
    shown = [series.rate(delivered("billing"), at * GRID_NS) for at in range(4 * 7, 4 * 26)]
    assert min(shown) > 4 and max(shown) <= 8 and shown.count(8.0) > len(shown) / 2


@pytest.mark.parametrize(("share", "words"), [(1.0, {"steady"}), (0.4, {"rising"})])
@pytest.mark.parametrize("every", [20, 40, 120])
def test_the_lag_of_who_commits_seldom_rises_only_if_it_does_not_keep_up(
    every: int, share: float, words: set[str]
) -> None:
    series, stream, shown = SessionSeries(), EventStream(), set()
    stream.attach(series)
    reader: dict[str, Any] = {"group": "billing", "client": "pod-1"}
    stream.emit(0, K.TOPIC_CREATED, topic="orders", count=1)
    partitions = [["orders", 0]]
    stream.emit(0, K.PARTITIONS_ASSIGNED, generation=1, detail={"member_id": "m", "partitions": partitions}, **reader)
    done, each = 0, int(5 * every * share)
    for tick in range(6 * every):
        stream.emit(tick * GRID_NS, K.PUBLISHED, topic="orders", partition=0, offset=5 * tick, count=5, client="shop")
        if tick % every == every - 1:
            place: dict[str, Any] = {"topic": "orders", "partition": 0, "offset": done, "count": each}
            stream.emit(tick * GRID_NS + 1, K.ACKNOWLEDGED, **place, **reader)
            done += each
        if tick > 4 * every:
            shown.add(lag_trend(series, tick * GRID_NS, "billing").word)
    assert shown == words


@given(st.lists(st.tuples(st.integers(0, 10**14), st.integers(1, 50)), max_size=60))
def test_a_long_session_has_a_coarser_grid_and_loses_no_message(runs):
    series, stream = SessionSeries(), EventStream()
    stream.attach(series)
    for run in sorted(runs):
        publish(stream, *run)
    end = series.line(10**14) + 1
    assert series.values(published("orders"), (end,))[0] == sum(count for _ns, count in runs)
    assert series.line(10**14) <= STEPS_MAX * max(1, 10**14 // max(1, max((ns for ns, _count in runs), default=1)))


def test_what_is_not_read_yet_of_a_recording_is_not_known():
    series, stream = SessionSeries(), EventStream()
    stream.attach(series)
    series.read_from_file()
    publish(stream, 0, 8)
    publish(stream, 3 * NS_PER_S, 1)
    assert series.rate(published("orders"), NS_PER_S) == 8
    assert math.isnan(series.rate(published("orders"), 9 * NS_PER_S))
    series.read_whole()
    assert series.rate(published("orders"), 9 * NS_PER_S) == 0


def test_blocked_time_goes_on_without_events():
    series, stream = SessionSeries(), EventStream()
    stream.attach(series)
    stream.emit(NS_PER_S, K.PRODUCER_BLOCKED, topic="orders", client="a")
    stream.emit(2 * NS_PER_S, K.PRODUCER_BLOCKED, topic="orders", client="b")
    assert series.rate(BLOCKED, 4 * NS_PER_S) / NS_PER_S == 2
    stream.emit(4 * NS_PER_S, K.PRODUCER_UNBLOCKED, topic="orders", client="a")
    stream.emit(5 * NS_PER_S, K.PRODUCER_UNBLOCKED, topic="orders", client="b")
    assert [series.rate(BLOCKED, at * NS_PER_S) / NS_PER_S for at in (1, 2, 3, 6, 7, 9)] == [0, 0.5, 1.5, 0.5, 0, 0]


@pytest.mark.parametrize("name", ["first-session", "fan-out", "priorities-and-starvation", "poison-message"])
def test_levels_are_those_of_the_broker(name: str) -> None:
    scenario, _ = load_scenario(resources.path("scenarios", f"{name}.yaml"))
    simulation = Simulation(scenario, find_file=lambda sample: resources.path("sample_data", sample))
    series = SessionSeries()
    simulation.events.attach(series)
    simulation.start()
    looks: list[Snapshot] = []
    for quarter in range(1, 4 * int(min(30, scenario.until_s))):
        # Just before the line, so that nothing that happens on it is in the snapshot.
        simulation.loop.run_until(quarter * GRID_NS - 1)
        looks.append(simulation.snapshot())
    simulation.loop.run_until(31 * NS_PER_S)
    compared = 0
    for snapshot in looks:
        line = series.line(snapshot.time_ns + NS_PER_MS)
        for group in snapshot.groups:
            (found,) = series.values(lag(group.name), (line,))
            known = None if group.lag_unknown else group.lag  # of some partitions alone there is no level
            assert (None if math.isnan(found) else found) == known, (group.name, snapshot.time_ns)
            compared += 1
        for queue in snapshot.queues:
            assert series.values(depth(queue.name), (line,)) == [queue.ready + queue.delayed]
            assert series.values(dead(queue.name), (line,)) == [queue.dead]
            compared += 1
    assert compared > 50
    simulation.close()


def test_a_group_has_one_rate_whatever_its_topics():
    series, stream = SessionSeries(), EventStream()
    stream.attach(series)
    for topic, count in (("a", 3), ("b", 5)):
        stream.emit(NS_PER_S, K.DELIVERED, topic=topic, group="g", client="one", count=count, attempt=1)
    at_ns = 2 * NS_PER_S
    assert series.rate(delivered("g"), at_ns) == 4
    assert [series.rate(delivered("g", topic), at_ns) for topic in "ab"] == [1.5, 2.5]
    assert series.names("delivered") == ["g"]
    assert series.rate(("received", "one"), at_ns) == 4


def test_an_event_on_a_line_belongs_to_what_comes_after_it():
    series = SessionSeries()
    series(Event(0, GRID_NS, K.PUBLISHED, topic="t", count=1))
    assert series.values(published("t"), (1, 2)) == [0, 1]


def test_who_has_published_within_the_last_seconds_and_is_no_producer_of_the_session():
    series, stream = SessionSeries(), EventStream()
    stream.attach(series)
    stream.emit(0, K.CLIENT_STARTED, client="feed", detail={"role": "producer"})
    stream.emit(0, K.CLIENT_STARTED, client="reader", detail={"role": "consumer"})  # another program's, on the bench
    stream.emit(NS_PER_S, K.PUBLISHED, topic="a", client="feed", count=1, size_bytes=1)
    stream.emit(NS_PER_S, K.PUBLISHED, topic="a", client="user", count=1, size_bytes=1)
    stream.emit(NS_PER_S, K.PUBLISHED, topic="b", client="shop", count=1, size_bytes=1)
    stream.emit(2 * NS_PER_S, K.PUBLISHED, topic="a", client="shop", count=3, size_bytes=1)
    stream.emit(5 * NS_PER_S, K.PUBLISHED, topic="a", client="reader", count=1, size_bytes=1)
    stream.emit(6 * NS_PER_S, K.CLIENT_STOPPED, client="feed", detail={"role": "producer"})
    stream.emit(7 * NS_PER_S, K.PUBLISHED, topic="a", client="feed", count=1, size_bytes=1)  # it had been waiting
    found = {at: series.other_producers(at * NS_PER_S) for at in (1, 2, 3, 6, 11, 12, 13, 15, 16)}
    assert found == {
        1: {},
        2: {"shop": ("b",)},
        3: {"shop": ("b", "a")},
        6: {"shop": ("b", "a"), "reader": ("a",)},
        11: {"shop": ("b", "a"), "reader": ("a",)},
        12: {"shop": ("a",), "reader": ("a",)},
        13: {"reader": ("a",)},
        15: {"reader": ("a",)},
        16: {},
    }
    assert series.rate(sent("shop", "a"), 3 * NS_PER_S) + series.rate(sent("shop", "b"), 3 * NS_PER_S) == 2.0
    assert series.rate(sent("shop"), 3 * NS_PER_S) == 2.0
    assert series.is_own("feed") and series.is_own("user") and not series.is_own("shop")


def test_after_the_end_producers_of_other_programs_are_stopped_and_run_again_where_it_goes_on():
    series, stream = SessionSeries(), EventStream()
    stream.attach(series)

    def states(at_s):
        return [other.state for other in other_producers(Snapshot(round(at_s * NS_PER_S), 1), series)]

    stream.emit(NS_PER_S, K.PUBLISHED, topic="a", client="shop", count=9, size_bytes=1)
    assert states(2) == ["running"]
    stream.emit(2 * NS_PER_S, K.SESSION_ENDED)
    assert states(2) == ["stopped"] and states(1.5) == ["running"]
    stream.emit(3 * NS_PER_S, K.PUBLISHED, topic="a", client="shop", count=9, size_bytes=1)
    assert states(4) == ["running"]


def test_the_time_of_a_rate_does_not_depend_on_whether_the_rate_was_asked_before():
    series, stream = SessionSeries(), EventStream()
    stream.attach(series)
    for second in range(0, 16, 5):
        stream.emit(
            second * NS_PER_S, K.ACKNOWLEDGED, topic="a", partition=0, offset=0, client="reader", group="g", count=10
        )
    told = series.window_ns(16 * NS_PER_S, acknowledged("reader"))
    assert series.rate(acknowledged("reader"), 16 * NS_PER_S) == 2.0
    assert told == series.window_ns(16 * NS_PER_S, acknowledged("reader"))
    assert told[1] - told[0] == 5 * NS_PER_S
