from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from PySide6.QtCore import QEvent, QMimeData, QObject, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextCursor,
    QTextFormat,
)
from PySide6.QtWidgets import QFrame, QListWidget, QListWidgetItem, QPlainTextEdit, QTextEdit, QWidget

from widgets.i18n import tr
from widgets.long_text import text_after_paste
from widgets.panels.cell_painter import as_plain
from widgets.theme import current_theme, mono_font, px, qcolour

ROWS = 9
_REST = re.compile(r"[\w.-]*")  # of the word that the cursor is in
_TEXT = Qt.ItemDataRole.UserRole
_TAKES = frozenset({Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Tab})
_MOVES = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: ROWS, Qt.Key.Key_PageUp: -ROWS}


class Word(NamedTuple):
    text: str
    about: str = ""


# For a text and a place in it: where the word there begins, and what it may be.
Complete = Callable[[str, int], tuple[int, Sequence[Word]]]


class CompletionList(QListWidget):
    """Opens below the cursor of `field` while a word is written, and on Ctrl+Space.

    Up and Down choose, Enter and Tab take, Escape closes it. The focus stays in the field.
    """

    def __init__(self, field: QPlainTextEdit, complete: Complete) -> None:
        super().__init__(field)
        self._field = field
        self._complete = complete
        self._start = 0
        self.setFont(mono_font())
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setFrameShape(QFrame.Shape.Box)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(tr("What you can write here"))
        self.hide()
        self.itemClicked.connect(lambda _item: self._take())
        field.installEventFilter(self)
        field.cursorPositionChanged.connect(self._on_moved)

    def open(self) -> None:
        """List what may be written at the cursor; nothing opens if there is nothing."""
        cursor = self._field.textCursor()
        self._start, words = self._complete(self._field.toPlainText(), cursor.position())
        written = self._field.toPlainText()[self._start : cursor.position()]
        self.clear()
        theme = current_theme()
        self.setStyleSheet(f"border: 1px solid {theme.colour('border_strong')};")
        if not words or [word.text.strip().rstrip(":") for word in words] == [written]:
            self.hide()
            return
        for word in words:
            item = QListWidgetItem(f"{word.text.strip()}   {word.about}".rstrip(), self)
            item.setData(_TEXT, word.text)
            item.setToolTip(as_plain(word.about))
        self.setCurrentRow(0)
        self._place(cursor)
        self.show()
        self.raise_()

    def _place(self, cursor: QTextCursor) -> None:
        rows = min(self.count(), ROWS)
        height = rows * self.sizeHintForRow(0) + 2 * self.frameWidth() + px(4)
        width = min(self.sizeHintForColumn(0) + px(36), self._field.width() - px(20))
        caret = self._field.cursorRect(cursor)
        at = self._field.viewport().mapTo(self._field, caret.bottomLeft())
        above = self._field.viewport().mapTo(self._field, caret.topLeft()).y() - height
        y = at.y() + 2 if at.y() + height <= self._field.height() or above < 0 else above
        self.resize(width, height)
        self.move(QPoint(max(0, min(at.x(), self._field.width() - width - px(4))), y))

    def _on_moved(self) -> None:
        cursor = self._field.textCursor()
        if self.isVisible() and (cursor.position() < self._start or cursor.hasSelection()):
            self.hide()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._field and event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            return self._on_key(event)
        if watched is self._field and event.type() == QEvent.Type.FocusOut:
            self.hide()
        return False

    def _on_key(self, event: QKeyEvent) -> bool:
        control = event.modifiers() & Qt.KeyboardModifier.ControlModifier
        if event.key() == Qt.Key.Key_Space and control:
            self.open()
            return True
        if not self.isVisible() or control:
            return False
        if event.key() in _TAKES:
            self._take()
        elif event.key() == Qt.Key.Key_Escape:
            self.hide()
        elif event.key() in _MOVES:
            self.setCurrentRow(max(0, min(self.count() - 1, self.currentRow() + _MOVES[Qt.Key(event.key())])))
        else:
            return False
        return True

    def _take(self) -> None:
        item = self.currentItem()
        if item is None:
            return
        cursor = self._field.textCursor()
        rest = _REST.match(self._field.toPlainText(), cursor.position())
        cursor.setPosition(self._start if rest is None else rest.end())
        cursor.setPosition(self._start, QTextCursor.MoveMode.KeepAnchor)
        self.hide()
        cursor.insertText(item.data(_TEXT))
        self._field.setTextCursor(cursor)


