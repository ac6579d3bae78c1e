"""Every built-in scenario to its end: Spark counts in its recording what the broker counted, nothing is lost or double,
and its page can be made.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import polars as pl
import pytest
from pyspark.sql import SparkSession

import resources
from spark_reports.jobs.report import Report
from spark_reports.pipeline.session_data import read_session_data
from spark_reports.request.request import Request
from spark_reports.sessions.session import inspect
from spark_reports.tables import audit, recording
from tests.processes import ROOT, run
from tests.spark_reports.test_wrong import Silent

pytestmark = [pytest.mark.spark, pytest.mark.long]

SCENARIOS = sorted(resources.path("scenarios").glob("*.yaml"))
# Together they have every plot.
DRAWN = {"backpressure-policies", "first-session", "poison-message", "transactions"}


@pytest.mark.parametrize(
    "scenario",
    [pytest.param(path, id=path.stem, marks=() if path.stem in DRAWN else pytest.mark.soak) for path in SCENARIOS],
)
def test_the_recording_of_a_scenario_is_the_whole_truth_and_has_a_page(
    spark: SparkSession, tmp_path: Path, scenario: Path
) -> None:
    session = tmp_path / "session"
    command = [sys.executable, "main.py", "run", str(scenario), "--session", str(session)]
    done = run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    summary = json.loads(done.stdout.splitlines()[-1])
    info = inspect(str(session))
    data = read_session_data(spark, info)
    found = recording.reconciliation(data.totals, data.summary)
    counted = dict(found.select("name", "recorded").rows())
    assert counted == {name: summary[name] for name in counted}
    assert len(counted) == 14 and found["equal"].all()
    gone = sum(summary[name] for name in ("dropped", "evicted", "expired", "purged"))
    lost = audit.audit(data.judged)["messages"].to_list()
    assert lost[0] >= gone and lost[1:] == [0]
    assert data.queues.filter((pl.col("waiting") < 0) | (pl.col("in_flight") < 0)).height == 0
    assert data.broken.height == 0

    assert "</html>" in Report.of(spark, Request(session, tmp_path), info, Silent()).page([])
