"""Long work beside the window: each job has a thread, progress, and an end that is told in one sentence."""

from __future__ import annotations

import dataclasses
import threading
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.report_process import ReportError, ReportProcess
from widgets.panels.jobs import JobFacts

FINAL_STATES = frozenset({"Done", "Failed", "Cancelled"})


class ReportJob(QObject):
    """The report of one session. `changed` comes in the window's thread."""

    changed = Signal()
    _said = Signal(dict)
    _ended = Signal(str, str)

    def __init__(self, job_id: str, session: Path, out: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._process = ReportProcess(session, out)
        self._cancelling = False
        self.page: Path | None = None
        self.facts = JobFacts(
            job_id, f"Report of {session.name}", "Running", "Starting Spark", progress=None, cancellable=True
        )
        self._said.connect(self._show_progress)
        self._ended.connect(self._show_end)
        self._thread = threading.Thread(target=self._work, name=job_id, daemon=True)

    def start(self) -> None:
        """Begin; returns at once."""
        self._thread.start()

    def cancel(self) -> None:
        """Ask it to stop. It leaves nothing half-written, and says when it has stopped."""
        if self.facts.state in FINAL_STATES or self._cancelling:
            return
        self._cancelling = True
        self._show(message="Cancelling", cancellable=False)
        threading.Thread(target=self._process.cancel, name="cancel", daemon=True).start()

    def finish(self, timeout_s: float) -> None:
        """Cancel, and wait for the end: for closing the program."""
        self._process.cancel()
        self._thread.join(timeout_s)

    def _work(self) -> None:
        try:
            page = self._process.run(self._said.emit)
        except ReportError as error:
            self._ended.emit("Cancelled" if self._process.cancelled else "Failed", str(error))
        except OSError as error:
            self._ended.emit("Failed", f"The report job could not be started: {error}.")
        else:
            self._ended.emit("Done", str(page))

    def _show_progress(self, said: dict[str, Any]) -> None:
        if not self._cancelling:
            self._show(message=str(said["stage"]), progress=float(said["fraction"]))

    def _show_end(self, state: str, message: str) -> None:
        if state == "Done":
            self.page = Path(message)
            self._show(state=state, message=f"Written to {message}", result=message, progress=1.0, cancellable=False)
        else:
            self._show(state=state, message=message, cancellable=False)

    def _show(self, **changes: Any) -> None:
        self.facts = dataclasses.replace(self.facts, **changes)
        self.changed.emit()


class Jobs(QObject):
    """All jobs of this window, the newest first. `changed` when any of them does, `done(job)` at a good end."""

    changed = Signal()
    done = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs: list[ReportJob] = []
        self._told: set[str] = set()

    def report(self, session: Path, out: Path) -> ReportJob:
        """Start the report of `session` into `out`."""
        job = ReportJob(f"report-{len(self._jobs) + 1}", session, out, self)
        self._jobs.insert(0, job)
        job.changed.connect(lambda: self._job_changed(job))
        job.start()
        self.changed.emit()
        return job

    def facts(self) -> list[JobFacts]:
        """What the panel shows."""
        return [job.facts for job in self._jobs]

    def find(self, job_id: str) -> ReportJob | None:
        """The job with that id."""
        return next((job for job in self._jobs if job.facts.id == job_id), None)

    @property
    def running(self) -> list[ReportJob]:
        """Jobs that have not ended."""
        return [job for job in self._jobs if job.facts.state not in FINAL_STATES]

    def _job_changed(self, job: ReportJob) -> None:
        self.changed.emit()
        if job.facts.state == "Done" and job.facts.id not in self._told:
            self._told.add(job.facts.id)
            self.done.emit(job)
