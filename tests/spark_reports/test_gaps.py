"""How long nobody read a partition: the report says what the window says, of sessions in which much goes wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from broker_core.events import Event, EventKind
from broker_core.lab import Simulation, parse_scenario
from broker_core.session.ownership import Ownership
from broker_core.session.recorder import Recorder
from spark_reports.frames import read_frames
from spark_reports.session import inspect

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


def test_the_report_and_the_window_count_alike(spark: SparkSession, tmp_path: Path) -> None:
    folder, ownership, started = tmp_path / "session", Ownership(), list[tuple[str, int]]()

    def note(event: Event) -> None:
        if event.kind is EventKind.REBALANCE_STARTED:
            started.append((event.group, event.time_ns))

    simulation = Simulation(parse_scenario(SCENARIO))
    recorder = Recorder(folder, scenario_name="Gaps", scenario_text=SCENARIO, seed=1)
    for sink in (ownership, note, recorder):
        simulation.events.attach(sink)
    simulation.start()
    simulation.run(90)
    recorder.close()
    told = {
        (*gap.place, gap.revoked_ns): (gap.cause, gap.start_ns, gap.assigned_ns)
        for key in dict.fromkeys(started)
        for gap in ownership.gaps(*key)
    }
    pauses = read_frames(spark, inspect(str(folder))).pauses
    names = ("group", "topic", "partition", "revoked_ns", "cause", "from_ns", "assigned_ns")
    found = {row[:4]: row[4:] for row in pauses.select(names).iter_rows()}
    assert {cause for cause, _start, _end in told.values()} >= {"", "crash", "silence"}
    assert found == told
