from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QDoubleSpinBox, QPlainTextEdit, QWidget

from widgets.boxes import hbox, vbox
from widgets.dialogs.dialog import MARGINS, Dialog
from widgets.facts import plain_label, set_why_not
from widgets.i18n import tr
from widgets.theme import mono_font


class Outcome(NamedTuple):
    """The plan of a redrive: how many would go where, and a line for each message examined."""

    going: int
    refused: int
    lines: Sequence[str]
    more: int = 0


class RedriveDialog(Dialog):
    """`redriveRequested(rate_per_s or None)` on Redrive. `set_outcome` fills in the dry run when it is there."""

    redriveRequested = Signal(object)

    def __init__(self, count: int, parent: QWidget | None = None) -> None:
        super().__init__(tr("Redrive"), parent, modal=True)
        self.head = plain_label(tr("{count} dead letters, back to their origin.", count=f"{count:,}"), "heading", self)
        self.outcome = plain_label(tr("Dry run in progress..."), "muted", self, wrap=True)
        self.lines = QPlainTextEdit(self, readOnly=True, lineWrapMode=QPlainTextEdit.LineWrapMode.NoWrap)
        self.lines.setFont(mono_font())
        self.lines.setAccessibleName(tr("Dry run"))
        self.limited = QCheckBox(tr("No faster than"), self)
        self.rate = QDoubleSpinBox(self, suffix=tr(" a second"))
        self.rate.setRange(0.1, 100_000)
        self.rate.setValue(10)
        self.rate.setEnabled(False)
        self.rate.setAccessibleName(tr("Rate"))
        self.limited.toggled.connect(self.rate.setEnabled)
        row = hbox(self.limited, self.rate, 1)
        self.make_buttons(tr("Redrive"))
        vbox(self.head, self.outcome, (self.lines, 1), row, self.buttons, on=self, margins=MARGINS, spacing=10)
        self.resize(560, 380)

    def set_outcome(self, outcome: Outcome) -> None:
        words = tr("Dry run: {going} would be appended.", going=f"{outcome.going:,}")
        if outcome.refused:
            words += " " + tr("{refused} would stay.", refused=f"{outcome.refused:,}")
        if outcome.more:
            words += " " + tr("The other {more} were not tried.", more=f"{outcome.more:,}")
        self.outcome.setText(words)
        self.lines.setPlainText("\n".join(outcome.lines))
        set_why_not(self.accept_button, "" if outcome.going or outcome.more else words)

    def _accept(self) -> None:
        self.accept()
        self.redriveRequested.emit(self.rate.value() if self.limited.isChecked() else None)