MOST_CHARS = 200_000


class _Margin(QWidget):
    def __init__(self, field: CodeField) -> None:
        super().__init__(field)
        self._field = field

    def sizeHint(self) -> QSize:
        return QSize(self._field.margin_width(), 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        self._field.paint_margin(event)


class CodeField(QPlainTextEdit):
    """Plain text in the fixed-width face. Two spaces for Tab, and a new line begins where the last one did.

    `pasteRefused(characters)` where the text would become longer than `MOST_CHARS` with what is pasted.
    """

    pasteRefused = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFont(mono_font())
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.wrong_line = 0
        self.completions: CompletionList | None = None
        self._margin = _Margin(self)
        self.blockCountChanged.connect(lambda _count: self._fit_margin())
        self.updateRequest.connect(self._on_update)
        self._fit_margin()

    def set_completion(self, complete: Complete) -> None:
        self.completions = CompletionList(self, complete)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Tab and not event.modifiers():
            self.insertPlainText("  ")
            return
        line = self.textCursor().block().text()[: self.textCursor().positionInBlock()]
        super().keyPressEvent(event)
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter} and not event.modifiers():
            self.insertPlainText(line[: len(line) - len(line.lstrip())])
        elif self.completions is not None and (event.text().isalnum() or event.text() == "_"):
            self.completions.open()
        elif self.completions is not None and event.text():
            self.completions.hide()

    def margin_width(self) -> int:
        digits = max(2, len(str(self.blockCount())))
        return round(QFontMetricsF(self.font()).horizontalAdvance("9")) * digits + 20

    def _fit_margin(self) -> None:
        self.setViewportMargins(self.margin_width(), 0, 0, 0)

    def _on_update(self, area: QRect, moved: int) -> None:
        if moved:
            self._margin.scroll(0, moved)
        else:
            self._margin.update(0, area.y(), self._margin.width(), area.height())

    def insertFromMimeData(self, source: QMimeData) -> None:
        chars = len(text_after_paste(self, source.text()))
        if chars > MOST_CHARS:
            self.pasteRefused.emit(chars)
        else:
            super().insertFromMimeData(source)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        inside = self.contentsRect()
        self._margin.setGeometry(QRect(inside.left(), inside.top(), self.margin_width(), inside.height()))

    def paint_margin(self, event: QPaintEvent) -> None:
        theme = current_theme()
        painter = QPainter(self._margin)
        painter.fillRect(event.rect(), qcolour(theme.sunken))
        painter.setFont(self.font())
        block = self.firstVisibleBlock()
        top = self.blockBoundingGeometry(block).translated(self.contentOffset()).top()
        while block.isValid() and top <= event.rect().bottom():
            height = self.blockBoundingRect(block).height()
            number = block.blockNumber() + 1
            painter.setPen(qcolour(theme.failure if number == self.wrong_line else theme.muted))
            where = QRect(0, round(top), self._margin.width() - 10, round(height))
            painter.drawText(where, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), str(number))
            block, top = block.next(), top + height
        painter.end()

    def mark_wrong(self, line: int) -> None:
        """Mark a line, counted from 1; 0 for none."""
        self.wrong_line = line
        marks = []
        if line:
            mark = QTextEdit.ExtraSelection()
            mark.format.setBackground(QColor(current_theme().failure_soft))
            mark.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
            mark.cursor = QTextCursor(self.document().findBlockByNumber(line - 1))
            marks.append(mark)
        self.setExtraSelections(marks)
        self._margin.update()

    def go_to_line(self, line: int) -> None:
        self.setTextCursor(QTextCursor(self.document().findBlockByNumber(max(0, line - 1))))
        self.centerCursor()
        self.setFocus()
