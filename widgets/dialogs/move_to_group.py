from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, QRect, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import QComboBox, QLineEdit, QListWidget, QListWidgetItem, QStyleOptionViewItem, QWidget

from widgets.boxes import hbox, scrolled, vbox
from widgets.bytes_text import as_plain
from widgets.canvas.view import NEW_GROUP, Ghost, GhostMove
from widgets.cards import Move, MoveTable
from widgets.cells import CellDelegate, Index
from widgets.controls import named, plain_label, set_why_not
from widgets.dialogs.dialog import MARGINS, Dialog
from widgets.drawing import draw_text
from widgets.i18n import tr
from widgets.icons import icon_pixmap
from widgets.theme import Theme, px, ui_font

BENCH = ""
_CHOICE = Qt.ItemDataRole.UserRole
_ROW_H = 44


@dataclass(frozen=True, slots=True)
class MoveChoice:
    """Where a consumer can go: `target` is a group, "" for the bench, `NEW_GROUP` for one to be named.

    `reason` says why it cannot go there now, "" if it can.
    """

    target: str
    title: str
    about: str = ""
    reason: str = ""


class _ChoiceDelegate(CellDelegate):
    def sizeHint(self, _option: QStyleOptionViewItem, _index: Index) -> QSize:
        return QSize(200, px(_ROW_H))

    def draw(self, painter: QPainter, rect: QRect, index: Index, theme: Theme) -> None:
        choice: MoveChoice = index.data(_CHOICE)
        colour = theme.disabled if choice.reason else theme.text
        name = "bench" if choice.target == BENCH else "add" if choice.target == NEW_GROUP else "group"
        sign = icon_pixmap(name, colour, px(18), painter.device().devicePixelRatioF())
        painter.drawPixmap(rect.x() + px(13), rect.center().y() - px(9), sign)
        upper = QRectF(rect).adjusted(px(41), px(4), -px(11), -rect.height() / 2)
        draw_text(painter, upper, choice.title, ui_font(13), colour)
        draw_text(painter, upper.translated(0, upper.height()), choice.reason or choice.about, ui_font(12), theme.muted)


