from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QMouseEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QStackedLayout, QToolButton, QWidget

import resources
from widgets.boxes import vbox
from widgets.controls import RunningLabel, action_button, mark_wrong, named, plain_label, tool_of
from widgets.empty_state import EmptyState
from widgets.filter_field import PanelFilter
from widgets.fold_button import FoldButton
from widgets.i18n import tr
from widgets.theme import px
from widgets.title_row import TitleRow

LEAST_BELOW = 80  # a header, a row and a scroll bar


@dataclass(frozen=True, slots=True)
class PanelInfo:
    """The registration of a panel: its tab, and its command in the menu View and the palette.

    `name` is kept in settings and layouts, and names the page of help in `resources/help`. `hint` is one sentence;
    `icon` is a name from `widgets.icons`, `shortcut` a key in Qt's portable form, "" for none. `group` is the title
    over the tabs of its kind; `counted` keeps room for so many characters behind the title. `empty` and `how` say what
    would be here and how to make it happen, with {goes_on} for what the source says; `filter_hint` stands in the field
    of the filter, "" for none. `needs` is what a source has to know for anything to be here, a word of
    `observation.peer.KNOWABLE`. A `spare` tab without a count goes before any other if there is no room for all.
    `commands` have a button in the title row, with words of its own where they are given; `tools` are those that have
    one with their icon alone, in the row of tools.
    """

    name: str
    title: str
    icon: str
    hint: str = ""
    shortcut: str = ""
    group: str = ""
    counted: int = 0
    empty: str = ""
    how: str = ""
    filter_hint: str = ""
    needs: str = ""
    spare: bool = False
    commands: tuple[str | tuple[str, str], ...] = ()
    tools: tuple[str, ...] = ()


_DECLARED: dict[str, Any] = resources.table("panels.toml")


def declared(name: str) -> PanelInfo:
    """The registration that `resources/panels.toml` has under this name."""
    given = _DECLARED[name]
    commands = (each if isinstance(each, str) else (each["id"], each["title"]) for each in given.get("commands", ()))
    return PanelInfo(name, **{**given, "commands": tuple(commands), "tools": tuple(given.get("tools", ()))})


