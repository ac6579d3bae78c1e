"""What must hold of a session, one assertion a line."""

from __future__ import annotations

from PySide6.QtWidgets import QPlainTextEdit, QWidget

from widgets.i18n import tr

LINES = 2


class AssertionsField(QPlainTextEdit):
    """`assertions()` are its lines; blank ones are none."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(tr("What must hold"))
        self.setPlaceholderText(tr('p99 < 200 ms, or lag("billing") < 100: one a line; the report says what holds'))
        self.setTabChangesFocus(True)
        self.setFixedHeight(self.fontMetrics().lineSpacing() * LINES + 2 * self.frameWidth() + 24)

    def assertions(self) -> tuple[str, ...]:
        """What is written, in order."""
        return tuple(line.strip() for line in self.toPlainText().splitlines() if line.strip())
