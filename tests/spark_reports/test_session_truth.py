"""The recorded session is the whole truth: what Spark counts in it equals what the broker counted, to the message."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from pyspark.sql import SparkSession

from app.environment.paths import shipped_scenarios
from broker_core.clock import ns_from_s
from broker_core.recording.live_session import LiveSession
from broker_core.simulation.actions.dead_letters import Redrive
from broker_core.simulation.actions.groups import MoveConsumer
from broker_core.simulation.arrival_files import DataFiles
from broker_core.simulation.consumer import ConsumerActor
from broker_core.simulation.scenario import load_scenario
from spark_reports.pipeline.session_data import read_session_data
from spark_reports.pipeline.tables import TABLES
from spark_reports.sessions.session import inspect
from spark_reports.tables import audit
from tests.long_form import some

pytestmark = pytest.mark.spark

RUN_S = 60.0
TOTALS = next(table for table in TABLES if table.name == "totals")
RECONCILIATION = next(table for table in TABLES if table.name == "reconciliation")


def meddle(live: LiveSession) -> None:
    """Do what a user would do to a session in its middle: move a consumer, redrive every dead letter."""
    simulation = live.simulation
    groups = [group.name for group in simulation.snapshot().groups]
    for actor in list(simulation.actors.values()):
        if isinstance(actor, ConsumerActor) and actor.target:
            simulation.perform(MoveConsumer(actor.name, ""))
            simulation.perform(MoveConsumer(actor.name, groups[-1]))
            break
    for queue in simulation.snapshot().queues:
        if queue.dead_letters:
            simulation.perform(Redrive(queue=queue.name, offsets=[letter.offset for letter in queue.dead_letters]))


@pytest.mark.parametrize("scenario", some(shipped_scenarios(), {"poison-message", "share-group", "transactions"}))
def test_the_report_counts_what_the_broker_counted(spark: SparkSession, tmp_path: Path, scenario: Path) -> None:
    parsed, text = load_scenario(scenario)
    live = LiveSession(parsed, text, folder=tmp_path / "session", find_file=DataFiles(scenario))
    until_s = min(RUN_S, parsed.until_s)
    live.simulation.loop.run_until(ns_from_s(until_s / 2))
    meddle(live)
    live.simulation.loop.run_until(ns_from_s(until_s))
    live.close(finished=False)
    summary = live.summary()
    data = read_session_data(spark, inspect(str(tmp_path / "session")))
    counted = dict(TOTALS.build(data).rows())
    assert counted == {name: summary[name] for name in counted}
    assert set(counted) == set(summary)
    assert summary["published"] > 0
    assert RECONCILIATION.build(data)["equal"].all()
    # Nothing is lost or double, and no number is impossible.
    assert audit.audit(data.judged)["ok"].all()
    assert data.queues.filter((pl.col("waiting") < 0) | (pl.col("in_flight") < 0)).height == 0
    assert data.broken.height == 0


def test_a_message_that_the_recording_lost_is_noticed(spark: SparkSession, tmp_path: Path) -> None:
    scenario = shipped_scenarios()[0]
    parsed, text = load_scenario(scenario)
    live = LiveSession(parsed, text, folder=tmp_path / "session", find_file=DataFiles(scenario))
    recorder = live.recorder
    assert recorder is not None
    live.simulation.loop.run_until(ns_from_s(5))
    live.simulation.events.detach(recorder)
    live.simulation.loop.run_until(ns_from_s(6))
    live.simulation.events.attach(recorder)
    live.simulation.loop.run_until(ns_from_s(10))
    live.close(finished=False)
    data = read_session_data(spark, inspect(str(tmp_path / "session")))
    found = RECONCILIATION.build(data)
    different = dict(found.filter(~found["equal"]).select("name", "difference").rows())
    assert different["published"] < 0
    assert different["delivered"] < 0
