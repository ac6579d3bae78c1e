"""How long nobody read a partition: the report says what the window says, of sessions in which much goes wrong."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from broker_core.clock import NS_PER_S, ns_from_s
from broker_core.events import Event, EventKind, EventStream
from broker_core.recording.ownership import Ownership
from broker_core.recording.recorder import Recorder
from broker_core.simulation import Simulation, parse_scenario
from spark_reports.pipeline.session_data import read_session_data
from spark_reports.sessions.session import inspect

pytestmark = pytest.mark.spark

SCENARIO = """\
title: Gaps
about: Members crash, stand still, fall silent and move.
until_s: 90
rebalance_delay_ms: 400
topics: [{name: orders, partitions: 6}]
groups:
  - {name: eager, topics: [orders], assignor: range, session_timeout_ms: 6000, heartbeat_interval_ms: 1500}
  - {name: calm, topics: [orders], assignor: cooperative-sticky, session_timeout_ms: 6000, heartbeat_interval_ms: 1500}
producers: [{name: shop, to: orders, arrivals: {kind: rate, per_s: 40, keys: 40}}]
consumers:
  - {name: eager, count: 3, group: eager, processing: {mean_ms: 20}}
  - {name: calm, count: 3, group: calm, processing: {mean_ms: 20}}
  - {name: spare, count: 2}
schedule:
  - {at_s: 10.3, do: {action: crash, client: eager-1, for_s: 20}}
  - {at_s: 12, do: {action: crash, client: calm-2, for_s: 2}}
  - {at_s: 40, do: {action: move_consumer, consumer: spare-1, group: eager}}
  - {at_s: 41, do: {action: move_consumer, consumer: spare-2, group: calm}}
  - {at_s: 50, do: {action: slow_down, client: eager-2, factor: 400}}
  - {at_s: 50, do: {action: drop_heartbeats, client: eager-2}}
  - {at_s: 65, do: {action: pause, client: calm-1, for_s: 12}}
"""


Told = tuple[str, int, int | None, int | None]  # cause, start, assigned, end


class Window:
    """What the window knows of gaps."""

    def __init__(self) -> None:
        self._ownership = Ownership()
        self._started: dict[tuple[str, int], None] = {}

    def __call__(self, event: Event) -> None:
        self._ownership(event)
        if event.kind is EventKind.REBALANCE_STARTED:
            self._started[event.group, event.time_ns] = None

    def told(self) -> dict[tuple[str, str, int, int], Told]:
        """Of each partition and time at which it was revoked."""
        return {
            (*gap.place, gap.revoked_ns): (gap.cause, gap.start_ns, gap.assigned_ns, gap.end_ns)
            for key in self._started
            for gap in self._ownership.gaps(*key)
        }


def reported(spark: SparkSession, folder: Path) -> dict[tuple[str, str, int, int], Told]:
    """The same by the report."""
    names = ("group", "topic", "partition", "revoked_ns", "cause", "from_ns", "assigned_ns", "to_ns")
    pauses = read_session_data(spark, inspect(str(folder))).pauses
    return {row[:4]: row[4:] for row in pauses.select(names).iter_rows()}


@pytest.mark.promise("31")
def test_the_report_and_the_window_count_alike(spark: SparkSession, tmp_path: Path) -> None:
    folder, window = tmp_path / "session", Window()
    simulation = Simulation(parse_scenario(SCENARIO))
    recorder = Recorder(folder, scenario_name="Gaps", scenario_text=SCENARIO, seed=1)
    for sink in (window, recorder):
        simulation.events.attach(sink)
    simulation.start()
    simulation.run(90)
    recorder.close()
    told = window.told()
    assert {cause for cause, *_times in told.values()} >= {"", "crash", "silence"}
    assert reported(spark, folder) == told


def test_a_gap_ends_with_the_first_fetch_of_the_new_owner(spark: SparkSession, tmp_path: Path) -> None:
    """Owners that poll late, which no simulated one does: each event is written here."""
    folder, window, stream = tmp_path / "session", Window(), EventStream()
    recorder = Recorder(folder, scenario_name="Late", scenario_text="", seed=1)
    for sink in (window, recorder):
        stream.attach(sink)

    def tell(at_s: float, kind: EventKind, client: str = "", *partitions: int, **detail: object) -> None:
        said = {"partitions": [["t", number] for number in partitions], "member_id": client, **detail}
        stream.emit(ns_from_s(at_s), kind, group="g", client=client, detail=said)

    def read(at_s: float, client: str, partition: int, published_s: float) -> None:
        place = {"topic": "t", "partition": partition, "offset": 0, "count": 1}
        reader = {"client": client, "group": "g", "attempt": 1, "published_ns": ns_from_s(published_s)}
        stream.emit(ns_from_s(at_s), EventKind.DELIVERED, **place, **reader)

    def rebalance(
        at_s: float, end_s: float, old: Mapping[str, tuple[int, ...]], new: Mapping[str, tuple[int, ...]]
    ) -> None:
        tell(at_s, EventKind.REBALANCE_STARTED)
        for client, partitions in old.items():
            tell(at_s, EventKind.PARTITIONS_REVOKED, client, *partitions)
        if at_s == 20:
            read(20.5, "b", 1, 9)  # b has not been told yet
        for client, partitions in new.items():
            tell(end_s, EventKind.PARTITIONS_ASSIGNED, client, *partitions)
        tell(end_s, EventKind.REBALANCE_COMPLETED, started_ns=ns_from_s(at_s))

    for client in "abcd":
        tell(0, EventKind.MEMBER_JOINED, client)
    first = {"a": (0, 1), "b": (2, 3), "c": (4, 5)}
    rebalance(0, 0.5, {}, first)
    for client, partitions in first.items():
        read(5, client, partitions[0], 4)
    second = {"b": (0, 1), "a": (2, 3), "c": (4, 5)}
    rebalance(10, 11, first, second)
    read(12.5, "a", 2, 12.4)  # nothing had waited for a
    read(13, "a", 3, 9)
    read(14, "b", 1, 9)  # b reads 0 from now on, too
    read(14.5, "b", 0, 9)
    rebalance(15, 16, {"c": (4, 5)}, {"c": (4, 5)})  # before it read anything of them
    read(16, "c", 5, 9)
    read(18, "c", 4, 9)
    rebalance(20, 21, {"b": (0, 1), "a": (2, 3)}, {"d": (0, 1, 2), "a": (3,)})
    read(26, "d", 2, 21)
    recorder.close(totals={}, time_ns=30 * NS_PER_S)
    seconds = {
        (place, revoked_ns // NS_PER_S): (start_ns / NS_PER_S, (end_ns or 0) / NS_PER_S)
        for (*_names, place, revoked_ns), (_cause, start_ns, _assigned_ns, end_ns) in window.told().items()
    }
    assert seconds == {
        **{(0, 10): (10, 14), (1, 10): (10, 14), (2, 10): (10, 11), (3, 10): (10, 11), (4, 10): (10, 11)},
        **{(5, 10): (10, 11), (4, 15): (15, 16), (5, 15): (15, 16)},
        **{(0, 20): (20.5, 26), (1, 20): (20.5, 26), (2, 20): (20, 26), (3, 20): (20, 21)},
    }
    assert reported(spark, folder) == window.told()
