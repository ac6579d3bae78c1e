from __future__ import annotations

from collections.abc import Collection, Hashable
from pathlib import Path

from PySide6.QtCore import QTimer, QUrl
from PySide6.QtGui import QDesktopServices

from app.commands.context import CommandContext, Handlers, lacking
from app.presenters.reports import ReportsPresenter
from app.reports.recent import Reports
from app.sessions.cleaning import keep
from app.sessions.jobs import Job
from app.sessions.library import Entry, Library
from spark_reports.errors import ReportError
from spark_reports.request.assertions import check
from spark_reports.request.parts import PARTS
from spark_reports.request.request import Request
from widgets.dialogs.export_report import ExportReportDialog, ReportHabits, ReportWish, SessionChoice
from widgets.i18n import tr
from widgets.panels.jobs import JobsPanel
from widgets.panels.report import ReportPanel


def why_no_assertions(assertions: Collection[str], parts: Collection[str]) -> str:
    try:
        check(assertions, parts)
    except ReportError as error:
        return str(error)
    return ""


PREPARE_AFTER_MS = 2_000  # a session that ends is sealed first, and often the window closes with it


class ReportHandlers(Handlers):
    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        self._jobs = context.jobs
        self._open_when_finished: set[str] = set()
        self.reports = Reports(context.settings)
        context.registry.bind("export_report", self._ask_report, self._why_no_report)
        context.jobs.changed.connect(self._show_jobs)
        context.jobs.done.connect(self._report_done)
        self._controller.ending.connect(lambda: QTimer.singleShot(PREPARE_AFTER_MS, self, self._jobs.prepare_report))
        jobs, panel = context.window.tab(JobsPanel), context.window.tab(ReportPanel)
        jobs.cancelRequested.connect(lambda job_id: job.cancel() if (job := self._jobs.find(job_id)) else None)
        jobs.openRequested.connect(self._open_result)
        panel.opened.connect(self._open_report)
        chosen = panel.chosen_key
        unselected = lacking(chosen, tr("Select a report first."))
        context.registry.bind("open_report", lambda: self._open_report(chosen()), unselected)
        context.registry.bind("report_folder", lambda: self._open(Path(str(chosen()))), unselected)
        context.views.presenter(ReportsPresenter).reports = self.reports.all

    def _show_jobs(self) -> None:
        window = self._context.window
        window.tab(JobsPanel).set_jobs(self._jobs.facts())
        window.set_tab_count("jobs", len(self._jobs.running))

    def _entries(self) -> list[Entry]:
        folder = self._controller.source.folder
        others = [folder] if folder is not None else []
        return [entry for entry in Library(self._controller.sessions).entries(others) if not entry.recording]

    def _why_no_report(self) -> str:
        if self._controller.source.folder is None:
            return "" if self._controller.time.stopped else tr("This session is not recorded.")
        return "" if self._controller.time.stopped else tr("Stop the session first (F8); this seals its recording.")

    def _ask_report(self) -> None:
        entries, folder = self._entries(), self._controller.source.folder
        if not entries:
            self._context.show_message(tr("No session has been recorded yet, so there is nothing to report on."))
            return
        first = folder if folder is not None else entries[0].folder
        choices = [
            SessionChoice(str(entry.folder), entry.title, f"{entry.started}  {entry.lasted}  {entry.end}")
            for entry in entries
        ]
        self._jobs.prepare_report()
        dialog = ExportReportDialog(
            str(first / "report"),
            choices,
            {name: tr(part.heading) for name, part in PARTS.items()},
            str(first),
            self._context.settings.report_habits,
            self._context.window,
            judge=why_no_assertions,
        )
        dialog.exportRequested.connect(lambda wish: self._start_report(wish, dialog.habits()))
        dialog.open()

    def _start_report(self, wish: ReportWish, habits: ReportHabits) -> None:
        self._context.settings.report_habits = habits
        folders = Path(wish.session), Path(wish.folder)
        request = Request(*folders, wish.from_ns, wish.to_ns, wish.formats, wish.parts, wish.assertions)
        job = self._jobs.report(request, tr("Report of {name}", name=request.session.name))
        keep(request.session)
        if wish.open_when_finished:
            self._open_when_finished.add(job.facts.id)
        self._context.window.show_tab("jobs")

    def _report_done(self, job: Job) -> None:
        if job.folder is None:
            return
        self.reports.add(job.folder, job.facts.title)
        self._context.show_message(tr("The report has been written to {page}", page=job.result))
        if job.facts.id in self._open_when_finished:
            self._open_result(job.facts.id)

    def _open_result(self, job_id: str) -> None:
        job = self._jobs.find(job_id)
        if job is not None and job.facts.result:
            self._open(Path(job.facts.result))

    def _open_report(self, key: Hashable) -> None:
        for report in self.reports.all():
            if str(report.folder) == key:
                self._open(report.opens)

    def _open(self, path: Path) -> None:
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(path))):
            self._context.show_message(tr("No program opens this here; it is {path}", path=path))
