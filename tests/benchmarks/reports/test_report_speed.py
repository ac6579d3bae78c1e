"""The whole report beside an empty Spark job and beside DuckDB, each pair in one run, with its memory.

Printed, never asserted: machines are noisy. The goals: a session of 31,000 events cold in 1.25 times an empty job with
the same settings, and in 3 s from a Spark that is there; a million in 2.5 times the empty job; ten million in three
times DuckDB, which does the same work. More sizes: BENCH_EVENTS=50000000.

The empty job looks for classes as Spark's launcher has it: in all jars, in the order of their folder. Beside it stands
one with the class path of the reports, which starts sooner, and takes its share of the gain out of the ratio.
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

from spark_reports.scale import bucket_width_ns
from tests.benchmarks.reports.large_session import DURATION_NS, make_session
from tests.benchmarks.reports.reference import ask

pytestmark = [pytest.mark.bench, pytest.mark.spark, pytest.mark.timeout(1800)]

ROOT = Path(__file__).parents[3]
ROUNDS = {1_000_000: 3, 10_000_000: 1}
SMALL_ROUNDS = 3
#: What a report costs that asks nothing: Java, Spark, one query, the end.
EMPTY = """
import sys, tempfile
from pathlib import Path
from spark_reports.spark import jvm as own
from spark_reports.spark.java import find_java
from spark_reports.spark.jvm import Jvm
from spark_reports.spark.tuning import tuning
with tempfile.TemporaryDirectory() as name:
    work = Path(name)
    setup = tuning(int(sys.argv[1]))
    if sys.argv[2] == "launcher":
        own.jars = lambda home: [home / "jars" / "*"]
    jvm = Jvm(find_java(), work, work / "log", setup.jvm_options)
    from spark_reports.spark.jvm import spark_session
    jvm.connect()
    spark = spark_session(work)
    for name, value in setup.settings.items():
        spark.conf.set(name, value)
    spark.range(1).toArrow()
    spark.stop()
    jvm.close()
"""


class Run(NamedTuple):
    """One report: seconds until Spark was up, seconds from then on, and what the processes needed."""

    start_s: float
    work_s: float
    driver_mb: float
    cpu_s: float


def _report(session: Path, out: Path) -> Run:
    command = [sys.executable, "-m", "spark_reports.jobs.job", str(session), "--out", str(out)]
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


def _empty(events: int, class_path: str = "launcher") -> float:
    """Seconds of a job that asks nothing, with the settings for so many events, and the class path of Spark's launcher
    or of the "reports".
    """
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-c", EMPTY, str(events), class_path], check=True, cwd=ROOT)
    return time.perf_counter() - begun


def _warm(session: Path, out: Path) -> float:
    """Seconds of a report of a Spark that was made ready: the first, as a user asks for it."""
    command = [sys.executable, "-m", "spark_reports.jobs.warm"]
    warm = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert warm.stdin is not None and warm.stdout is not None

    def asked(*words: str) -> float:
        begun = time.perf_counter()
        warm.stdin.write(json.dumps(words) + "\n")  # type: ignore[union-attr]
        warm.stdin.flush()  # type: ignore[union-attr]
        for line in warm.stdout:  # type: ignore[union-attr]
            if "stage" not in json.loads(line):
                break
        return time.perf_counter() - begun

    warm.stdin.write("[]\n")
    # A request that is refused at once says that it is ready.
    asked("/no/such/session", "--out", str(out))
    took = asked(str(session), "--out", str(out))
    warm.stdin.close()
    warm.wait()
    return took


def test_the_report_of_a_small_session_beside_an_empty_job(tmp_path: Path) -> None:
    session = tmp_path / "session"
    run = [sys.executable, str(ROOT / "main.py"), "run", "first-session", "--session", str(session), "--speed", "max"]
    subprocess.run(run, check=True, capture_output=True, cwd=ROOT)
    events = json.loads((session / "session.json").read_text())["events"]
    rounds = []
    for number in range(SMALL_ROUNDS):
        empty, sooner = _empty(events), _empty(events, "reports")
        cold = _report(session, tmp_path / f"cold-{number}")
        warm = _warm(session, tmp_path / f"warm-{number}")
        rounds.append((empty, sooner, cold.start_s + cold.work_s, warm, cold.driver_mb))
    table = Table(title=f"The report of {events:,} events; load {os.getloadavg()[0]:.1f}")
    heads = [
        *("empty job s", "with our class path s", "cold s", "times empty (goal 1.25)", "times ours"),
        *("warm s (goal 3)", "driver and Python MB"),
    ]
    for head in heads:
        table.add_column(head, justify="right")
    times, times_ours = (statistics.median(one[2] / one[beside] for one in rounds) for beside in (0, 1))
    empty, sooner, cold_s, warm, memory = (statistics.median(one) for one in zip(*rounds, strict=True))
    seconds = (f"{empty:.1f}", f"{sooner:.1f}", f"{cold_s:.1f}")
    table.add_row(*seconds, f"{times:.2f}", f"{times_ours:.2f}", f"{warm:.1f}", f"{memory:,.0f}")
    Console(width=140).print(table)


def test_the_report_of_large_sessions_beside_duckdb(tmp_path: Path) -> None:
    table = Table(title="The whole report, local[*]")
    heads = [
        *("events", "empty job s", "in all s", "times empty", "after start s", "CPU s", "DuckDB s", "times DuckDB"),
        *("driver MB", "load"),
    ]
    for head in heads:
        table.add_column(head, justify="right")
    chosen = os.environ.get("BENCH_EVENTS")
    for events, rounds in ({int(chosen): 1} if chosen else ROUNDS).items():
        session = tmp_path / str(events)
        make_session(session, events)
        runs, reference, empty = [], [], []
        for number in range(rounds):
            empty.append(_empty(events))
            before = os.times()
            reference.append(sum(ask(session, bucket_width_ns(DURATION_NS), os.cpu_count() or 1).values()))
            run = _report(session, tmp_path / f"report-{events}-{number}")
            runs.append(run._replace(cpu_s=run.cpu_s - before.children_user - before.children_system))
        whole = [run.start_s + run.work_s for run in runs]
        table.add_row(
            f"{events:,}",
            f"{statistics.median(empty):.1f}",
            f"{statistics.median(whole):.1f}",
            f"{statistics.median(one / other for one, other in zip(whole, empty, strict=True)):.1f}",
            f"{statistics.median(run.work_s for run in runs):.1f}",
            f"{statistics.median(run.cpu_s for run in runs):.1f}",
            f"{statistics.median(reference):.1f}",
            f"{statistics.median(run.work_s / other for run, other in zip(runs, reference, strict=True)):.1f}",
            f"{max(run.driver_mb for run in runs):,.0f}",
            f"{os.getloadavg()[0]:.1f}",
        )
    Console(width=140).print(table)
