from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from PySide6.QtCore import QMimeData, QModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QStandardItem,
    QStandardItemModel,
    QTextCursor,
    QTextFormat,
)
from PySide6.QtWidgets import QCompleter, QListView, QPlainTextEdit, QTextEdit, QWidget

from widgets.bytes_text import as_plain
from widgets.controls import named
from widgets.i18n import tr
from widgets.long_text import text_after_paste
from widgets.theme import current_theme, mono_font, px, qcolour

ROWS = 9
_REST = re.compile(r"[\w.-]*")  # of the word that the cursor is in
_TEXT = Qt.ItemDataRole.UserRole
_OF_THE_LIST = frozenset({Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Tab, Qt.Key.Key_Escape})
_ARROWS = frozenset({Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Home, Qt.Key.Key_End})


class Word(NamedTuple):
    text: str
    about: str = ""


# For a text and a place in it: where the word there begins, and what it may be.
Complete = Callable[[str, int], tuple[int, Sequence[Word]]]


class Completion(QCompleter):
    """Lists what `complete` says below the cursor of `field`; what is chosen there takes the place of the word."""

    def __init__(self, field: QPlainTextEdit, complete: Complete) -> None:
        super().__init__(QStandardItemModel(field), field)
        self._field, self._complete, self._start = field, complete, 0
        self.setWidget(field)
        self.setMaxVisibleItems(ROWS)
        self.list = named(QListView(field), tr("What you can write here"))
        self.list.setFont(mono_font())
        self.setPopup(self.list)
        self.activated[QModelIndex].connect(self._take)  # type: ignore[index]

    def open(self) -> None:
        """List what may be written at the cursor; nothing opens if there is nothing."""
        cursor, model = self._field.textCursor(), self.model()
        assert isinstance(model, QStandardItemModel)
        self._start, words = self._complete(self._field.toPlainText(), cursor.position())
        written = self._field.toPlainText()[self._start : cursor.position()]
        model.clear()
        if not words or [word.text.strip().rstrip(":") for word in words] == [written]:
            self.list.hide()
            return
        for word in words:
            item = QStandardItem(f"{word.text.strip()}   {word.about}".rstrip())
            item.setData(word.text, _TEXT)
            item.setToolTip(as_plain(word.about))
            model.appendRow(item)
        where = self._field.cursorRect(cursor).translated(self._field.viewport().pos())
        where.setWidth(self.list.sizeHintForColumn(0) + px(36))
        self.complete(where)
        self.list.setCurrentIndex(self.completionModel().index(0, 0))

    def _take(self, chosen: QModelIndex) -> None:
        cursor = self._field.textCursor()
        rest = _REST.match(self._field.toPlainText(), cursor.position())
        cursor.setPosition(self._start if rest is None else rest.end())
        cursor.setPosition(self._start, QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText(chosen.data(_TEXT))
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
        self.completion: Completion | None = None
        self._margin = _Margin(self)
        self.blockCountChanged.connect(lambda _count: self._fit_margin())
        self.updateRequest.connect(self._on_update)
        self._fit_margin()

    def set_completion(self, complete: Complete) -> None:
        self.completion = Completion(self, complete)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        completion, control = self.completion, event.modifiers() & Qt.KeyboardModifier.ControlModifier
        if completion is not None and completion.list.isVisible() and event.key() in _OF_THE_LIST:
            event.ignore()
            return
        if event.key() == Qt.Key.Key_Tab and not event.modifiers():
            self.insertPlainText("  ")
            return
        if completion is not None and control and event.key() == Qt.Key.Key_Space:
            completion.open()
            return
        line = self.textCursor().block().text()[: self.textCursor().positionInBlock()]
        super().keyPressEvent(event)
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter} and not event.modifiers():
            self.insertPlainText(line[: len(line) - len(line.lstrip())])
        elif completion is not None and (event.text().isalnum() or event.text() == "_"):
            completion.open()
        elif completion is not None and (event.text() or event.key() in _ARROWS):
            completion.list.hide()

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
