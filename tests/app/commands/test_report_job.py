"""The report as a job of the window: progress, the end, cancelling, failing. A small script stands in for Spark."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from pytestqt.qtbot import QtBot

from app.reports.jobs import Jobs
from app.reports.process import LOGS_KEPT, ReportNotMade, ReportProcess
from spark_reports.request.request import Request
from tests.app.conftest import Hand
from widgets.dialogs.export_report import ExportReportDialog
from widgets.panels.jobs import JobsPanel

GOOD = """
import json, pathlib, sys
out = pathlib.Path(sys.argv[3])
for done in range(5):
    print(json.dumps({"stage": f"Step {done}", "done": done, "total": 5, "fraction": done / 5}), flush=True)
print("noise that is not JSON", flush=True)
out.mkdir(parents=True)
(out / "report.html").write_text("<p>done</p>")
print(json.dumps({"report": str(out / "report.html")}))
"""
ENDLESS = """
import json, sys, time
print(json.dumps({"stage": "Working", "done": 0, "total": 1, "fraction": 0.0}), flush=True)
sys.stdin.read()
time.sleep(60)
"""
REFUSING = """
import json, sys
print(json.dumps({"error": "This session is of an unknown version."}))
sys.exit(2)
"""
FAILING = """
import json, sys
print(json.dumps({"error": "The report failed: No space left on device.", "log": "LOG"}), flush=True)
sys.exit(1)
"""
CRASHING = "import sys; print('java.lang.OutOfMemoryError: heap', file=sys.stderr); sys.exit(134)"


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that the desktop was asked to open."""
    paths: list[str] = []

    def open_url(url: QUrl) -> bool:
        paths.append(url.toLocalFile())
        return True

    monkeypatch.setattr(QDesktopServices, "openUrl", open_url)
    return paths


@pytest.fixture
def job_does(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], None]:
    """Put a script in the place of the Spark job; it gets the same arguments."""

    def use(script: str) -> None:
        path = tmp_path / "job.py"
        path.write_text(script)
        real = ReportProcess.__init__

        def init(self: ReportProcess, *arguments: object, **options: object) -> None:
            real(self, *arguments, **options)  # type: ignore[arg-type]
            self._arguments = [sys.executable, str(path), *self._arguments[3:]]

        monkeypatch.setattr(ReportProcess, "__init__", init)
        monkeypatch.setattr("app.reports.process.seal", lambda _folder: None)

    return use


def test_a_good_job_tells_its_progress_and_gives_the_page(job_does: Callable[[str], None], tmp_path: Path) -> None:
    job_does(GOOD)
    said: list[float] = []
    page = ReportProcess(Request(tmp_path, tmp_path / "out")).run(lambda progress: said.append(progress["fraction"]))
    assert page == tmp_path / "out" / "report.html"
    assert said == [0.0, 0.2, 0.4, 0.6, 0.8]


@pytest.mark.parametrize(
    ("script", "words"), [(REFUSING, "unknown version"), (CRASHING, "OutOfMemoryError: heap"), ("", "exit code 0")]
)
def test_a_job_that_fails_says_why(job_does: Callable[[str], None], tmp_path: Path, script: str, words: str) -> None:
    job_does(script)
    with pytest.raises(ReportNotMade, match=words):
        ReportProcess(Request(tmp_path, tmp_path / "out")).run(lambda _progress: None)


def test_a_cancelled_job_ends_soon_and_says_so(job_does: Callable[[str], None], tmp_path: Path, qtbot: QtBot) -> None:
    job_does(ENDLESS)
    jobs = Jobs()
    job = jobs.report(Request(tmp_path, tmp_path / "out"), "Report")
    qtbot.waitUntil(lambda: jobs.facts()[0].message == "Working", timeout=60_000)
    job.cancel()
    assert not jobs.facts()[0].cancellable
    qtbot.waitUntil(lambda: jobs.facts()[0].state == "Cancelled", timeout=60_000)
    assert jobs.running == []


