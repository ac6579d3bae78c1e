"""Edit...: what a redrive of a dead letter appends in its place."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QVBoxLayout, QWidget

from widgets.dialogs.message_form import MessageForm
from widgets.facts import plain_label, set_plain_tip
from widgets.i18n import tr


class EditDeadLetterDialog(QDialog):
    """`editRequested(MessageText, redrive)`: keep the edit, and redrive at once where `redrive` is true."""

    editRequested = Signal(object, bool)

    def __init__(self, cause: str, origin: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Edit a dead letter"))
        self.setModal(True)
        self.form = MessageForm(self)
        self.problem = plain_label("", "problem", self)
        self.problem.setWordWrap(True)
        about = plain_label(
            tr("It died of: {cause}. A redrive appends this to {origin} in its place.", cause=cause, origin=origin),
            "muted",
            self,
        )
        about.setWordWrap(True)
        buttons = QDialogButtonBox(self)
        self.redrive = buttons.addButton(tr("Redrive now"), QDialogButtonBox.ButtonRole.AcceptRole)
        self.keep = buttons.addButton(tr("Save the edit"), QDialogButtonBox.ButtonRole.ApplyRole)
        buttons.addButton(QDialogButtonBox.StandardButton.Cancel)
        self.redrive.setDefault(True)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 14, 16, 14)
        column.setSpacing(10)
        column.addWidget(about)
        column.addWidget(self.form, 1)
        column.addWidget(self.problem)
        column.addWidget(buttons)
        self.redrive.clicked.connect(lambda: self._done(redrive=True))
        self.keep.clicked.connect(lambda: self._done(redrive=False))
        buttons.rejected.connect(self.reject)
        self.form.changed.connect(self._judge)
        self.resize(600, 420)

    def _judge(self) -> None:
        problem = self.form.problem()
        self.problem.setText(problem)
        for button in (self.redrive, self.keep):
            button.setEnabled(not problem)
            set_plain_tip(button, problem)

    def _done(self, *, redrive: bool) -> None:
        if not self.form.problem():
            self.accept()
            self.editRequested.emit(self.form.message(), redrive)
