"""The report of a session, as a job."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, QUrl
from PySide6.QtGui import QDesktopServices

from app.actions import Command
from app.desk import Desk
from app.jobs import Job, ReportJob
from widgets.dialogs.export_report import ExportReportDialog


class ReportHandlers(QObject):
    """Export report..., and the panel Jobs."""

    COMMANDS = (
        Command("export_report", "Export report...", "File", "Ctrl+E", "report", "Makes a report of the session."),
    )

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk.window)
        self._desk, self._player, self._jobs = desk, desk.player, desk.jobs
        self._open_when_finished: set[str] = set()
        desk.registry.bind("export_report", self._ask_report, self._why_no_report)
        desk.jobs.changed.connect(lambda: desk.views.show_jobs(desk.jobs.facts()))
        desk.jobs.done.connect(self._report_done)
        panel = desk.window.parts.jobs
        panel.cancelRequested.connect(self._cancel_job)
        panel.openRequested.connect(self._open_result)

    def _why_no_report(self) -> str:
        if self._player.folder is None:
            return "This session is not recorded."
        return "" if self._player.stopped else "Stop the session first (F8): its recording is sealed then."

    def _ask_report(self) -> None:
        folder = self._player.folder
        assert folder is not None
        dialog = ExportReportDialog(
            str(folder / "report"), f"A report of the session recorded in {folder}.", parent=self._desk.window
        )
        dialog.exportRequested.connect(self._start_report)
        dialog.open()

    def _start_report(self, out: str, open_when_finished: bool) -> None:
        folder = self._player.folder
        assert folder is not None
        job = self._jobs.report(folder, Path(out))
        if open_when_finished:
            self._open_when_finished.add(job.facts.id)
        self._desk.window.show_tab("jobs")

    def _report_done(self, job: Job) -> None:
        if not isinstance(job, ReportJob):
            return
        self._desk.say(f"The report is written: {job.page}")
        if job.facts.id in self._open_when_finished:
            self._open_result(job.facts.id)

    def _cancel_job(self, job_id: str) -> None:
        job = self._jobs.find(job_id)
        if job is not None:
            job.cancel()

    def _open_result(self, job_id: str) -> None:
        job = self._jobs.find(job_id)
        if job is not None and job.page is not None and not QDesktopServices.openUrl(QUrl.fromLocalFile(str(job.page))):
            self._desk.say(f"No program opens web pages here; the report is {job.page}")
