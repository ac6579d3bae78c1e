"""Every built-in scenario: Spark counts in its recording what the broker counted, and nothing is lost or double."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import resources
from spark_reports.frames import read_frames
from spark_reports.questions import audit, recording, totals
from spark_reports.session import inspect

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
    rows = totals.reconciliation(totals.totals(frames.counted, frames.happened), frames.summary).collect()
    assert {row.name: row.recorded for row in rows} == {row.name: summary[row.name] for row in rows}
    assert len(rows) == 13 and all(row.equal for row in rows)
    assert [row for row in audit.audit(frames.words, frames.late, frames.control).collect() if not row.ok] == []
    assert frames.queues.where("waiting < 0 OR in_flight < 0").count() == 0
    assert recording.recording(frames.messages, frames.control).collect() == []
    frames.release()
