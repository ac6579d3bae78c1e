from __future__ import annotations

from PySide6.QtCore import QMimeData, QRect, QSize, Qt, Signal
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
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QWidget

from widgets.completion_list import Complete, CompletionList
from widgets.long_text import text_after_paste
from widgets.theme import current_theme, mono_font, qcolour

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
