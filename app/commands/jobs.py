from __future__ import annotations

import dataclasses
import threading
from abc import abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.reports.process import ReportError, ReportProcess
from app.reports.warm_spark import WarmSpark
from app.sessions.work import Cancelled, Work
from spark_reports.outcome import Outcome
from spark_reports.request import Request
from widgets.i18n import tr
from widgets.panels.jobs import JobFacts

FINAL_STATES = frozenset({"Done", "Failed", "Cancelled"})


class Job(QObject):
    """Work in a thread. `changed` comes in the window's thread; `page` is what it has written to read, if anything."""

    changed = Signal()
    _progressed = Signal(float, str)
    _ended = Signal(str, str, object)

    def __init__(self, job_id: str, title: str, beginning: str, parent: QObject | None) -> None:
        super().__init__(parent)
        self.page: Path | None = None
        self.facts = JobFacts(job_id, title, "Running", beginning, progress=None, cancellable=True)
        self._cancelling = False
        self._thread = threading.Thread(target=self._work, name=job_id, daemon=True)
        self._progressed.connect(self._show_progress)
        self._ended.connect(self._show_end)

    def start(self) -> None:
        self._thread.start()

    def cancel(self) -> None:
        """Ask it to stop. It leaves nothing half-written, and says when it has stopped."""
        if self.facts.state not in FINAL_STATES and not self._cancelling:
            self._cancelling = True
            self._show(message=tr("Cancelling"), cancellable=False)
            threading.Thread(target=self._stop, name="cancel", daemon=True).start()

    def finish(self, timeout_s: float) -> None:
        self._stop()
        self._thread.join(timeout_s)

    @abstractmethod
    def _work(self) -> None:
        """Do it, in a thread of its own, and tell its end."""

    @abstractmethod
    def _stop(self) -> None:
        """Let it end soon."""

    def _show(self, **changes: Any) -> None:
        self.facts = dataclasses.replace(self.facts, **changes)
        self.changed.emit()

    def _show_progress(self, fraction: float, message: str) -> None:
        if not self._cancelling and self.facts.state not in FINAL_STATES:
            self._show(message=message, progress=fraction)

    def _show_end(self, state: str, message: str, _result: object) -> None:
        progress = 1.0 if state == "Done" else self.facts.progress
        self._show(state=state, message=message, progress=progress, cancellable=False)


class ReportJob(Job):
    written = Signal()  # the page is there; more may be made
    _paged = Signal(str)

    def __init__(
        self, job_id: str, request: Request, title: str, warm: WarmSpark | None = None, parent: QObject | None = None
    ) -> None:
        super().__init__(job_id, title, tr("Starting Spark"), parent)
        self._process = ReportProcess(request, warm)
        self.folder = Path(request.out)
        self._paged.connect(self._show_page)

    def _stop(self) -> None:
        self._process.cancel()

    def _work(self) -> None:
        try:
            page = str(self._process.run(self._tell))
        except ReportError as error:
            self._ended.emit("Cancelled" if self._process.cancelled else "Failed", str(error), error.log)
        except OSError as error:
            self._ended.emit("Failed", tr("The report job could not be started: {error}.", error=error), "")
        else:
            self._paged.emit(page)
            self._ended.emit("Done", _written(page, self._process.outcome), page)

    def _tell(self, progress: dict[str, Any]) -> None:
        self._progressed.emit(float(progress["fraction"]), str(progress["stage"]))
        if "page" in progress:
            self._paged.emit(str(progress["page"]))

    def _show_page(self, page: str) -> None:
        if self.page is None:
            self.page = Path(page)
            self._show(result=page)
            self.written.emit()

    def _show_end(self, state: str, message: str, result: object) -> None:
        self.facts = dataclasses.replace(self.facts, result=str(result))
        super()._show_end(state, message, result)


def _written(page: str, outcome: Outcome) -> str:
    if outcome.problems:
        return tr("Written to {page}; the recording is incomplete: {problem}", page=page, problem=outcome.problems[0])
    if outcome.failed:
        return tr("Written to {page}; {problem}", page=page, problem=outcome.failed[0])
    if outcome.not_hold:
        count = len(outcome.not_hold)
        words = tr("1 assertion does not hold") if count == 1 else tr("{count} assertions do not hold", count=count)
        return tr("Written to {page}; {words}", page=page, words=words)
    return tr("Written to {message}", message=page)


class WorkJob(Job):
    """A function in a thread; `result` is what it returned, once it is done."""

    def __init__(
        self,
        job_id: str,
        title: str,
        work: Callable[[Work], object],
        describe: Callable[[Any], str],
        parent: QObject | None = None,
    ) -> None:
        """`describe(result)` is the sentence of a good end."""
        super().__init__(job_id, title, tr("Starting"), parent)
        self._function = work
        self._describe = describe
        self._handle = Work(self._progressed.emit)
        self.result: Any = None

    def _stop(self) -> None:
        self._handle.cancelled = True

    def _work(self) -> None:
        try:
            result = self._function(self._handle)
        except Cancelled:
            self._ended.emit("Cancelled", tr("Cancelled; nothing was left half-done."), None)
        except Exception as error:  # the job ends and reports any error
            self._ended.emit("Failed", str(error) or type(error).__name__, None)
        else:
            self._ended.emit("Done", "", result)

    def _show_end(self, state: str, message: str, result: object) -> None:
        self.result = result
        super()._show_end(state, self._describe(result) if state == "Done" else message, result)


class Jobs(QObject):
    """All jobs of this window, the newest first. `changed` when any of them does, `done(job)` at a good end,
    `written(job)` when the page of a report is there.
    """

    changed = Signal()
    done = Signal(object)
    written = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs: list[Job] = []
        self._warm: WarmSpark | None = None
        self._reported: set[str] = set()

    def report(self, request: Request, title: str) -> ReportJob:
        job = ReportJob(f"report-{len(self._jobs) + 1}", request, title, self._warm, self)
        job.written.connect(lambda: self.written.emit(job))
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

    def work(self, title: str, work: Callable[[Work], object], describe: Callable[[Any], str]) -> WorkJob:
        job = WorkJob(f"work-{len(self._jobs) + 1}", title, work, describe, self)
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
