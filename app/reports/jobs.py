"""The jobs of a window: reports, and other work in a thread."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.reports.process import ReportNotMade, ReportProcess
from app.reports.warm_spark import WarmSpark
from app.sessions.jobs import FINAL_STATES, Job, Work
from spark_reports.jobs.outcome import Outcome
from spark_reports.request.request import Request
from widgets.i18n import tr
from widgets.panels.jobs import JobFacts


def _report(process: ReportProcess, job: Job) -> str:
    """Make the report, in the job's thread; the path of its page."""

    def tell(progress: dict[str, Any]) -> None:
        job.progressed.emit(float(progress["fraction"]), str(progress["stage"]))

    try:
        return str(process.run(tell))
    except OSError as error:
        raise ReportNotMade(tr("The report job could not be started: {error}.", error=error)) from error


def _written(page: str, outcome: Outcome) -> str:
    if outcome.problems:
        return tr("Written to {page}; the recording is incomplete: {problem}", page=page, problem=outcome.problems[0])
    if outcome.failed:
        return tr("Written to {page}; {problem}", page=page, problem=" ".join(outcome.failed))
    if outcome.not_hold:
        count = len(outcome.not_hold)
        words = tr("1 assertion does not hold") if count == 1 else tr("{count} assertions do not hold", count=count)
        return tr("Written to {page}; {words}", page=page, words=words)
    return tr("Written to {message}", message=page)


class Jobs(QObject):
    """All jobs of this window, the newest first. `changed` when any of them does, `done(job)` at a good end."""

    changed = Signal()
    done = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs: list[Job] = []
        self._warm: WarmSpark | None = None
        self._reported: set[str] = set()

    def report(self, request: Request, title: str) -> Job:
        process = ReportProcess(request, self._warm)
        job = Job(
            f"report-{len(self._jobs) + 1}",
            title,
            lambda _work: _report(process, job),
            lambda page: _written(page, process.outcome),
            self,
            beginning=tr("Starting Spark"),
            stop=process.cancel,
            opens=str,
        )
        job.folder = Path(request.out)
        self._begin(job)
        return job

    def keep_spark(self, on: bool) -> None:
        if not on:
            self.close()
        elif self._warm is None:
            self._warm = WarmSpark()

    def prepare_report(self) -> None:
        if self._warm is not None:
            self._warm.prepare()

    def close(self) -> None:
        warm, self._warm = self._warm, None
        if warm is not None:
            warm.close()

    def work(self, title: str, work: Callable[[Work], object], describe: Callable[[Any], str], **more: Any) -> Job:
        job = Job(f"work-{len(self._jobs) + 1}", title, work, describe, self, **more)
        self._begin(job)
        return job

    def _begin(self, job: Job) -> None:
        self._jobs.insert(0, job)
        job.changed.connect(lambda: self._job_changed(job))
        job.start()
        self.changed.emit()

    def facts(self) -> list[JobFacts]:
        return [job.facts for job in self._jobs]

    def find(self, job_id: str) -> Job | None:
        return next((job for job in self._jobs if job.facts.id == job_id), None)

    @property
    def running(self) -> list[Job]:
        return [job for job in self._jobs if job.facts.state not in FINAL_STATES]

    def _job_changed(self, job: Job) -> None:
        self.changed.emit()
        if job.facts.state == "Done" and job.facts.id not in self._reported:
            self._reported.add(job.facts.id)
            self.done.emit(job)
