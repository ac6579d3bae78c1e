from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import QEvent, QObject, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QIcon, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QDialog, QLineEdit, QListWidget, QListWidgetItem, QStyleOptionViewItem, QWidget

from widgets.boxes import vbox
from widgets.cells import CellDelegate, Index
from widgets.controls import named, plain_label
from widgets.drawing import draw_text
from widgets.i18n import tr
from widgets.name_search import NAMES, fit
from widgets.theme import Theme, current_theme, qcolour, ui_font

_ENTRY = Qt.ItemDataRole.UserRole
_WIDTH, _ROW = 560, 40
LISTED = 200  # further ones are never read


@dataclass(frozen=True, slots=True)
class PaletteEntry:
    """A command as the palette shows it; `reason` says why it cannot run now, "" if it can.

    What `is_thing` is no command: its id is that of the canvas, or says where to go. `more` is found too, after every
    name. `enter` says what Enter does; "" for the usual. If `fixed_rank` is set, it stands there as if its name fitted
    so well (`widgets.name_search.fit`), whatever its name is; what is `late` stands behind all whose names fit.
    """

    id: str
    title: str
    category: str
    shortcut: str = ""
    reason: str = ""
    icon: QIcon = field(default_factory=QIcon, compare=False)
    more: str = ""
    is_thing: bool = False
    enter: str = ""
    fixed_rank: int | None = None
    late: bool = False


Search = Callable[[str], Sequence[PaletteEntry]]


def _nothing(_text: str) -> Sequence[PaletteEntry]:
    return ()


def matching(entries: Sequence[PaletteEntry], text: str) -> list[PaletteEntry]:
    """The commands that match `text`, the best first, and enabled before disabled; without a text, all commands."""
    if not text.strip():
        return [one for one in entries if not one.is_thing]
    found = [(_rank(text, one), bool(one.reason), one) for one in entries]
    ranked = [(rank, idle, one) for rank, idle, one in found if rank is not None]
    return [one for _rank, _idle, one in sorted(ranked, key=lambda each: each[:2])]


def _rank(text: str, entry: PaletteEntry) -> int | None:
    rank = fit(text, entry.title, entry.category, entry.more) if entry.fixed_rank is None else entry.fixed_rank
    return rank if rank is None or not entry.late else rank + NAMES


class _EntryDelegate(CellDelegate):
    def sizeHint(self, _option: QStyleOptionViewItem, _index: Index) -> QSize:
        return QSize(_WIDTH - 40, _ROW)

    def draw(self, painter: QPainter, rect: QRect, index: Index, theme: Theme) -> None:
        entry: PaletteEntry = index.data(_ENTRY)
        mode = QIcon.Mode.Disabled if entry.reason else QIcon.Mode.Normal
        entry.icon.paint(painter, rect.x() + 14, rect.center().y() - 9, 18, 18, Qt.AlignmentFlag.AlignCenter, mode)
        small = ui_font(12)
        left = QRectF(rect).adjusted(44, 0, -14, 0)
        title = draw_text(painter, left, entry.title, ui_font(13), theme.disabled if entry.reason else theme.text)
        used = title + draw_text(painter, left.adjusted(title + 10, 0, 0, 0), entry.category, small, theme.muted)
        room, side = left.adjusted(min(left.width(), used + 30), 0, 0, 0), Qt.AlignmentFlag.AlignRight
        draw_text(painter, room, entry.reason or entry.shortcut, small, theme.muted, side)


class CommandPalette(QDialog):
    """A field and a list. Enter runs: `chosen(id)`; a disabled command stays open and says why."""

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setObjectName("palette")
        self.setWindowTitle(tr("Commands"))
        self._entries: list[PaletteEntry] = []
        self._search: Search = _nothing
        self.field = named(QLineEdit(self), tr("Command or name"))
        self.field.setPlaceholderText(tr("A command, a name, a key, a message (orders/3/17) or a time (00:31)"))
        self.list = QListWidget(self)
        self.list.setItemDelegate(_EntryDelegate(self.list))
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setUniformItemSizes(True)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.reason = plain_label("", "muted", self, wrap=True)
        self.reason.setContentsMargins(8, 2, 8, 4)
        vbox(self.field, (self.list, 1), self.reason, on=self, margins=(8, 8, 8, 8), spacing=6)
        self.field.textChanged.connect(self._show)
        self.field.installEventFilter(self)
        self.list.itemClicked.connect(lambda _item: self._run())
        self.list.currentItemChanged.connect(lambda *_items: self._show_reason())

    def show_entries(self, entries: Sequence[PaletteEntry], search: Search = _nothing) -> None:
        """Open over the parent with these commands and names; `search(text)` finds more for what is typed."""
        self._entries = list(entries)
        self._search = search
        self.field.clear()
        self._show("")
        parent = self.parentWidget()
        if parent is not None:
            height = min(12 * _ROW, parent.height() - 120) + 60
            self.resize(min(_WIDTH, parent.width() - 80), height)
            self.move(
                parent.mapToGlobal(parent.rect().topLeft()).x() + (parent.width() - self.width()) // 2,
                parent.mapToGlobal(parent.rect().topLeft()).y() + 60,
            )
        self.show()
        self.field.setFocus()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter = QPainter(self)
        painter.setPen(qcolour(current_theme().border_strong))
        painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        painter.end()

    def search_again(self) -> None:
        """The search has come to know more; what was chosen by the arrows stays chosen, else the first is."""
        chosen = self._current() if self.list.currentRow() > 0 else None
        self._show(self.field.text())
        for row, entry in enumerate(self.shown() if chosen is not None else ()):
            if chosen is not None and entry.id == chosen.id:
                self.list.setCurrentRow(row)

    def shown(self) -> list[PaletteEntry]:
        return [self.list.item(place).data(_ENTRY) for place in range(self.list.count())]

    def _show(self, text: str) -> None:
        self.list.clear()
        found = matching([*self._entries, *self._search(text)], text)
        for entry in found[:LISTED]:
            item = QListWidgetItem(self.list)
            item.setData(_ENTRY, entry)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{entry.title}, {entry.category}")
        self.list.setCurrentRow(0)
        self._show_reason()

    def _current(self) -> PaletteEntry | None:
        item = self.list.currentItem()
        return item.data(_ENTRY) if item is not None else None

    def _show_reason(self) -> None:
        entry = self._current()
        if entry is None:
            self.reason.setText(tr("No command and nothing in the session has this name."))
        elif entry.reason:
            self.reason.setText(tr("Not available: {reason}", reason=entry.reason))
        else:
            shown = tr("Enter shows it on the canvas, Escape closes.")
            self.reason.setText(entry.enter or (shown if entry.is_thing else tr("Enter runs it, Escape closes.")))

    def _run(self) -> None:
        entry = self._current()
        if entry is not None and not entry.reason:
            self.close()
            self.chosen.emit(entry.id)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.field and event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            steps = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: 8, Qt.Key.Key_PageUp: -8}
            step = steps.get(Qt.Key(event.key()))
            if step is not None:
                row = min(self.list.count() - 1, max(0, self.list.currentRow() + step))
                self.list.setCurrentRow(row)
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._run()
                return True
        return super().eventFilter(watched, event)