def test_export_from_the_window(
    open_workbench: Callable[..., Hand], job_does: Callable[[str], None], opened: list[str], tmp_path: Path
) -> None:
    job_does(GOOD)
    hand = open_workbench(record=True)
    hand.workbench.jobs.keep_spark(False)  # the script stands in for a process of the report's own
    hand.pass_time(3)
    hand.qtbot.keyClick(hand.workbench.window, Qt.Key.Key_F8)
    hand.workbench.draw()
    hand.workbench.registry.trigger("export_report")
    dialog = hand.workbench.window.findChild(ExportReportDialog)
    assert dialog is not None
    dialog.folder.setText(str(tmp_path / "out"))
    hand.qtbot.mouseClick(dialog.accept_button, Qt.MouseButton.LeftButton)
    assert hand.workbench.window.shown_tab() == "jobs"
    jobs = hand.workbench.jobs
    hand.qtbot.waitUntil(lambda: jobs.facts()[0].state == "Done", timeout=60_000)
    assert opened == [str(tmp_path / "out" / "report.html")]
    row = hand.workbench.window.tab(JobsPanel).rows[0]
    assert not row.open_button.isHidden()


def test_the_log_of_a_job_that_failed_is_one_click_away(
    job_does: Callable[[str], None], tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.reports.process.logs_folder", lambda: tmp_path / "logs")
    job_does(CRASHING)
    jobs = Jobs()
    jobs.report(Request(tmp_path, tmp_path / "out"), "Report")
    qtbot.waitUntil(lambda: jobs.facts()[0].state == "Failed", timeout=60_000)
    facts = jobs.facts()[0]
    assert "OutOfMemoryError" in facts.message
    assert "OutOfMemoryError" in Path(facts.result).read_text(encoding="utf-8")


def test_every_failure_keeps_a_log_of_its_own_and_old_ones_go(
    job_does: Callable[[str], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.reports.process.logs_folder", lambda: tmp_path / "logs")
    job_does(CRASHING)
    logs = []
    for _ in range(LOGS_KEPT + 2):
        with pytest.raises(ReportNotMade) as told:
            ReportProcess(Request(tmp_path, tmp_path / "out")).run(lambda _progress: None)
        logs.append(Path(told.value.log))
    assert len(set(logs)) == len(logs)
    assert logs[-1].exists() and not logs[0].exists()
    assert len(list((tmp_path / "logs").iterdir())) == LOGS_KEPT


@pytest.mark.parametrize("keep", [False, True])
def test_the_row_of_a_report_that_failed_inside_spark_opens_its_log(
    open_workbench: Callable[..., Hand],
    job_does: Callable[[str], None],
    opened: list[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    keep: bool,
) -> None:
    """What the job says of its own log is kept: the next job, or the end of a kept Spark, takes the file away."""
    monkeypatch.setattr("app.reports.process.logs_folder", lambda: tmp_path / "logs")
    theirs = tmp_path / "spark.log"
    theirs.write_text("Caused by: java.io.IOException: No space left on device")
    failing = FAILING.replace("LOG", str(theirs))
    job_does(failing)
    (tmp_path / "warm.py").write_text(f"import sys\nsys.stdin.readline()\n{failing}")
    monkeypatch.setattr("app.reports.warm_spark.COMMAND", [sys.executable, str(tmp_path / "warm.py")])
    hand = open_workbench(record=True)
    hand.workbench.jobs.keep_spark(keep)
    hand.pass_time(3)
    hand.qtbot.keyClick(hand.workbench.window, Qt.Key.Key_F8)
    hand.workbench.draw()
    hand.workbench.registry.trigger("export_report")
    dialog = hand.workbench.window.findChild(ExportReportDialog)
    assert dialog is not None
    dialog.folder.setText(str(tmp_path / "out"))
    hand.qtbot.mouseClick(dialog.accept_button, Qt.MouseButton.LeftButton)
    jobs = hand.workbench.jobs
    hand.qtbot.waitUntil(lambda: jobs.facts()[0].state == "Failed", timeout=60_000)
    theirs.unlink()
    assert jobs.facts()[0].message == "The report failed: No space left on device."
    row = hand.workbench.window.tab(JobsPanel).rows[0]
    assert row.open_button.isVisible() and row.open_button.text() == "Open log"
    hand.qtbot.mouseClick(row.open_button, Qt.MouseButton.LeftButton)
    (log,) = opened
    assert "No space left on device" in Path(log).read_text(encoding="utf-8")
    assert Path(log).parent == tmp_path / "logs"
