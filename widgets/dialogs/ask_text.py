from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLineEdit, QVBoxLayout, QWidget

from widgets.facts import let_wrap, plain_label


class AskTextDialog(QDialog):
    """`chosen(text)` when the line is accepted."""

    chosen = Signal(str)

    def __init__(
        self,
        title: str,
        about: str,
        button: str,
        text: str = "",
        *,
        why_not: Callable[[str], str] = lambda _text: "",
        parent: QWidget | None = None,
    ) -> None:
        """`why_not(text)` is the sentence that says what is wrong with a text; "" if nothing is."""
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setMinimumWidth(460)
        self._why_not = why_not
        self.line = QLineEdit(text, self)
        self.line.setAccessibleName(title)
        self.line.selectAll()
        self.problem = plain_label("", "error", self)
        words = plain_label(about, "muted", self)
        for label in (words, self.problem):
            let_wrap(label)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, self)
        self.accept_button = self.buttons.addButton(button, QDialogButtonBox.ButtonRole.AcceptRole)
        self.buttons.accepted.connect(self._accept)
        self.buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        for widget in (words, self.line, self.problem, self.buttons):
            column.addWidget(widget)
        self.line.textChanged.connect(lambda _text: self._judge())
        self._judge()

    def _judge(self) -> None:
        why = self._why_not(self.line.text())
        # An empty line is not wrong yet.
        shown = why if self.line.text().strip() else ""
        self.problem.setText(shown)
        self.problem.setVisible(bool(shown))
        self.accept_button.setEnabled(not why)

    def _accept(self) -> None:
        if not self._why_not(self.line.text()):
            self.chosen.emit(self.line.text().strip())
            self.accept()
