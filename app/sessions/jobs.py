"""Work in a thread of its own, which says how far it is and can be cancelled."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from widgets.i18n import tr
from widgets.panels.jobs import JobFacts

FINAL_STATES = frozenset({"Done", "Failed", "Cancelled"})


class Cancelled(Exception):
    """Raised by `Work.report` once the job was cancelled: the work tidies up and lets it pass."""


class Work:
    """The argument of a `Job`'s function: reports progress, and learns of cancellation."""

    def __init__(self, report: Callable[[float, str], object]) -> None:
        self._report = report
        self.cancelled = False

    def report(self, fraction: float, message: str) -> None:
        """`fraction` is done, `message` comes next. Raises `Cancelled` after a cancellation."""
        if self.cancelled:
            raise Cancelled
        self._report(fraction, message)


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
        opens: Callable[[Any], object] = lambda _result: "",
    ) -> None:
        """`describe(result)` is the sentence of a good end, `opens(result)` the path that the button then opens; `stop`
        ends work that does not ask whether to go on.
        """
        super().__init__(parent)
        self.folder: Path | None = None
        self.result: Any = None
        self.facts = JobFacts(job_id, title, "Running", beginning or tr("Starting"), progress=None, cancellable=True)
        self._function, self._describe, self._stop_work, self._opens = work, describe, stop, opens
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
        except Exception as error:  # the job ends and reports any error
            state = "Cancelled" if self._handle.cancelled else "Failed"
            self._ended.emit(state, str(error) or type(error).__name__, getattr(error, "log", ""))
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
            told = {"message": self._describe(result), "result": str(self._opens(result))}
            self._show(state=state, progress=1.0, cancellable=False, **told)
        else:  # the result is the path of a log, "" for none
            self._show(state=state, message=message, result=result, cancellable=False)
