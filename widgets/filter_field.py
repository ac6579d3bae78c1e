from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QIcon, QKeySequence, QShortcut
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QLineEdit, QToolButton, QWidget

from widgets.boxes import hbox, scrolled, vbox
from widgets.controls import named, plain_label, push_button, set_plain_tip
from widgets.i18n import mark, tr
from widgets.icons import icon
from widgets.theme import current_theme, follow_theme, mono_font, px

CHANGED_AFTER_MS = 120
POPUP_WIDTH = 470
POPUP_HEIGHT = 400
GENERAL = (
    (mark("word another"), mark("Both words, anywhere in the row, in any case.")),
    (mark('"two words"'), mark("Exactly these words, including the spaces.")),
    (mark("a or (b and not c)"), mark("and, or, not, brackets; and may be left out.")),
    (mark("name contains x"), mark("The text of one field; name ~= ^x.*y$ takes a regular expression (RE2).")),
    (mark("name = none"), mark("There is no value.")),
)


def both(text: str, other: str) -> str:
    """A filter for what fits two of them; `text` may be empty."""
    if re.search(r"\bor\b", text, re.IGNORECASE):  # which binds less than and
        text = f"({text})"
    return " and ".join(filter(None, (text, other)))


@dataclass(frozen=True, slots=True)
class FilterHelp:
    """A field that a filter may ask for: its name, a sentence, and an example."""

    name: str
    about: str
    example: str


