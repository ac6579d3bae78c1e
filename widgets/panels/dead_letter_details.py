"""One dead letter in full: facts, attempts, headers, payload, all of it as plain text."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QPlainTextEdit, QScrollArea, QVBoxLayout, QWidget

from widgets.facts import FactsGrid, let_wrap, plain_label, set_plain_tip
from widgets.i18n import tr
from widgets.long_text import wrap_for
from widgets.panels.cell_painter import tabular_font
from widgets.theme import mono_font

PAYLOAD_LINES = 7


@dataclass(frozen=True, slots=True)
class AttemptFacts:
    """One delivery, as texts; `hint` is the tool tip of its time."""

    number: int
    holder: str
    delivered: str
    lasted: str
    outcome: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class DeadLetterFacts:
    """A dead letter as texts; `facts` are (label, value) pairs, `headers` (name, value) pairs."""

    key: Hashable
    cause: str
    facts: tuple[tuple[str, str], ...]
    headers: tuple[tuple[str, str], ...]
    attempts: tuple[AttemptFacts, ...]
    payload: str


class DeadLetterDetails(QScrollArea):
    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMinimumWidth(220)
        self._shown: DeadLetterFacts | None = None
        self._inner = inner = QWidget(self)
        column = QVBoxLayout(inner)
        column.setContentsMargins(12, 6, 12, 12)
        column.setSpacing(6)
        self.cause = plain_label("", "heading", inner)
        self.cause.setWordWrap(True)
        self.cause.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.payload = QPlainTextEdit(inner)
        self.payload.setReadOnly(True)
        self.payload.setFont(mono_font())
        self.payload.setAccessibleName(tr("Payload"))
        self.payload.setFixedHeight(self.payload.fontMetrics().lineSpacing() * PAYLOAD_LINES)
        self.facts = FactsGrid(inner)
        self.headers = FactsGrid(inner)
        self._attempts = QWidget(inner)
        self._attempt_grid = QGridLayout(self._attempts)
        self._attempt_grid.setContentsMargins(0, 0, 0, 0)
        self._attempt_grid.setHorizontalSpacing(8)
        self._attempt_grid.setVerticalSpacing(4)
        self._headers_title = plain_label(tr("Headers"), "section", inner)
        self._attempts_title = plain_label(tr("Attempts"), "section", inner)
        column.addWidget(self.cause)
        column.addWidget(self._attempts_title)
        column.addWidget(self._attempts)
        column.addWidget(plain_label(tr("Payload"), "section", inner))
        column.addWidget(self.payload)
        column.addWidget(plain_label(tr("Facts"), "section", inner))
        column.addWidget(self.facts)
        column.addWidget(self._headers_title)
        column.addWidget(self.headers)
        column.addStretch(1)
        self.setWidget(inner)
        self._nothing = plain_label(tr("Select a dead letter to read it here."), "hint", self.viewport())
        self._nothing.setWordWrap(True)
        self.set_facts(None)

    def set_facts(self, facts: DeadLetterFacts | None) -> None:
        if facts == self._shown and self._inner.isVisibleTo(self) == (facts is not None):
            return
        self._shown = facts
        self._inner.setVisible(facts is not None)
        self._nothing.setVisible(facts is None)
        if facts is None:
            return
        self.cause.setText(facts.cause)
        if self.payload.toPlainText() != facts.payload:
            wrap_for(self.payload, facts.payload)
            self.payload.setPlainText(facts.payload)
        self.facts.set_facts(facts.facts)
        self.headers.set_facts(facts.headers)
        self._headers_title.setVisible(bool(facts.headers))
        self._attempts_title.setText(tr("Attempts ({count})", count=len(facts.attempts)))
        self._show_attempts(facts.attempts)

    def resizeEvent(self, event: object) -> None:
        super().resizeEvent(event)  # type: ignore[arg-type]
        self._nothing.setGeometry(self.viewport().rect())

    def _show_attempts(self, attempts: tuple[AttemptFacts, ...]) -> None:
        grid = self._attempt_grid
        while grid.count():
            item = grid.takeAt(0)
            widget = item.widget() if item is not None else None
            if widget is not None:
                widget.deleteLater()
        for row, attempt in enumerate(attempts):
            number = plain_label(f"{attempt.number}.", "muted", self._attempts)
            told = plain_label(
                f"{attempt.outcome}\n{attempt.holder}, {attempt.delivered}, {attempt.lasted}", "", self._attempts
            )
            for place, label in enumerate((number, told)):
                label.setFont(tabular_font())
                label.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
                grid.addWidget(label, row, place)
            let_wrap(told)
            told.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            set_plain_tip(told, attempt.hint)
        grid.setColumnStretch(1, 1)
