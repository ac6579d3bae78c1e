"""Every built-in scenario: Spark counts in its recording what the broker counted, and nothing is lost or double."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from pyspark.sql import SparkSession

import resources
from spark_reports.frames import read_frames
from spark_reports.session import inspect
from spark_reports.tables import audit, totals

pytestmark = [pytest.mark.spark, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
SCENARIOS = sorted(path.stem for path in resources.path("scenarios").glob("*.yaml"))


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_recording_of_a_scenario_is_the_whole_truth(spark: SparkSession, tmp_path: Path, scenario: str) -> None:
    session = tmp_path / "session"
    command = [sys.executable, str(ROOT / "main.py"), "run", scenario, "--session", str(session), "--speed", "max"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout.splitlines()[-1])

    frames = read_frames(spark, inspect(str(session)))
    found = totals.reconciliation(frames.totals, frames.summary)
    counted = dict(found.select("name", "recorded").rows())
    assert counted == {name: summary[name] for name in counted}
    assert len(counted) == 13 and found["equal"].all()
    assert audit.audit(frames.audited)["ok"].all()
    assert frames.queues.filter((pl.col("waiting") < 0) | (pl.col("in_flight") < 0)).height == 0
    assert frames.broken_numbers.height == 0
