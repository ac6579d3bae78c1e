"""The window compares sessions by figures that the report has too."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from app.sessions.compare import figures_of
from app.sessions.jobs import Work
from broker_core.clock import NS_PER_S
from broker_core.recording.recorder import Recorder
from broker_core.simulation import Simulation, load_scenario, parse_scenario
from broker_core.simulation.actions.groups import MoveConsumer
from resources import path
from resources.measures import MEASURES, TURNED_AWAY
from spark_reports.pipeline.collect import Made, make_tables
from spark_reports.sessions.session import inspect
from tests.spark_reports.test_gaps import SCENARIO
from tests.spark_reports.test_wrong import Silent

pytestmark = pytest.mark.spark


def test_window_and_report_have_the_same_figures(spark: SparkSession, tmp_path: Path) -> None:
    scenarios = [parse_scenario(SCENARIO)]
    scenarios += [
        load_scenario(path("scenarios", f"{name}.yaml"))[0] for name in ("first-session", "backpressure-policies")
    ]
    for number, scenario in enumerate(scenarios):
        simulation = Simulation(scenario, find_file=lambda name: path("sample_data", name))
        recorder = Recorder(tmp_path / str(number), scenario_name=scenario.title, seed=number)
        simulation.events.attach(recorder)
        simulation.start()
        simulation.run(30)
        if "indexer-4" in simulation.actors:
            simulation.perform(MoveConsumer("indexer-4", "indexers"))
        simulation.run(60)
        recorder.close(time_ns=60 * NS_PER_S)
    seen = set()
    for number in range(len(scenarios)):
        folder = tmp_path / str(number)
        figures = figures_of(folder, Work(lambda _part, _words: None), (0, 1))
        told = _told(make_tables(spark, inspect(str(folder)), Silent()))
        for name, value in told.items():
            assert figures.values.get((MEASURES[name].label, "")) == pytest.approx(value), (number, name)
            seen |= {name} if value else set()
    assert {"published", "redelivered", "dead_lettered", "rebalances", "p99_ns", "blocked_ns"} <= seen


def _told(made: Made) -> dict[str, float]:
    """What the tables of a report tell of the measures by which the window compares sessions."""
    rows = made.rows()
    totals = {row["name"]: row["recorded"] for row in rows["totals"]}
    counts = ("published", "delivered", "acknowledged", "redelivered", "dead_lettered", "rebalances", "events")
    late = {row["measure"]: row for row in rows["latency"]}
    return {
        **{name: totals[name] for name in counts},
        **{name: late["delivered"][name] for name in ("p50_ns", "p99_ns", "p999_ns", "max_ns")},
        "acknowledged_p99_ns": late["acknowledged"]["p99_ns"],
        "turned_away": sum(totals[name] for name in TURNED_AWAY),
        "blocked_ns": sum(row["blocked_ns"] for row in rows["backpressure"]),
    }