class MoveToGroupDialog(Dialog):
    """A list of targets and what the move would do.

    `ghostRequested(consumer, target)` is answered with `set_ghost`; `chosen(consumer, target, start)` comes on Move,
    with the name of the new group, and where it starts ("earliest" or "latest"), if one was asked for. `name_error`
    gives the sentence against a name, or ""; `new_name` is proposed.
    """

    ghostRequested = Signal(str, str)
    chosen = Signal(str, str, str)

    def __init__(
        self,
        consumer: str,
        choices: Sequence[MoveChoice],
        name_error: Callable[[str], str] = lambda _name: "",
        new_name: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(tr("Move to group"), parent, modal=True)
        self.consumer = consumer
        self._name_error = name_error
        self._heading = plain_label(tr("Move {consumer} to", consumer=consumer), "heading", self)
        self.list = named(QListWidget(self), tr("Targets"))
        self.list.setItemDelegate(_ChoiceDelegate(self.list))
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.name = named(QLineEdit(self, placeholderText=tr("Name of the new group")), tr("Name of the new group"))
        self.name.setText(new_name)
        self.name.selectAll()
        self.name.hide()
        self.start = named(QComboBox(self), tr("Where the new group starts"))
        self.start.addItem(tr("Starts at the earliest message"), "earliest")
        self.start.addItem(tr("Starts at the end: only messages published from now on"), "latest")
        self.start.hide()
        self.problem = plain_label("", "muted", self, wrap=True)
        # Its line is kept free, so that the list does not shrink under the eye.
        self.problem.setMinimumHeight(self.problem.fontMetrics().lineSpacing() + 2)
        self._ghost_title = plain_label("", "heading", self, wrap=True)
        self._ghost_note = plain_label("", "muted", self, wrap=True)
        self.moves = MoveTable(self)
        self.make_buttons(tr("Move"))
        self._lay_out()
        for choice in choices:
            item = QListWidgetItem(self.list)
            item.setData(_CHOICE, choice)
            item.setToolTip(as_plain(f"{choice.title}\n{choice.reason or choice.about}"))
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{choice.title}. {choice.reason or choice.about}")
        self.list.currentItemChanged.connect(lambda *_items: self._on_choice())
        self.list.itemActivated.connect(lambda _item: self._accept())
        self.name.textChanged.connect(lambda _text: self._judge())
        first = next((place for place, choice in enumerate(choices) if not choice.reason), 0)
        self.list.setCurrentRow(first)
        self.list.setFocus()
        self.list.installEventFilter(self)
        self.name.installEventFilter(self)
        # The first ghost is requested after the signals can have been connected.
        QTimer.singleShot(0, self, self._request_ghost)

    def _lay_out(self) -> None:
        left = vbox(self._heading, (self.list, 1), self.name, self.start, spacing=8)
        inner = QWidget(self)
        vbox(self.moves, 1, on=inner, margins=(0, 0, 0, 0))
        right = vbox(self._ghost_title, self._ghost_note, (scrolled(inner, self), 1), spacing=6)
        panes = hbox((left, 4), (right, 5), spacing=20)
        vbox((panes, 1), self.problem, self.buttons, on=self, margins=MARGINS, spacing=10)
        self.resize(780, 420)

    def choose(self, target: str) -> None:
        """Choose a target from outside; for `NEW_GROUP` the cursor goes to the name. Unknown targets are ignored."""
        for place in range(self.list.count()):
            if self.list.item(place).data(_CHOICE).target == target:
                self.list.setCurrentRow(place)
                if target == NEW_GROUP:
                    self.name.setFocus()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Letters typed in the list name the new group; the arrow up leads from the name back into the list."""
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            naming = not self.name.isHidden()
            letters = event.text().strip()
            if watched is self.list and naming and letters and letters.isprintable():
                self.name.setFocus()
                self.name.insert(letters)
                return True
            if watched is self.name and event.key() == Qt.Key.Key_Up:
                self.list.setFocus()
                self.list.setCurrentRow(max(0, self.list.currentRow() - 1))
                return True
        return super().eventFilter(watched, event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.list.scrollToItem(self.list.currentItem())

    def choice(self) -> MoveChoice | None:
        item = self.list.currentItem()
        return item.data(_CHOICE) if item is not None else None

    def _on_choice(self) -> None:
        choice = self.choice()
        naming = choice is not None and choice.target == NEW_GROUP
        for part in (self.name, self.start):
            part.setVisible(naming)
        if naming and self.isVisible():
            self.name.setFocus()
            # The name takes its room from the list: not from the entry that asks for it.
            QTimer.singleShot(0, self, lambda: self.list.scrollToItem(self.list.currentItem()))
        self._judge()
        self._request_ghost()

    def _request_ghost(self) -> None:
        choice = self.choice()
        self.set_ghost(None)
        if choice is not None and not choice.reason:
            self.ghostRequested.emit(self.consumer, choice.target)

    def _judge(self) -> None:
        choice = self.choice()
        if choice is None:
            problem = tr("There is no other place to go.")
        elif choice.target == NEW_GROUP and not choice.reason:
            name = self.name.text().strip()
            problem = self._name_error(name) if name else tr("Enter a name for the new group.")
        else:
            problem = choice.reason
        self.problem.setText(problem)
        set_why_not(self.accept_button, problem)

    def set_ghost(self, ghost: Ghost | None) -> None:
        self._ghost_title.setText(ghost.title if ghost is not None else "")
        self._ghost_note.setText(_ghost_text(ghost) if ghost is not None else "")
        self.moves.set_moves(() if ghost is None else tuple(_row(move) for move in ghost.moves))

    def _accept(self) -> None:
        choice = self.choice()
        if choice is None or not self.accept_button.isEnabled():
            if self.name.isVisible():
                self.name.setFocus()
            return
        self.accept()
        if choice.target == NEW_GROUP:
            self.chosen.emit(self.consumer, self.name.text().strip(), self.start.currentData())
        else:
            self.chosen.emit(self.consumer, choice.target, "earliest")


def _ghost_text(ghost: Ghost) -> str:
    count = len(ghost.moves)
    moving = tr("1 partition moves") if count == 1 else tr("{count:,} partitions move", count=count)
    staying = tr("1 stays") if ghost.kept == 1 else tr("{count:,} stay", count=ghost.kept)
    return f"{moving}, {staying}. {ghost.note}".strip()


def _row(move: GhostMove) -> Move:
    return Move(f"{move.topic}/{move.partition}", move.before, move.after)
