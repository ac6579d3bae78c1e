from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.reports.process import ReportError, ReportProcess
from app.reports.warm_spark import WarmSpark
from app.sessions.queries import Cancelled, Work
from spark_reports.jobs.outcome import Outcome
from spark_reports.request.request import Request
from widgets.i18n import tr
from widgets.panels.jobs import JobFacts

FINAL_STATES = frozenset({"Done", "Failed", "Cancelled"})


class Job(QObject):
    """Work in a thread. `changed` comes in the window's thread; `result` is what the work returned, once it is done.

    `folder` is where a report goes, None for other work.
    """

    changed = Signal()
    progressed = Signal(float, str)
    _ended = Signal(str, str, object)

    def __init__(
        self,
        job_id: str,
        title: str,
        work: Callable[[Work], object],
        describe: Callable[[Any], str],
        parent: QObject | None = None,
        *,
        beginning: str = "",
        stop: Callable[[], object] = lambda: None,
    ) -> None:
        """`describe(result)` is the sentence of a good end; `stop` ends work that does not ask whether to go on."""
        super().__init__(parent)
        self.folder: Path | None = None
        self.result: Any = None
        self.facts = JobFacts(job_id, title, "Running", beginning or tr("Starting"), progress=None, cancellable=True)
        self._function, self._describe, self._stop_work = work, describe, stop
        self._handle = Work(self.progressed.emit)
        self._cancelling = False
        self._thread = threading.Thread(target=self._work, name=job_id, daemon=True)
        self.progressed.connect(self._show_progress)
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

    def _stop(self) -> None:
        self._handle.cancelled = True
        self._stop_work()

    def _work(self) -> None:
        try:
            result = self._function(self._handle)
        except Cancelled:
            self._ended.emit("Cancelled", tr("Cancelled; nothing was left half-done."), "")
        except ReportError as error:
            self._ended.emit("Cancelled" if self._handle.cancelled else "Failed", str(error), error.log)
        except Exception as error:  # the job ends and reports any error
            self._ended.emit("Failed", str(error) or type(error).__name__, "")
        else:
            self._ended.emit("Done", "", result)

    def _show(self, **changes: Any) -> None:
        self.facts = dataclasses.replace(self.facts, **changes)
        self.changed.emit()

    def _show_progress(self, fraction: float, message: str) -> None:
        if not self._cancelling and self.facts.state not in FINAL_STATES:
            self._show(message=message, progress=fraction)

    def _show_end(self, state: str, message: str, result: Any) -> None:
        if state == "Done":
            self.result = result
            page = "" if self.folder is None else result
            self._show(state=state, message=self._describe(result), progress=1.0, cancellable=False, result=page)
        else:  # the result is the path of a log, "" for none
            self._show(state=state, message=message, result=result, cancellable=False)


def _report(process: ReportProcess, job: Job) -> str:
    """Make the report, in the job's thread; the path of its page."""

    def tell(progress: dict[str, Any]) -> None:
        job.progressed.emit(float(progress["fraction"]), str(progress["stage"]))

    try:
        return str(process.run(tell))
    except OSError as error:
        raise ReportError(tr("The report job could not be started: {error}.", error=error)) from error


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

    def work(self, title: str, work: Callable[[Work], object], describe: Callable[[Any], str]) -> Job:
        job = Job(f"work-{len(self._jobs) + 1}", title, work, describe, self)
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
