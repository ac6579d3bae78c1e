from __future__ import annotations

from math import ceil

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtGui import QFont, QShowEvent, QTextCursor
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLayout, QTableWidget, QTableWidgetItem, QTextBrowser, QWidget

from widgets.boxes import hbox, scrolled, vbox
from widgets.controls import named
from widgets.i18n import tr
from widgets.theme import follow_theme, px, tabular_font
from widgets.window_layout import NO_LIMIT

MARGINS = (16, 14, 16, 14)
AROUND = 24  # pixels of the window that stay in sight


class Dialog(QDialog):
    def __init__(self, title: str, parent: QWidget | None, *, modal: bool = False, once: bool = False) -> None:
        """With `once`, the dialog is deleted when it closes."""
        super().__init__(parent, modal=modal)
        self.setWindowTitle(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, once)
        follow_theme(self._follow_type)

    def largest(self) -> QSize:
        """How large it may be: a little less than its window."""
        window = self.parentWidget()
        return QSize(NO_LIMIT, NO_LIMIT) if window is None else window.window().size() - QSize(AROUND, AROUND)

    def showEvent(self, event: QShowEvent) -> None:
        self.fit()
        super().showEvent(event)

    def _follow_type(self) -> None:
        if self.isVisible():
            QTimer.singleShot(0, self, self.fit)

    def fit(self) -> None:
        """No part lies over another, and none is cut: what is larger than the window scrolls, above the buttons."""
        layout, most = self.layout(), self.largest()
        if layout is None:
            return
        layout.activate()
        least = layout.totalMinimumSize()
        width = min(max(self.width(), least.width()), most.width())
        least.setHeight(max(least.height(), layout.totalMinimumHeightForWidth(width)))
        if least.boundedTo(most) != least and layout.count() > 1:
            parts: list[QLayout] = []
            last = layout.itemAt(layout.count() - 1)
            if last is not None and isinstance(buttons := last.widget(), QDialogButtonBox):
                layout.removeWidget(buttons)
                parts.append(hbox(buttons, margins=(MARGINS[0], 8, *MARGINS[2:])))
            inner = QWidget(self)
            inner.setLayout(layout)
            area = scrolled(inner, self)
            area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
            self.setMinimumSize(0, 0)  # that of the layout
            vbox((area, 1), *parts, on=self, margins=(0, 0, 0, 0), spacing=0)
            least.setWidth(least.width() + area.verticalScrollBar().sizeHint().width())
        self.resize(self.size().expandedTo(least).boundedTo(most))

    def make_buttons(self, accept: str, reject: str = "") -> None:
        """`accept_button` does `_accept`. What is made later comes after the buttons for the Tab key."""
        self.buttons = QDialogButtonBox(self)
        self.accept_button = self.buttons.addButton(accept, QDialogButtonBox.ButtonRole.AcceptRole)
        self.accept_button.setDefault(True)
        self.cancel_button = self.buttons.addButton(reject or tr("Cancel"), QDialogButtonBox.ButtonRole.RejectRole)
        self.buttons.accepted.connect(self._accept)
        self.buttons.rejected.connect(self.reject)

    def _accept(self) -> None:
        self.accept()


class TextTable(QTableWidget):
    def __init__(self, rows: int, columns: int, name: str, parent: QWidget | None = None) -> None:
        super().__init__(rows, columns, parent)
        self.setAccessibleName(name)
        self.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QTableWidget.SelectionBehavior.SelectRows)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.verticalHeader().hide()
        self.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)

    def put(self, row: int, column: int, text: str, *, bold: bool = False) -> QTableWidgetItem:
        item = QTableWidgetItem(text)
        item.setFont(tabular_font(weight=QFont.Weight.Bold if bold else QFont.Weight.Normal))
        self.setItem(row, column, item)
        return item


NARROW, WIDE = (560, 460), (1040, 720)
LEAST_HEIGHT = 180
HEADING_TOP_MARGIN = 20
READING_MARGIN, SPACING, INDENT = 16, 12, 18


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
        vbox((self.page, 1), buttons, on=self, margins=(READING_MARGIN,) * 4, spacing=SPACING)
        width, most = (px(length) for length in (WIDE if wide else NARROW))
        self.resize(width, min(most, max(px(LEAST_HEIGHT), self._needed(width) + buttons.sizeHint().height())))

    def _needed(self, width: int) -> int:
        self.page.ensurePolished()
        around = 2 * READING_MARGIN
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
