"""A page of our own text to read: help, licences."""

from __future__ import annotations

from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QTextBrowser, QVBoxLayout, QWidget

NARROW, WIDE = (560, 460), (1040, 720)
HEADING_TOP_MARGIN = 20


class ReadingDialog(QDialog):
    """Markdown that ships with the program; never data."""

    def __init__(self, title: str, markdown: str, parent: QWidget | None = None, *, wide: bool = False) -> None:
        """`wide` has room for lines of code."""
        super().__init__(parent)
        self.setWindowTitle(title)
        self.resize(*(WIDE if wide else NARROW))
        self.page = QTextBrowser(self)
        self.page.setOpenLinks(False)
        self.page.setAccessibleName(title)
        self.page.setMarkdown(markdown)
        self._give_headings_room()
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(12)
        column.addWidget(self.page, 1)
        column.addWidget(buttons)

    def _give_headings_room(self) -> None:
        block = self.page.document().begin().next()  # the first has the dialog's margin
        while block.isValid():
            shape = block.blockFormat()
            if shape.headingLevel():
                shape.setTopMargin(HEADING_TOP_MARGIN)
                QTextCursor(block).setBlockFormat(shape)
            block = block.next()