class Panel(QWidget):
    """The frame of a panel; its filter is hidden if it has no hint. `filterChanged(text)` comes a moment after the last
    key, `offerTaken()` is the button of the empty panel, `titlePressed()` a click on the title.
    """

    info: ClassVar[PanelInfo]
    #: In pixels of the design; with less room it is scrolled as a whole.
    least_height: int = 180
    #: Of what is shown in the stack if there is anything.
    body_place = 1
    filterChanged = Signal(str)
    offerTaken = Signal()
    titlePressed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title, hint = tr(self.info.title), tr(self.info.filter_hint)
        self._empty_words = (tr(self.info.empty), tr(self.info.how, goes_on=""), "")
        self._unknown, self._goes_on = False, ""
        self.buttons: dict[str, QPushButton] = {}
        self.tools: dict[str, QToolButton] = {}
        self._title = plain_label(self.title, "heading", self)
        self.count_label = plain_label("", "muted", self)
        self.title_row = TitleRow(FoldButton("chevron-down", "", self))
        self.title_row.setContentsMargins(8, 4, 8, 4)
        self.title_row.setSpacing(8)
        self.tool_row: QHBoxLayout = self.title_row
        self.title_row.addWidget(self._title)
        self.title_row.addWidget(self.count_label)
        self.title_row.addStretch(1)
        self.filter_field = named(PanelFilter(hint, self), tr("Filter {panel}", panel=self.title))
        self.filter_field.setVisible(bool(hint))
        self.filter_field.changed.connect(self.filterChanged)
        self.filter_field.left.connect(self.focus_body)
        self.title_row.addWidget(self.filter_field, 2)
        self.empty_state = EmptyState(self.info.icon, *self._empty_words[:2], self)
        self.empty_state.offer.clicked.connect(self._take_offer)
        self.problem = plain_label("", "problem", self, wrap=True)
        self.problem.setContentsMargins(8, 0, 8, 4)
        self.problem.hide()
        self._note_text = self._part_text = ""
        self.note = RunningLabel(self)
        self.note.setProperty("role", "muted")
        self.note.setContentsMargins(8, 4, 8, 4)
        self.note.hide()
        self.stack = QStackedLayout()
        self.stack.addWidget(self.empty_state)
        self._below_title = QWidget(self)
        self._below_title.setMinimumHeight(1)  # the title is whole before all else
        vbox(self.problem, (self.stack, 1), self.note, on=self._below_title, margins=(0, 0, 0, 0), spacing=0)
        vbox(self.title_row, (self._below_title, 1), on=self, margins=(0, 0, 0, 0), spacing=0)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Ignored)

    def put_commands(self, actions: Mapping[str, QAction]) -> None:
        for each in self.info.commands:
            command, words = (each, "") if isinstance(each, str) else each
            self.buttons[command] = action_button(actions[command], tr(words), self)
            self.title_row.addWidget(self.buttons[command])
        for command in self.info.tools:
            self.tools[command] = tool_of(actions[command], self)
            self.tool_row.addWidget(self.tools[command])

    def height_at_least(self, width: int, *, whole: bool = False) -> int:
        """In pixels, at that width: its title, the `whole` of it or as it is folded, and a little of what is below."""
        empty, note = self.stack.currentIndex() == 0, 0 if self.note.isHidden() else self.note.sizeHint().height()
        below = max(px(LEAST_BELOW), self.empty_state.height_at_least(width) if empty else 0)
        title = self.title_row.height_of(width, folded=not whole and self.title_row.folded)
        return max(px(self.least_height), title + below + note)

    @property
    def title_height(self) -> int:
        return self.title_row.heightForWidth(self.width())

    @property
    def is_title_alone(self) -> bool:
        return self._below_title.isHidden()

    def set_title_alone(self, on: bool) -> None:
        self._below_title.setVisible(not on)
        self.setCursor(Qt.CursorShape.PointingHandCursor if on else Qt.CursorShape.ArrowCursor)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.position().y() <= self.title_height:
            self.titlePressed.emit()
        super().mousePressEvent(event)

    @property
    def filter_text(self) -> str:
        return self.filter_field.told

    def set_filter_text(self, text: str) -> None:
        self.filter_field.write(text)

    def clear_filter(self) -> None:
        self.filter_field.write("")

    def set_filter_problem(self, sentence: str) -> None:
        self.problem.setText(sentence)
        self.problem.setVisible(bool(sentence))
        mark_wrong(self.filter_field, sentence)

    def focus_body(self) -> None:
        """Give the focus to what the arrow keys move in, else to the panel: never to what Space would press."""
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def focus_filter(self) -> None:
        self.title_row.unfold(True)
        self.filter_field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.filter_field.selectAll()

    def set_count(self, text: str) -> None:
        if self.count_label.text() != text:
            self.count_label.setText(text)

    def set_note(self, text: str) -> None:
        """A line below the panel, as "the first 5,000 of 100,000 are listed"; "" for none."""
        self._note_text = text
        self._show_note()

    def set_part(self, text: str) -> None:
        """A line below that, where the broker has more than the panels list; "" for none."""
        self._part_text = text
        self._show_note()

    def _show_note(self) -> None:
        text = "\n".join(line for line in (self._note_text, self._part_text) if line)
        if self.note.text() != text:
            self.note.setText(text)
            self.note.setVisible(bool(text))

    def set_source(self, *, unknown: bool, goes_on: str) -> None:
        """Whether what would be here cannot be known of the source that is shown; and a sentence on how it goes on."""
        self._unknown, self._goes_on = unknown, goes_on
        self.set_empty_words()

    def set_empty_words(self, sentence: str = "", how: str = "", offer: str = "") -> None:
        """Other words for the empty state, as when something was there and is gone; `offer` stands on a button. Without
        a sentence the panel's own.
        """
        if self._unknown:
            sentence, offer = tr("Not known from outside."), ""
            how = tr("This broker runs elsewhere and does not report this to observers.")
        elif not sentence:
            sentence, how = tr(self.info.empty), tr(self.info.how, goes_on=self._goes_on)
        if (sentence, how, offer) != self._empty_words:
            self._empty_words = (sentence, how, offer)
            if self.stack.currentIndex() == 0:
                self.show_body(False)

    @property
    def _filtered(self) -> bool:
        return bool(self.filter_text) and self.problem.isHidden()

    def _take_offer(self) -> None:
        if self._filtered:
            self.clear_filter()
        else:
            self.offerTaken.emit()

    def show_body(self, filled: bool) -> None:
        if not filled:
            how = tr("Filter: {filter_text}", filter_text=self.filter_text)
            words = tr("Nothing matches the filter."), how, tr("Clear the filter")
            self.empty_state.set_texts(*(words if self._filtered else self._empty_words))
        place = self.body_place if filled and self.stack.count() > 1 else 0
        if self.stack.currentIndex() != place:
            self.stack.setCurrentIndex(place)
            # Qt hands the focus of a table that goes to the next button.
            if self.empty_state.offer.hasFocus():
                self.focus_body()