class FilterField(QLineEdit):
    """`helpWanted` when the arrow in it is pressed, or Down while it has the focus."""

    helpWanted = Signal()

    def __init__(self, hint: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setPlaceholderText(hint)
        self.setClearButtonEnabled(True)
        self._open = self.addAction(QIcon(), QLineEdit.ActionPosition.TrailingPosition)
        follow_theme(self._restyle)
        self._open.setToolTip(tr("Fields, examples and saved filters (Down)"))
        self._open.triggered.connect(self.helpWanted)
        down = QShortcut(QKeySequence(Qt.Key.Key_Down), self, context=Qt.ShortcutContext.WidgetShortcut)
        down.activated.connect(self.helpWanted)

    def _restyle(self) -> None:
        self._open.setIcon(icon("chevron-down", current_theme(), "muted"))


class FilterPopup(QFrame):
    """Help and kept filters below or above a field. `picked(text)`, `saveWanted(name)`, `deleteWanted(name)`."""

    picked = Signal(str)
    saveWanted = Signal(str)
    deleteWanted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setProperty("role", "popup")
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.setAccessibleName(tr("Filter help"))
        self._fields: Sequence[FilterHelp] = ()
        self._kept: Sequence[tuple[str, str]] = ()
        self._text = ""
        self.name = named(QLineEdit(self, placeholderText=tr("Save this filter as...")), tr("Name of the saved filter"))
        self.keep = push_button(tr("Keep"), self, pressed=self._keep)
        self.name.returnPressed.connect(self._keep)
        self.name.textChanged.connect(lambda _text: self._show_keep())
        row = hbox((self.name, 1), self.keep)
        self._area = scrolled(QWidget(), self)
        vbox((self._area, 1), row, on=self, margins=(10, 10, 10, 10))

    def show_below(
        self, field: QWidget, text: str, fields: Sequence[FilterHelp], kept: Sequence[tuple[str, str]] | None
    ) -> None:
        """Without `kept` ones, nothing is kept here."""
        self._fields, self._text = fields, text
        self.set_kept(kept or ())
        for part in (self.name, self.keep):
            part.setVisible(kept is not None)
        self.name.clear()
        self._show_keep()
        room, above = field.screen().availableGeometry(), field.mapToGlobal(QPoint(0, -2))
        below = above.y() + field.height() + 4
        height = min(px(POPUP_HEIGHT), max(room.bottom() - below, above.y() - room.top()))
        width = min(px(POPUP_WIDTH), room.width())
        left, top = max(room.left(), above.x() + field.width() - width), above.y() - height
        self.setGeometry(left, below if below + height <= room.bottom() else top, width, height)
        self.show()

    def set_kept(self, kept: Sequence[tuple[str, str]]) -> None:
        self._kept = kept
        self._area.setWidget(self._body())

    def _body(self) -> QWidget:
        inner = QWidget()
        column = vbox(on=inner, margins=(2, 0, 10, 24), spacing=6)
        if self._kept:
            column.addWidget(plain_label(tr("Saved filters"), "section", inner))
            for name, text in self._kept:
                column.addLayout(self._kept_row(name, text, inner))
        column.addWidget(plain_label(tr("Fields"), "section", inner))
        column.addLayout(self._grid([(one.name, one.about, one.example) for one in self._fields], inner))
        column.addWidget(plain_label(tr("Examples"), "section", inner))
        column.addLayout(self._grid([(tr(text), tr(about), "") for text, about in GENERAL], inner))
        column.addStretch(1)
        return inner

    def _kept_row(self, name: str, text: str, parent: QWidget) -> QHBoxLayout:
        pick = push_button(name.replace("&", "&&"), parent, pressed=lambda: self._pick(text))
        set_plain_tip(pick, text)
        told = plain_label(text, "muted", parent)
        told.setFont(mono_font())
        told.setMinimumWidth(40)
        drop = named(QToolButton(parent), tr("Delete the saved filter {name}", name=name))
        drop.setIcon(icon("close", current_theme(), "muted"))
        drop.setToolTip(tr("Delete this filter"))
        drop.clicked.connect(lambda: self.deleteWanted.emit(name))
        return hbox(pick, (told, 1), drop)

    def _grid(self, rows: Sequence[tuple[str, str, str]], parent: QWidget) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(4)
        grid.setColumnStretch(1, 1)
        for at, (name, about, example) in enumerate(rows):
            head = plain_label(name, "", parent)
            head.setFont(mono_font())
            told = plain_label(about, "muted", parent, wrap=True)
            grid.addWidget(head, at, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(told, at, 1)
            if example:
                button = QToolButton(parent, autoRaise=True)
                button.setText(example.replace("&", "&&"))
                button.setFont(mono_font())
                button.clicked.connect(lambda _on=False, text=example: self._pick(text))
                grid.addWidget(button, at, 2, Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignRight)
        return grid

    def _pick(self, text: str) -> None:
        self.hide()
        self.picked.emit(text)

    def _show_keep(self) -> None:
        self.keep.setEnabled(bool(self._text and self.name.text().strip()))
        self.name.setEnabled(bool(self._text))
        set_plain_tip(self.keep, "" if self._text else tr("Write a filter first."))

    def _keep(self) -> None:
        if self.keep.isEnabled():
            self.saveWanted.emit(self.name.text().strip())
            self.name.clear()


class PanelFilter(FilterField):
    """The filter of a panel. `changed(text)` comes a moment after the last key; `left()` when there is nothing more for
    Escape to clear. `saved(name, text)` and `deleted(name)` ask for another list of kept filters.
    """

    changed = Signal(str)
    left = Signal()
    saved = Signal(str, str)
    deleted = Signal(str)

    def __init__(self, hint: str, parent: QWidget) -> None:
        super().__init__(hint, parent)
        self.setMinimumWidth(120)
        self.setMaximumWidth(300)
        self.setToolTip(tr("Words, or conditions such as lag > 100. Down opens the help, Escape clears."))
        #: What was told last.
        self.told = ""
        self._help: tuple[FilterHelp, ...] = ()
        self._kept: tuple[tuple[str, str], ...] = ()
        self._popup: FilterPopup | None = None
        self._delay = QTimer(self, singleShot=True, interval=CHANGED_AFTER_MS)
        self._delay.timeout.connect(self._tell)
        self.textChanged.connect(lambda _text: self._delay.start())
        self.returnPressed.connect(self._tell)
        self.helpWanted.connect(self.show_help)
        escape = QShortcut(QKeySequence(Qt.Key.Key_Escape), self, context=Qt.ShortcutContext.WidgetShortcut)
        escape.activated.connect(self._on_escape)

    def write(self, text: str) -> None:
        """Set the text as if it had been typed, and report it at once."""
        self.setText(text)
        self._tell()

    def _tell(self) -> None:
        self._delay.stop()
        text = self.text().strip()
        if text != self.told:
            self.told = text
            self.changed.emit(text)

    def _on_escape(self) -> None:
        if self._popup is not None and self._popup.isVisible():
            self._popup.hide()
            return
        had_words = bool(self.text().strip())
        self.write("")
        if not had_words:
            self.left.emit()

    def set_help(self, fields: Sequence[FilterHelp]) -> None:
        self._help = tuple(fields)

    def set_kept(self, kept: Sequence[tuple[str, str]]) -> None:
        """(name, filter) of those that may be picked here."""
        self._kept = tuple(kept)
        if self._popup is not None and self._popup.isVisible():
            self._popup.set_kept(self._kept)

    def show_help(self) -> FilterPopup:
        if self._popup is None:
            self._popup = FilterPopup(self)
            self._popup.picked.connect(self.write)
            self._popup.saveWanted.connect(lambda name: self.saved.emit(name, self.told))
            self._popup.deleteWanted.connect(self.deleted)
        self._tell()
        self._popup.show_below(self, self.told, self._help, self._kept)
        return self._popup
