from __future__ import annotations

from collections.abc import Callable, Hashable, Set
from itertools import chain
from typing import Any, ClassVar

from PySide6.QtCore import (
    QAbstractItemModel,
    QEvent,
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QObject,
    QPoint,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import QFont, QFontMetrics, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from widgets.facts import named, push_button, set_plain_tip
from widgets.i18n import localized, tr
from widgets.panels.cell_painter import (
    ROW_HEIGHT,
    CellDelegate,
    ChipDelegate,
    CountdownDelegate,
    OwnerBarDelegate,
    StateDelegate,
)
from widgets.panels.panel import Panel
from widgets.roles import CellKind, ColumnLook, Role
from widgets.theme import follow_theme, px, ui_font

# From here on Qt either takes the whole table for selected, whatever rows come between, or holds on to each cell alone,
# which takes seconds for a hundred thousand rows.
ROWS_MIN = 100
# A selection in more pieces than this is dropped: every cell that is painted asks all of them.
SPANS_MAX = 2_000


class KeptSelection(QObject):
    """`take` before the layout of rows changes, `give_back` after it; the model has `keys(first, last)`."""

    def __init__(self, table: QTableView) -> None:
        super().__init__(table)
        self._table = table
        self._keys: frozenset[Hashable] = frozenset()

    def take(self) -> None:
        chosen, keys_of = self._table.selectionModel(), getattr(self._table.model(), "keys", None)
        self._keys = frozenset()
        if chosen is None or keys_of is None:
            return
        spans = {(span.top(), span.bottom()) for span in chosen.selection()}  # type: ignore[attr-defined]
        if sum(last - first + 1 for first, last in spans) >= ROWS_MIN:
            self._keys = frozenset(chain.from_iterable(keys_of(first, last) for first, last in spans))
            chosen.clearSelection()

    def give_back(self) -> None:
        kept, self._keys = self._keys, frozenset()
        if not kept:
            return
        model, chosen = self._table.model(), QItemSelection()
        keys = model.keys(0, None)  # type: ignore[attr-defined]
        spans = _spans(list(map(kept.__contains__, keys)))
        if len(spans) > SPANS_MAX:
            return
        last_column = model.columnCount() - 1
        for first, last in spans:
            chosen.select(model.index(first, 0), model.index(last, last_column))
        self._table.selectionModel().select(chosen, QItemSelectionModel.SelectionFlag.Select)


def _spans(chosen: list[bool]) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    at = 0
    while True:
        try:
            first = chosen.index(True, at)
        except ValueError:
            return spans
        try:
            at = chosen.index(False, first)
        except ValueError:
            at = len(chosen)
        spans.append((first, at - 1))


FILTERING_SHOWN_AFTER_MS = 150
# Of the words of a header, and the room at both their sides, as in the style sheet.
HEADER_PIXELS, HEADER_PADDING = 12, 18

_DELEGATES: dict[str, Callable[[QAbstractItemView], CellDelegate]] = {
    "chip": ChipDelegate,
    "state": StateDelegate,
    "countdown": CountdownDelegate,
    "owners": OwnerBarDelegate,
}
_POINTER_MOVES = frozenset({QEvent.Type.Enter, QEvent.Type.MouseMove, QEvent.Type.Leave})
_TO_A_ROW = frozenset({Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_Home})


class RowTable(QTableView):
    """A table of whole rows, with no grid, that shares its width among the columns until the user drags one.

    How a column is drawn is the `Role.LOOK` of its header.
    """

    def __init__(self, model: QAbstractItemModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        looks = (model.headerData(at, Qt.Orientation.Horizontal, Role.LOOK) for at in range(model.columnCount()))
        self._looks: tuple[ColumnLook, ...] = tuple(look or ColumnLook() for look in looks)
        self._dragged = False
        self._fitting = False
        # Before and after the view's own selection.
        self._kept = KeptSelection(self)
        model.layoutAboutToBeChanged.connect(self._kept.take)
        self.setModel(model)
        model.layoutChanged.connect(self._kept.give_back)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerItem)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setMouseTracking(True)
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        rows = self.verticalHeader()
        rows.hide()
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        # Painting a header asks its selection about every row of a column; this one never has any.
        header.setSelectionModel(QItemSelectionModel(model, header))
        header.setMinimumSectionSize(40)
        header.setSortIndicatorClearable(True)
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        header.sectionResized.connect(self._on_resized)
        self.setSortingEnabled(True)
        for place, look in enumerate(self._looks):
            self.setItemDelegateForColumn(place, self._delegate(look.kind))
        follow_theme(self._follow_type)

    def _follow_type(self) -> None:
        rows = self.verticalHeader()
        rows.setMinimumSectionSize(px(ROW_HEIGHT))
        rows.setDefaultSectionSize(px(ROW_HEIGHT))
        if not self._dragged:
            self.fit()

    def _delegate(self, kind: CellKind) -> CellDelegate:
        if kind in _DELEGATES:
            return _DELEGATES[kind](self)
        side = Qt.TextElideMode.ElideLeft if kind == "place" else Qt.TextElideMode.ElideRight
        return CellDelegate(self, mono=kind == "mono", tabular=kind == "number", elide=side)

    def _on_resized(self, _section: int, old: int, new: int) -> None:
        """Qt tells of hidden columns, too, where rows have another order."""
        if old and new and not self._fitting:
            self._dragged = True

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if not self._dragged:
            self.fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """The focus makes the first row the current one without choosing it: Down, Up and Home choose it then."""
        current, chosen = self.currentIndex(), self.selectionModel()
        plain = event.modifiers() in {Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier}
        if plain and event.key() in _TO_A_ROW and current.isValid() and not chosen.isSelected(current):
            flags = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
            chosen.select(current, flags)
            return
        super().keyPressEvent(event)

    def fit(self) -> None:
        """Each column its least width, the rest by stretch; columns that can be spared go if there is no room."""
        room = self.viewport().width()
        shown = list(range(len(self._looks)))
        least = [self._least_width(place) for place in shown]
        for place in sorted(shown, key=lambda at: -self._looks[at].spare):
            if self._looks[place].spare and sum(least[at] for at in shown) > room:
                shown.remove(place)
        left = max(0, room - sum(least[place] for place in shown))
        shares = sum(self._looks[place].stretch for place in shown)
        self._fitting = True
        for place, look in enumerate(self._looks):
            self.setColumnHidden(place, place not in shown)
            if place in shown:
                self.setColumnWidth(place, least[place] + (left * look.stretch // shares if shares else 0))
        self._fitting = False

    def _least_width(self, place: int) -> int:
        model: QAbstractItemModel | None = self.model()  # gone before the table where the window is taken apart
        title = "" if model is None else str(model.headerData(place, Qt.Orientation.Horizontal) or "")
        words = QFontMetrics(ui_font(HEADER_PIXELS, QFont.Weight.Medium)).horizontalAdvance(title)
        return max(px(self._looks[place].width), words + px(HEADER_PADDING))


class TablePanel(Panel):
    """Title, filter and table.

    `currentChanged(key)` comes with the key of the current row or None, `selectionChanged(count)` with the number of
    selected rows, `contextMenuRequested(key, global_pos)` on a right click or the menu key, `opened(key)` on Enter or a
    double click.
    """

    least_height: int = 84
    multiple: ClassVar[bool] = False
    """Whether several rows can be selected."""

    currentChanged = Signal(object)
    selectionChanged = Signal(int)
    contextMenuRequested = Signal(object, QPoint)
    opened = Signal(object)

    def __init__(self, model: QAbstractItemModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._total: int | None = None
        self._messages = self._held_back = 0
        self._reported_key: Hashable = None
        self._just_reported = self._pointed = False
        self._filtering = QTimer(self, singleShot=True, interval=FILTERING_SHOWN_AFTER_MS)
        self._filtering.timeout.connect(lambda: self.set_count(tr("Filtering and sorting...")))
        self.model = model
        self._gone: Set[Hashable] = getattr(model, "gone", frozenset())
        self.table = named(RowTable(model, self), self.title)
        mode = QAbstractItemView.SelectionMode
        self.table.setSelectionMode(mode.ExtendedSelection if self.multiple else mode.SingleSelection)
        self.table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.table.customContextMenuRequested.connect(self._on_menu)
        self.table.activated.connect(lambda index: self.opened.emit(index.data(Role.KEY)))
        chosen = self.table.selectionModel()
        chosen.currentRowChanged.connect(lambda index, _old: self._report_current(index))
        chosen.selectionChanged.connect(lambda _new, _old: self._on_selection())
        self.table.clicked.connect(self._on_click)
        model.dataChanged.connect(self._on_cells)
        chosen.selectionChanged.connect(lambda _new, _old: self.selectionChanged.emit(self.selected_count()))
        self.waiting = push_button("", self, role="link", by_tab=True)
        set_plain_tip(
            self.waiting,
            tr("New rows wait while the pointer is over the list or a row is selected; click to show them."),
        )
        self.waiting.hide()
        self.title_row.insertWidget(2, self.waiting)
        if hasattr(model, "hold"):
            held: Any = model
            held.waiting_changed.connect(self._show_waiting)
            self.waiting.clicked.connect(held.let_in)
            self.table.viewport().installEventFilter(self)
            # Afterwards: rows may be on their way out just now.
            chosen.selectionChanged.connect(lambda _new, _old: QTimer.singleShot(0, self, self._hold))
        self.stack.addWidget(self.body())
        for signal in (model.rowsInserted, model.rowsRemoved, model.modelReset, model.layoutChanged):
            signal.connect(self._on_rows)
        self._on_rows()

    def body(self) -> QWidget:
        """The part below the title row; a subclass may put the table next to other widgets."""
        return self.table

    def focus_body(self) -> None:
        if self.table.isVisible():
            self.table.setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            super().focus_body()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Rows stand still under the pointer, and while a menu has it."""
        if event.type() in _POINTER_MOVES:
            self._hold(over=event.type() is not QEvent.Type.Leave)
        return super().eventFilter(watched, event)

    def _hold(self, over: bool | None = None) -> None:
        """New rows wait while the pointer is over the rows or any is selected; under it those that are gone stay."""
        self._pointed = self._pointed if over is None else over
        model: Any = self.model
        model.hold(self._pointed or self.table.selectionModel().hasSelection(), gone=self._pointed)

    def _show_waiting(self, count: int) -> None:
        self.waiting.setText(tr("{count:,} new", count=count))
        self.waiting.setVisible(count > 0)
        self._held_back = count
        self._on_rows()

    def set_total(self, total: int) -> None:
        if total != self._total:
            self._total = total
            self._on_rows()

    def set_messages(self, count: int) -> None:
        """How many messages all rows stand for, if one may stand for many."""
        if count != self._messages:
            self._messages = count
            self._on_rows()

    def set_filtering(self, filtering: bool) -> None:
        """Many rows are being filtered or sorted: if it takes a moment, the panel says so instead of its count."""
        if filtering:
            self._filtering.start()
        else:
            self._filtering.stop()
            self._on_rows()

    def _on_rows(self, *_what: object) -> None:
        shown = self.model.rowCount()
        total = self._total
        if total is not None and total > shown + self._held_back:
            self.set_count(tr("{shown:,} of {total:,} are shown", shown=shown, total=total))
        elif self._messages > shown:
            self.set_count(tr("{messages:,} messages in {rows:,} rows", messages=self._messages, rows=shown))
        else:
            self.set_count(localized(f"{shown if total is None else total:,}"))  # what has just gone is still a row
        self.show_body(shown > 0)

    def _key_at(self, index: QModelIndex) -> Hashable:
        key: Hashable = index.data(Role.KEY) if index.isValid() else None
        return key

    def _on_menu(self, where: QPoint) -> None:
        index = self.table.indexAt(where)
        if index.isValid():
            self.contextMenuRequested.emit(self._key_at(index), self.table.viewport().mapToGlobal(where))

    def _report_current(self, index: QModelIndex) -> None:
        # A table that gets the focus makes its first row the current one, which was not chosen.
        if index.isValid() and not self.table.selectionModel().isSelected(index):
            return
        self._reported_key = self._key_at(index)
        self._just_reported = True
        self.currentChanged.emit(self._reported_key)

    def _on_selection(self) -> None:
        """The current row can be selected without becoming current anew."""
        current = self.table.currentIndex()
        if current.isValid() and self._key_at(current) != self._reported_key:
            self._report_current(current)

    def _on_click(self, index: QModelIndex) -> None:
        """A click on the current row reports it again."""
        if not self._just_reported:
            self._report_current(index)
        self._just_reported = False

    def _on_cells(self, first: QModelIndex, last: QModelIndex) -> None:
        """If rows are loaded when they come into view, the current row may have arrived only now."""
        current = self.table.currentIndex()
        if self._reported_key is None and current.isValid() and first.row() <= current.row() <= last.row():
            self._report_current(current)

    def current_key(self) -> Hashable:
        return self._key_at(self.table.currentIndex())

    def _selected_spans(self) -> list[tuple[int, int]]:
        selection = self.table.selectionModel().selection()
        parts = [selection.at(place) for place in range(selection.count())]
        return sorted({(part.top(), part.bottom()) for part in parts})

    def selected_count(self) -> int:
        """Without rows that are no more, and are shown only to keep the others in their places."""
        if self._gone:
            return len(self.selected_keys())
        return sum(last - first + 1 for first, last in self._selected_spans())

    def shown_count(self) -> int:
        return self.model.rowCount() - len(self._gone)

    def selected_keys(self) -> list[Hashable]:
        return [key for first, last in self._selected_spans() for key in self._keys(first, last)]

    def shown_keys(self) -> list[Hashable]:
        """Keys of all rows that are shown, from the top down; never of rows that a filter is about to take away."""
        settle = getattr(self.model, "settle", None)
        if settle is not None:
            settle()
        return self._keys(0, self.model.rowCount() - 1)

    def _keys(self, first: int, last: int) -> list[Hashable]:
        at_once = getattr(self.model, "keys", None)
        if at_once is not None:
            # A cell at a time takes a second for a hundred thousand rows.
            keys: list[Hashable] = at_once(first, last)
            return [key for key in keys if key not in self._gone] if self._gone else keys
        return [self.model.index(place, 0).data(Role.KEY) for place in range(first, last + 1)]

    def select(self, place: int) -> None:
        flags = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
        self.table.selectionModel().setCurrentIndex(self.model.index(place, 0), flags)
