"""One Spark that is kept: what it is set up with for a small report does not stay for a larger one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from spark_reports.spark import tuning
from tests.spark_reports.conftest import record

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.long]

ROOT = Path(__file__).resolve().parents[2]
SMALL_EVENTS = 1_000  # so that the second session is no small one
SCRIPT = """
import io, json, sys
from pathlib import Path
from pyspark.sql import SparkSession
from spark_reports.spark import tuning
from spark_reports.jobs.cancellation import Cancellation
from spark_reports.jobs.warm import SparkServer

work, small, many, *sessions = sys.argv[1:]
tuning.SMALL_EVENTS, tuning.MANY_EVENTS = int(small), int(many)
warm = SparkServer(Path(work), Cancellation())
for number, session in enumerate(sessions):
    asked = [session, "--out", f"{work}/out-{number}", "--parts", "throughput", "--format", "csv"]
    warm.make(json.dumps(asked), io.StringIO())
    spark = SparkSession.getActiveSession()
    plan = spark.range(9).groupBy("id").count()._jdf.queryExecution().executedPlan().toString()
    print(json.dumps({
        "application": spark.sparkContext.applicationId,
        "made": Path(f"{work}/out-{number}/tables").is_dir(),
        "partitions": spark.conf.get("spark.sql.shuffle.partitions"),
        "compiled": "*(1)" in plan,
    }))
    if "killed" in session:
        warm._jvm.process.kill()
        warm._jvm.process.wait()
warm.close()
"""


def reports(work: Path, many: int, *sessions: Path) -> list[dict[str, Any]]:
    """What Spark was like in the report of each of `sessions`, made one after the other."""
    work.mkdir()
    command = [sys.executable, "-c", SCRIPT, str(work), str(SMALL_EVENTS), str(many), *map(str, sessions)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    told: list[dict[str, Any]] = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert [one["made"] for one in told] == [True] * len(sessions), done.stderr
    return told


def record_two(folder: Path) -> tuple[Path, Path]:
    """A small session, and one with more than `SMALL_EVENTS`."""
    for name, seconds in (("small", 1), ("large", 20)):
        record(folder / name, seconds=seconds)
    return folder / "small", folder / "large"


def test_a_spark_that_made_a_small_report_is_set_up_anew_for_a_larger_one(tmp_path: Path) -> None:
    small, large = record_two(tmp_path)
    told = reports(tmp_path / "work", tuning.MANY_EVENTS, small, large, small)
    assert len({one["application"] for one in told}) == 1, "it is one Spark"
    assert [one["partitions"] for one in told] == ["1", "2", "1"]
    assert all(one["compiled"] for one in told)


@pytest.mark.soak
def test_where_the_options_of_java_are_others_it_is_started_again(tmp_path: Path) -> None:
    small, large = record_two(tmp_path)
    told = reports(tmp_path / "work", SMALL_EVENTS, small, large, small)
    first, second, third = (one["application"] for one in told)
    assert first != second == third


def test_where_java_was_killed_the_next_report_starts_another(tmp_path: Path) -> None:
    record(tmp_path / "killed", seconds=1)
    told = reports(tmp_path / "work", tuning.MANY_EVENTS, tmp_path / "killed", tmp_path / "killed")
    assert len({one["application"] for one in told}) == 2
