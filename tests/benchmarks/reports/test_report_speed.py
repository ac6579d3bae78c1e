"""The whole report on a million and on ten million events: JVM start told apart, beside DuckDB, with its memory.

Printed, never asserted: machines are noisy. The goals: ten million events in under 90 s after the start, not more
than six
times DuckDB's time, a driver below 2 GB, and a cost that grows no faster than the number of events.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import pytest
from rich.console import Console
from rich.table import Table

from spark_reports.session import bucket_width_ns
from tests.benchmarks.reports.large_session import DURATION_NS, make_session
from tests.benchmarks.reports.reference import ask

pytestmark = [pytest.mark.bench, pytest.mark.spark, pytest.mark.timeout(1800)]

ROUNDS = {1_000_000: 3, 10_000_000: 1}


class Run(NamedTuple):
    """One report: seconds until Spark was up, seconds from then on, and what the processes needed."""

    start_s: float
    work_s: float
    driver_mb: float
    cpu_s: float


def _report(session: Path, out: Path) -> Run:
    command = [sys.executable, "-m", "spark_reports.job", str(session), "--out", str(out), "--progress", "json"]
    begun = time.perf_counter()
    job = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert job.stdout is not None
    up_s, java_mb, last = 0.0, 0.0, {}
    for line in job.stdout:
        last = json.loads(line)
        if not up_s and last.get("stage") != "Starting Spark":
            up_s = time.perf_counter() - begun
        java_mb = max(java_mb, _peak_mb(job.pid))
    job.wait()
    assert "report" in last, last
    usage = os.times()
    return Run(up_s, time.perf_counter() - begun - up_s, java_mb, usage.children_user + usage.children_system)


def _peak_mb(parent: int) -> float:
    """The largest memory that the Java below `parent` ever had, and `parent` itself."""
    total = 0.0
    for process in Path("/proc").glob("[0-9]*"):
        try:
            status = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines() if ":" in line)
            if int(process.name) == parent or int(status["PPid"]) == parent:
                total += int(status["VmHWM"].split()[0]) / 1000
        except (OSError, KeyError, ValueError):
            continue
    return total


def test_the_report_of_large_sessions_beside_duckdb(tmp_path: Path) -> None:
    table = Table(title="The whole report, local[*]")
    heads = ("events", "JVM start s", "report s", "CPU s", "us/event", "DuckDB s", "times DuckDB", "driver MB", "load")
    for head in heads:
        table.add_column(head, justify="right")
    for events, rounds in ROUNDS.items():
        session = tmp_path / str(events)
        make_session(session, events)
        runs, reference = [], []
        for number in range(rounds):
            before = os.times()
            reference.append(sum(ask(session, bucket_width_ns(DURATION_NS), os.cpu_count() or 1).values()))
            run = _report(session, tmp_path / f"report-{events}-{number}")
            runs.append(run._replace(cpu_s=run.cpu_s - before.children_user - before.children_system))
        work_s, duck_s = statistics.median(run.work_s for run in runs), statistics.median(reference)
        ratios = [run.work_s / other for run, other in zip(runs, reference, strict=True)]
        table.add_row(
            f"{events:,}",
            f"{statistics.median(run.start_s for run in runs):.1f}",
            f"{work_s:.1f}",
            f"{statistics.median(run.cpu_s for run in runs):.1f}",
            f"{work_s / events * 1e6:.1f}",
            f"{duck_s:.1f}",
            f"{statistics.median(ratios):.1f}",
            f"{max(run.driver_mb for run in runs):,.0f}",
            f"{os.getloadavg()[0]:.1f}",
        )
    Console(width=140).print(table)
