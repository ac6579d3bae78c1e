"""A history of more sessions than Spark lists by itself."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark_reports.errors import ReportError
from spark_reports.jobs.cancellation import Cancellation
from spark_reports.jobs.making import Making
from spark_reports.output.delivery import REPORT, TABLES
from spark_reports.pipeline.collect import read_all
from spark_reports.request.request import HISTORY, Request
from spark_reports.sessions.session import SessionInfo
from tests.spark_reports.conftest import record
from tests.spark_reports.test_wrong import Silent

pytestmark = pytest.mark.spark

MANY = 34  # Spark starts a task for each file from 33 on


def test_the_files_of_many_sessions_are_found_without_a_task_for_each(spark: SparkSession, tmp_path: Path) -> None:
    sessions = tmp_path / "100% +ü sessions"
    record(sessions / "run 00", seconds=1)
    for number in range(1, MANY):
        shutil.copytree(sessions / "run 00", sessions / f"run {number:02d}")
    out = tmp_path / "out"
    request = Request((str(sessions),), out, HISTORY, parts=frozenset({"totals", "throughput"}))
    making = Making(request, tmp_path, tmp_path / "log", Silent(), Cancellation())
    spark.sparkContext.setJobGroup("finding files", "")
    making.make(lambda: spark)
    assert not spark.sparkContext.statusTracker().getJobIdsForGroup("finding files")
    with (out / TABLES / "runs.csv").open(newline="", encoding="utf-8") as file:
        runs = list(csv.DictReader(file))
    assert len(runs) == MANY and len({(run["events"], run["published"]) for run in runs}) == 1
    assert int(runs[0]["published"]) > 0 and (out / REPORT).is_file()


def test_a_file_that_belongs_to_no_session_is_an_error(spark: SparkSession, recorded: Path, tmp_path: Path) -> None:
    inside = tmp_path / "messages" / "day=1"
    inside.mkdir(parents=True)
    shutil.copy(recorded / "messages" / "part-00000.parquet", inside)
    info = SessionInfo(str(tmp_path), {}, parts={"messages": [f"file://{tmp_path}/messages"]})
    with pytest.raises(ReportError, match="is not in any of the sessions"):
        read_all(spark, [info], "messages")
