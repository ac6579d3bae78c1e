"""Sessions are compared by the same figures in the window and in the report."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from app.sessions.compare import figures_of
from app.sessions.work import Work
from broker_core.clock import NS_PER_S
from broker_core.recording.recorder import Recorder
from broker_core.simulation import Simulation, load_scenario, parse_scenario
from broker_core.simulation.actions.groups import MoveConsumer
from resources import path
from resources.measures import MEASURES
from spark_reports.pipeline.collect import about, make_runs, read_all
from spark_reports.sessions.discovery import find_sessions
from tests.spark_reports.test_gaps import SCENARIO

pytestmark = pytest.mark.spark


def test_window_and_report_compare_sessions_by_the_same_figures(spark: SparkSession, tmp_path: Path) -> None:
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
    found = find_sessions([str(tmp_path)])
    messages, control = (read_all(spark, found.infos, kind) for kind in ("messages", "control"))
    runs = make_runs(messages, control, about(found.infos))
    seen = set()
    for info, run in zip(found.infos, runs.to_dicts(), strict=True):
        figures = figures_of(Path(info.location), Work(lambda _part, _words: None), (0, 1))
        for name, measure in MEASURES.items():
            shown = figures.values.get((measure.label, ""))
            assert shown == (None if run[name] is None else pytest.approx(run[name])), (info.location, name)
            seen |= {name} if shown else set()
    assert set(MEASURES) - seen <= {"turned_away"}
