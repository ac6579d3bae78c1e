from __future__ import annotations

from math import ceil

from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QDialogButtonBox, QTextBrowser, QWidget

from widgets.boxes import vbox
from widgets.dialogs.dialog import Dialog
from widgets.facts import named
from widgets.theme import px

NARROW, WIDE = (560, 460), (1040, 720)
LEAST_HEIGHT = 180
HEADING_TOP_MARGIN = 20
MARGIN, SPACING, INDENT = 16, 12, 18


class ReadingDialog(Dialog):
    """Markdown that ships with the program; never data. As high as its page needs, up to where it scrolls."""

    def __init__(self, title: str, markdown: str, parent: QWidget | None = None, *, wide: bool = False) -> None:
        """`wide` has room for lines of code."""
        super().__init__(title, parent)
        self.page = named(QTextBrowser(self, openLinks=False), title)
        self.page.setStyleSheet("QTextBrowser { border: none; background: transparent; padding: 0; }")
        self.page.document().setIndentWidth(px(INDENT))  # of a list; Qt's is 40
        self.page.setMarkdown(markdown)
        self._give_headings_room()
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.rejected.connect(self.reject)
        vbox((self.page, 1), buttons, on=self, margins=(MARGIN, MARGIN, MARGIN, MARGIN), spacing=SPACING)
        width, most = (px(length) for length in (WIDE if wide else NARROW))
        self.resize(width, min(most, max(px(LEAST_HEIGHT), self._needed(width) + buttons.sizeHint().height())))

    def _needed(self, width: int) -> int:
        self.page.ensurePolished()
        around = 2 * MARGIN
        text = self.page.document().clone(self)  # that of the page takes the width which the page has now
        text.setTextWidth(width - around)
        return ceil(text.size().height()) + around + SPACING

    def _give_headings_room(self) -> None:
        block = self.page.document().begin().next()  # the first has the dialog's margin
        while block.isValid():
            shape = block.blockFormat()
            if shape.headingLevel():
                shape.setTopMargin(HEADING_TOP_MARGIN)
                QTextCursor(block).setBlockFormat(shape)
            block = block.next()
