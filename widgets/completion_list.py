from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QKeyEvent, QTextCursor
from PySide6.QtWidgets import QFrame, QListWidget, QListWidgetItem, QPlainTextEdit

from widgets.i18n import tr
from widgets.panels.cell_painter import as_plain
from widgets.theme import current_theme, mono_font, px

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
