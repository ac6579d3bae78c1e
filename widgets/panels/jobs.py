from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QLabel, QProgressBar, QSizePolicy, QWidget

from widgets.boxes import hbox, one_each, scrolled, vbox
from widgets.controls import plain_label, push_button, set_plain_tip, show_state
from widgets.i18n import tr
from widgets.panels.panel import Panel, declared
from widgets.theme import follow_theme


@dataclass(frozen=True, slots=True)
class JobFacts:
    """A job. `state` is Waiting, Running, Done, Failed or Cancelled; `progress` 0..1, None if it is not known.

    `result` names what the open button opens ("" for nothing to open), `cancellable` says whether it can be stopped.
    """

    id: str
    title: str
    state: str
    message: str = ""
    progress: float | None = None
    result: str = ""
    cancellable: bool = False


class JobRow(QFrame):
    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "card")
        self.facts: JobFacts | None = None
        self._icon = QLabel(self)
        self._title = plain_label("", "heading", self)
        self._state = plain_label("", "muted", self)
        self._message = plain_label("", "muted", self, wrap=True, selectable=True)
        self.bar = QProgressBar(self, textVisible=True)
        self.cancel_button = push_button(tr("Cancel"), self, by_tab=True)
        self.open_button = push_button(tr("Open"), self, role="primary", by_tab=True)
        # Not where Cancel was: a click on that which comes too late must open nothing.
        head = hbox(self._icon, self._title, self._state, self.open_button, 1, self.cancel_button, spacing=8)
        vbox(head, self.bar, self._message, on=self, margins=(12, 8, 12, 8), spacing=6)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        follow_theme(self._restyle)

    def _restyle(self) -> None:
        if self.facts is not None:
            show_state(self.facts.state, self._icon, self._state)

    def set_facts(self, facts: JobFacts) -> None:
        if facts == self.facts:
            return
        self.facts = facts
        self._restyle()
        self._title.setText(facts.title)
        self._message.setText(facts.message)
        self._message.setVisible(bool(facts.message))
        active = facts.state in ("Running", "Waiting")
        self.bar.setVisible(active)
        self.bar.setRange(0, 0 if facts.progress is None and active else 1000)
        if facts.progress is not None:
            self.bar.setValue(round(facts.progress * 1000))
        self.cancel_button.setVisible(active)
        self.cancel_button.setEnabled(facts.cancellable)
        self.cancel_button.setToolTip(
            tr("Stops it; nothing recorded is lost.") if facts.cancellable else tr("It is ending.")
        )
        self.open_button.setVisible(not active and bool(facts.result))
        self.open_button.setText(tr("Open") if facts.state == "Done" else tr("Open log"))
        set_plain_tip(self.open_button, tr("Opens {result}", result=facts.result) if facts.result else "")


class JobsPanel(Panel):
    """Jobs, the newest first. `cancelRequested(id)`, `openRequested(id)`."""

    info = declared("jobs")

    cancelRequested = Signal(str)
    openRequested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        self.rows: list[JobRow] = []
        super().__init__(parent)
        inner = QWidget(self)
        self._column = vbox(1, on=inner, margins=(12, 4, 12, 12), spacing=8)
        self.stack.addWidget(scrolled(inner, self))
        self.set_jobs(())

    def set_jobs(self, jobs: Sequence[JobFacts]) -> None:
        for row, facts in one_each(jobs, self.rows, self._add_row):
            row.set_facts(facts)
        active = sum(1 for job in jobs if job.state in ("Running", "Waiting"))
        self.set_count(
            tr("{count:,}, {active:,} running", count=len(jobs), active=active) if active else f"{len(jobs):,}"
        )
        self.show_body(bool(jobs))

    def _add_row(self, place: int) -> JobRow:
        row = JobRow(self)
        for button, wanted in ((row.cancel_button, self.cancelRequested), (row.open_button, self.openRequested)):
            button.clicked.connect(lambda _on=False, wanted=wanted: row.facts and wanted.emit(row.facts.id))
        self._column.insertWidget(place, row)
        return row
