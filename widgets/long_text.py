"""A field for text of any length: what is too long to be laid out at once is held whole, and its beginning shown."""

from __future__ import annotations

from PySide6.QtCore import QMimeData
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from widgets.boxes import hbox
from widgets.controls import plain_label, push_button
from widgets.i18n import tr
from widgets.theme import mono_font

# Qt wraps a line in a time that grows with the square of its length, ...
WRAPPED_LINE_CHARS = 20_000
# ... and lays all of it out again at each key.
EDITED_CHARS = 200_000
SHOWN_CHARS = 2_000


def wrap_for(field: QPlainTextEdit, text: str) -> None:
    """Wrap the lines of `field` as far as those of `text` can be wrapped."""
    has_long_line = len(text) > WRAPPED_LINE_CHARS and max(map(len, text.split("\n"))) > WRAPPED_LINE_CHARS
    modes = QPlainTextEdit.LineWrapMode
    field.setLineWrapMode(modes.NoWrap if has_long_line else modes.WidgetWidth)


def text_after_paste(field: QPlainTextEdit, pasted: str) -> str:
    """The text of `field` if `pasted` replaced the selection."""
    cursor, text = field.textCursor(), field.toPlainText()
    # Qt counts in UTF-16, where some characters are two.
    units = text.encode("utf-16-le")
    before, after = units[: cursor.selectionStart() * 2], units[cursor.selectionEnd() * 2 :]
    return before.decode("utf-16-le", "replace") + pasted + after.decode("utf-16-le", "replace")


class LongText(QPlainTextEdit):
    """`toPlainText` gives all of it, `held_chars` how much is held because it cannot be edited here, 0 for none."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._held = ""
        self.setFont(mono_font())
        self.setAccessibleName(name)

    @property
    def held_chars(self) -> int:
        return len(self._held)

    def toPlainText(self) -> str:
        return self._held or super().toPlainText()

    def setPlainText(self, text: str) -> None:
        held = text if len(text) > EDITED_CHARS else ""
        if held or self._held:  # otherwise a field that others have made read-only stays so
            self.setReadOnly(bool(held))
        self._held, shown = held, text[:SHOWN_CHARS] if held else text
        wrap_for(self, shown)
        super().setPlainText(shown)

    def clear(self) -> None:
        self.setPlainText("")

    def insertFromMimeData(self, source: QMimeData) -> None:
        after = text_after_paste(self, source.text())
        if len(after) > EDITED_CHARS:
            self.setPlainText(after)
        else:
            wrap_for(self, after)
            super().insertFromMimeData(source)


class HeldNote(QWidget):
    """Says of a `LongText` that it holds more than it shows; hidden if it does not."""

    def __init__(self, field: LongText, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._field = field
        self.words = plain_label("", "muted", self, fill=True)
        self.empty = push_button(tr("Empty the field"), self, pressed=self._empty)
        self.empty.setAutoDefault(False)
        hbox((self.words, 1), self.empty, on=self, margins=(0, 0, 0, 0))
        field.textChanged.connect(self._show)
        self._show()

    def _show(self) -> None:
        held = self._field.held_chars
        self.setVisible(bool(held))
        if held:
            self.words.setText(
                tr(
                    "All {count} characters are kept; the first {shown} are shown. This is too long to edit here.",
                    count=f"{held:,}",
                    shown=f"{SHOWN_CHARS:,}",
                )
            )

    def _empty(self) -> None:
        self._field.clear()
        self._field.setFocus()
