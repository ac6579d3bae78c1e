from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from PySide6.QtCore import QPoint, QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QKeySequence, QMouseEvent, QResizeEvent, QShortcut
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QLayoutItem,
    QPushButton,
    QSizePolicy,
    QSplitter,
    QStackedLayout,
    QWidget,
)

import resources
from widgets.boxes import vbox
from widgets.facts import RunningLabel, action_button, mark_wrong, named, plain_label, push_button
from widgets.filter_field import FilterField, FilterHelp, FilterPopup
from widgets.fold_button import FoldButton
from widgets.i18n import tr
from widgets.icons import icon_pixmap
from widgets.theme import current_theme, follow_theme, px

FILTER_DELAY_MS = 120
# Below this width, two parts of a panel stand one above the other.
NARROW = 640
LEAST_BELOW = 80  # a header, a row and a scroll bar


class TitleRow(QHBoxLayout):
    """One line while there is room for it, as any row; else lines from the left, each as full as it can be.

    `fold`, which is no item of the row, stands at the end of the first line where the panel is `short`: all lines, or
    the first alone.
    """

    def __init__(self, fold: FoldButton) -> None:
        super().__init__()
        self.fold = fold
        self.short = self._unfolded = False
        fold.clicked.connect(lambda: self.unfold(not self._unfolded))
        self.unfold(False)

    @property
    def folded(self) -> bool:
        return self.short and not self._unfolded

    def set_short(self, on: bool) -> None:
        if on != self.short:
            self.short = on
            self.unfold(False)

    def unfold(self, on: bool) -> None:
        self._unfolded = on
        self.fold.set_sign("chevron-up" if on else "chevron-down", tr("One line") if on else tr("All of this line"))
        self.update()

    def hasHeightForWidth(self) -> bool:
        return True

    def minimumHeightForWidth(self, width: int) -> int:
        return self.heightForWidth(width)

    def heightForWidth(self, width: int) -> int:
        return self.height_of(width, folded=self.folded)

    def height_of(self, width: int, *, folded: bool) -> int:
        if width >= super().minimumSize().width():
            return super().sizeHint().height()
        lines = self._lines(width)[: 1 if folded else None]
        margins = self.contentsMargins()
        heights = sum(self._height(number, line) for number, line in enumerate(lines))
        return margins.top() + margins.bottom() + heights + self.spacing() * (len(lines) - 1)

    def minimumSize(self) -> QSize:
        margins = self.contentsMargins()
        widest = max((item.minimumSize().width() for item in self._shown()), default=0)
        return QSize(widest + margins.left() + margins.right(), super().minimumSize().height())

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        several = rect.width() < super().minimumSize().width()
        self.fold.setVisible(several and self.short)
        if not several:
            return
        margins = self.contentsMargins()
        y, right = rect.y() + margins.top(), rect.right() + 1 - margins.right()
        for number, line in enumerate(self._lines(rect.width())):
            if number and self.folded:
                for item in line:  # no layout may place anything above its widget
                    item.setGeometry(QRect(rect.topRight() + QPoint(1, 0), item.sizeHint()))
                continue
            x, height = rect.x() + margins.left(), self._height(number, line)
            used = sum(_width(item) for item in line) + self.spacing() * (len(line) - 1)
            left = right - x - self._kept(number) - used
            for item in line:
                grows = item is line[-1] and item.expandingDirections() & Qt.Orientation.Horizontal
                wide = min(_width(item) + (left if grows else 0), right - x)
                own = min(item.sizeHint().height(), height)
                item.setGeometry(QRect(x, y + (height - own) // 2, wide, own))
                x += wide + self.spacing()
            if not number:
                size = self.fold.sizeHint()
                self.fold.setGeometry(QRect(QPoint(right - size.width(), y + (height - size.height()) // 2), size))
            y += height + self.spacing()

    def _height(self, number: int, line: list[QLayoutItem]) -> int:
        fold = self.fold.sizeHint().height() if self.short and not number else 0
        return max(fold, *(item.sizeHint().height() for item in line))

    def _kept(self, line: int) -> int:
        """Pixels at the end of a line that are the button's."""
        return self.spacing() + self.fold.sizeHint().width() if self.short and not line else 0

    def _shown(self) -> list[QLayoutItem]:
        items = [self.itemAt(place) for place in range(self.count())]
        return [item for item in items if item is not None and not item.isEmpty()]

    def _lines(self, width: int) -> list[list[QLayoutItem]]:
        margins = self.contentsMargins()
        room, used = width - margins.left() - margins.right(), 0
        lines: list[list[QLayoutItem]] = []
        for item in self._shown():
            if lines and used + self.spacing() + _width(item) <= room - self._kept(len(lines) - 1):
                lines[-1].append(item)
                used += self.spacing() + _width(item)
            else:
                lines.append([item])
                used = _width(item)
        return lines


def _width(item: QLayoutItem) -> int:
    return min(item.sizeHint().width(), item.maximumSize().width())


@dataclass(frozen=True, slots=True)
class PanelInfo:
    """The registration of a panel: its tab, and its command in the menu View and the palette.

    `name` is kept in settings and layouts, and names the page of help in `resources/help`. `hint` is one sentence;
    `icon` is a name from `widgets.icons`, `shortcut` a key in Qt's portable form, "" for none. `group` is the title
    over the tabs of its kind; `counted` keeps room for so many characters behind the title. `empty` and `how` say what
    would be here and how to make it happen, with {goes_on} for what the source says; `filter_hint` stands in the field
    of the filter, "" for none. `needs` is what a source has to know for anything to be here, a word of
    `observation.peer.KNOWABLE`. A `spare` tab without a count goes before any other if there is no room for all.
    `commands` have a button in the title row, with words of its own where they are given.
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


_DECLARED: dict[str, Any] = tomllib.loads(resources.path("panels.toml").read_text(encoding="utf-8"))


def declared(name: str) -> PanelInfo:
    """The registration that `resources/panels.toml` has under this name."""
    given = _DECLARED[name]
    commands = (each if isinstance(each, str) else (each["id"], each["title"]) for each in given.get("commands", ()))
    return PanelInfo(name, **{**given, "commands": tuple(commands)})


class EmptyState(QWidget):
    """An icon, a sentence that says what would be here, and one that says how to make it happen."""

    def __init__(self, icon_name: str, sentence: str, how: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._icon_name = icon_name
        self._icon = QLabel(self, alignment=Qt.AlignmentFlag.AlignHCenter)
        self._sentence = plain_label(sentence, "heading", self)
        self._how = plain_label(how, "muted", self)
        self.button = push_button(tr("Clear the filter"), self, by_tab=True, hidden=True)
        self.offer = push_button("", self, by_tab=True, hidden=True)
        column = vbox(1, on=self, margins=(24, 8, 24, 8), spacing=6)
        for label in (self._icon, self._sentence, self._how):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            label.setWordWrap(True)
            column.addWidget(label)
        for button in (self.button, self.offer):
            column.addWidget(button, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(2)
        follow_theme(self._restyle)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """If there is little room, the sentence comes before the icon and before how to make it happen."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        width = self.width()
        left = self.height() - self.height_at_least(width) - self._height(self._how, width)
        self._how.setVisible(left >= 0)
        self._icon.setVisible(left >= self._icon.sizeHint().height() + 6)

    def height_at_least(self, width: int) -> int:
        """In pixels, of the sentence and the buttons at that width."""
        shown = [button for button in (self.button, self.offer) if not button.isHidden()]
        return 16 + self._height(self._sentence, width) + sum(button.sizeHint().height() + 6 for button in shown)

    @staticmethod
    def _height(label: QLabel, width: int) -> int:
        return label.heightForWidth(width - 48) + 6

    def offer_clear(self, offered: bool) -> None:
        self.button.setVisible(offered)
        self._fit()

    def set_texts(self, sentence: str, how: str, offer: str = "") -> None:
        """Other sentences, and the words on a button that does something about it; "" for none."""
        self._sentence.setText(sentence)
        self._how.setText(how)
        self.offer.setText(offer)
        self.offer.setVisible(bool(offer))
        self._fit()

    def text(self) -> str:
        return f"{self._sentence.text()} {self._how.text()}".strip()

    def _restyle(self) -> None:
        self._icon.setPixmap(icon_pixmap(self._icon_name, current_theme().disabled, 28, self.devicePixelRatioF()))


class SideBySide(QSplitter):
    """Parts of a panel side by side; one above the other if it is narrow and high.

    If it is narrower than they are at least, Qt would lay one over another: parts that get less of the room to spare
    are hidden then, from the left.
    """

    def __init__(self, *args: Any, **properties: Any) -> None:
        super().__init__(*args, **properties)
        self._folded: set[QWidget] = set()

    def resizeEvent(self, event: QResizeEvent) -> None:
        upright = self.width() < min(px(NARROW), self.height() + 1)
        wanted = Qt.Orientation.Vertical if upright else Qt.Orientation.Horizontal
        turned = wanted is not self.orientation()
        if turned:
            self.setOrientation(wanted)
        super().resizeEvent(event)
        if turned:
            whole = self.height() if upright else self.width()
            self.setSizes([whole // self.count()] * self.count())
        self._fold(0 if upright else self.width())

    def _fold(self, room: int) -> None:
        """`room` is 0 if all parts have it."""
        parts = [part for place in range(self.count()) if (part := self.widget(place)) is not None]
        least = [max(part.minimumWidth(), part.minimumSizeHint().width()) for part in parts]
        needed, most = sum(least) + self.handleWidth() * (len(parts) - 1), max(map(_stretch, parts))
        for part, width in zip(parts, least, strict=True):
            gives_way = room > 0 and needed > room and _stretch(part) < most
            if gives_way:
                needed -= width + self.handleWidth()
            if gives_way != (part in self._folded):
                part.setVisible(not gives_way)
                (self._folded.add if gives_way else self._folded.discard)(part)


def _stretch(part: QWidget) -> int:
    return part.sizePolicy().horizontalStretch()


def side_by_side(
    parent: QWidget, *parts: QWidget, stretch: Sequence[int], widths: Sequence[int], collapsible: bool = False
) -> QSplitter:
    """Parts of a panel with borders to be moved; `stretch` is what each gets of the room beyond `widths`."""
    split = SideBySide(Qt.Orientation.Horizontal, parent, childrenCollapsible=collapsible)
    for place, part in enumerate(parts):
        split.addWidget(part)
        split.setStretchFactor(place, stretch[place])
    split.setSizes(list(widths))
    return split


class Panel(QWidget):
    """The frame of a panel. `filterChanged(text)` comes a moment after the last key.

    `filterSaved(name, text)` and `filterDeleted(name)` ask for another list of `saved_filters`; `offerTaken()` is the
    button of the empty panel, `titlePressed()` a click on the title.
    """

    info: ClassVar[PanelInfo]
    #: In pixels of the design; with less room it is scrolled as a whole.
    least_height: int = 180
    filterChanged = Signal(str)
    filterSaved = Signal(str, str)
    filterDeleted = Signal(str)
    offerTaken = Signal()
    titlePressed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title = tr(self.info.title)
        self._empty_words = (tr(self.info.empty), tr(self.info.how, goes_on=""), "")
        self._unknown, self._goes_on = False, ""
        self.filter_text = ""
        self.buttons: dict[str, QPushButton] = {}
        self._title = plain_label(self.title, "heading", self)
        self.count_label = plain_label("", "muted", self)
        self.title_row = TitleRow(FoldButton("chevron-down", "", self))
        self.title_row.setContentsMargins(8, 4, 8, 4)
        self.title_row.setSpacing(8)
        self.title_row.addWidget(self._title)
        self.title_row.addWidget(self.count_label)
        self.title_row.addStretch(1)
        self.filter_field: FilterField | None = None
        self.saved_filters: tuple[tuple[str, str], ...] = ()
        self._filter_help: tuple[FilterHelp, ...] = ()
        self._popup: FilterPopup | None = None
        if self.info.filter_hint:
            self._add_filter(tr(self.info.filter_hint))
        self.empty_state = EmptyState(self.info.icon, *self._empty_words[:2], self)
        self.empty_state.button.clicked.connect(self.clear_filter)
        self.empty_state.offer.clicked.connect(self.offerTaken)
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

    def _add_filter(self, hint: str) -> None:
        field = named(FilterField(hint, self), tr("Filter {panel}", panel=self.title))
        field.setMinimumWidth(120)
        field.setMaximumWidth(300)
        field.setToolTip(tr("Words, or conditions such as lag > 100. Down opens the help, Escape clears."))
        field.helpWanted.connect(self.show_filter_help)
        self._delay = QTimer(self, singleShot=True, interval=FILTER_DELAY_MS)
        self._delay.timeout.connect(self._report_filter)
        field.textChanged.connect(lambda _text: self._delay.start())
        field.returnPressed.connect(self._report_filter)
        escape = QShortcut(QKeySequence(Qt.Key.Key_Escape), field, context=Qt.ShortcutContext.WidgetShortcut)
        escape.activated.connect(self._on_escape)
        self.filter_field = field
        self.title_row.addWidget(field, 2)

    def put_commands(self, actions: Mapping[str, QAction]) -> None:
        for each in self.info.commands:
            command, words = (each, "") if isinstance(each, str) else each
            self.buttons[command] = action_button(actions[command], tr(words), self)
            self.title_row.addWidget(self.buttons[command])

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

    def _report_filter(self) -> None:
        text = self.filter_field.text().strip() if self.filter_field is not None else ""
        self._delay.stop()
        if text != self.filter_text:
            self.filter_text = text
            self.filterChanged.emit(text)

    def set_filter_help(self, fields: Sequence[FilterHelp]) -> None:
        self._filter_help = tuple(fields)

    def set_filter_problem(self, sentence: str) -> None:
        self.problem.setText(sentence)
        self.problem.setVisible(bool(sentence))
        if self.filter_field is not None:
            mark_wrong(self.filter_field, sentence)

    def set_saved_filters(self, kept: Sequence[tuple[str, str]]) -> None:
        """(name, filter) of those that may be picked here."""
        self.saved_filters = tuple(kept)
        if self._popup is not None and self._popup.isVisible():
            self._popup.set_kept(self.saved_filters)

    def show_filter_help(self) -> FilterPopup | None:
        if self.filter_field is None:
            return None
        if self._popup is None:
            self._popup = FilterPopup(self)
            self._popup.picked.connect(self.set_filter_text)
            self._popup.saveWanted.connect(lambda name: self.filterSaved.emit(name, self.filter_text))
            self._popup.deleteWanted.connect(self.filterDeleted)
        self._report_filter()
        self._popup.show_below(self.filter_field, self.filter_text, self._filter_help, self.saved_filters)
        return self._popup

    def set_filter_text(self, text: str) -> None:
        if self.filter_field is not None:
            self.filter_field.setText(text)
            self._report_filter()

    def clear_filter(self) -> None:
        if self.filter_field is not None:
            self.filter_field.clear()
            self._report_filter()

    def _on_escape(self) -> None:
        had_words = self.filter_field is not None and bool(self.filter_field.text().strip())
        self.clear_filter()
        if not had_words:
            self.focus_body()

    def focus_body(self) -> None:
        """Give the focus to what the arrow keys move in, else to the panel: never to what Space would press."""
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def focus_filter(self) -> bool:
        if self.filter_field is None:
            return False
        self.title_row.unfold(True)
        self.filter_field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.filter_field.selectAll()
        return True

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

    def show_body(self, filled: bool) -> None:
        if not filled:
            filtered = bool(self.filter_text) and self.problem.isHidden()
            self.empty_state.offer_clear(filtered)
            if filtered:
                self.empty_state.set_texts(
                    tr("Nothing matches the filter."), tr("Filter: {filter_text}", filter_text=self.filter_text)
                )
            else:
                self.empty_state.set_texts(*self._empty_words)
        place = 1 if filled and self.stack.count() > 1 else 0
        if self.stack.currentIndex() != place:
            self.stack.setCurrentIndex(place)
            # Qt hands the focus of a table that goes to the next button.
            if self.empty_state.button.hasFocus() or self.empty_state.offer.hasFocus():
                self.focus_body()
