"""One Spark that is kept: what it is set up with for a small report does not stay for a larger one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.spark_reports.conftest import record

pytestmark = [pytest.mark.spark, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]
SMALL_EVENTS = 1_000  # so that the second session is no small one
SCRIPT = """
import io, json, sys
from pathlib import Path
from pyspark.sql import SparkSession
from spark_reports import tuning
from spark_reports.cancellation import Cancellation
from spark_reports.warm import WarmSpark

work, threshold, *sessions = sys.argv[1:]
tuning.SMALL_EVENTS = int(threshold)
warm = WarmSpark(Path(work), io.StringIO(), Cancellation())
for number, session in enumerate(sessions):
    warm.make(json.dumps([session, "--out", f"{work}/out-{number}", "--parts", "throughput", "--format", "csv"]))
    spark = SparkSession.getActiveSession()
    plan = spark.range(9).groupBy("id").count()._jdf.queryExecution().executedPlan().toString()
    print(json.dumps({
        "application": spark.sparkContext.applicationId,
        "made": Path(f"{work}/out-{number}/tables").is_dir(),
        "partitions": spark.conf.get("spark.sql.shuffle.partitions"),
        "compiled": "*(1)" in plan,
    }))
warm.close()
"""


def test_a_spark_that_made_a_small_report_is_set_up_anew_for_a_larger_one(tmp_path: Path) -> None:
    for name, seconds in (("small", 1), ("large", 20)):
        record(tmp_path / name, seconds=seconds)
    sessions = [str(tmp_path / name) for name in ("small", "large", "small")]
    work = tmp_path / "work"
    work.mkdir()
    command = [sys.executable, "-c", SCRIPT, str(work), str(SMALL_EVENTS), *sessions]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    told: list[dict[str, Any]] = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert [one["made"] for one in told] == [True] * 3, done.stderr
    assert len({one["application"] for one in told}) == 1, "it is one Spark"
    assert [one["partitions"] for one in told] == ["1", "2", "1"]
    assert all(one["compiled"] for one in told)
