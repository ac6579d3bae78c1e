"""Tables of whole rows: how their columns share the width, and how they keep a large selection."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from itertools import chain

from PySide6.QtCore import QAbstractItemModel, QItemSelection, QItemSelectionModel, QObject, Qt
from PySide6.QtGui import QFont, QFontMetrics, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from widgets.cells import ROW_HEIGHT, CellDelegate
from widgets.controls import plain_label, set_plain_tip
from widgets.i18n import tr
from widgets.panels.cell_painter import ChipDelegate, CountdownDelegate, OwnerBarDelegate, StateDelegate
from widgets.roles import CellKind, ColumnLook, HeldRows, Role
from widgets.theme import follow_theme, px, ui_font

# From here on Qt either takes the whole table for selected, whatever rows come between, or holds on to each cell alone,
# which takes seconds for a hundred thousand rows.
ROWS_MIN = 100
# A selection in more pieces than this is dropped: every cell that is painted asks all of them.
SPANS_MAX = 2_000
# Of the words of a header, and the room at both their sides, as in the style sheet.
HEADER_PIXELS, HEADER_PADDING = 12, 18
SPARED_WIDTH = 28  # of the sign that counts columns without room
_DELEGATES: dict[str, Callable[[QAbstractItemView], CellDelegate]] = {
    "chip": ChipDelegate,
    "state": StateDelegate,
    "countdown": CountdownDelegate,
    "owners": OwnerBarDelegate,
}
_TO_A_ROW = frozenset({Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_Home})


class KeptSelection(QObject):
    """`take` before the layout of rows changes, `give_back` after it."""

    def __init__(self, table: QTableView, rows: HeldRows | None) -> None:
        super().__init__(table)
        self._table, self._rows = table, rows
        self._keys: frozenset[Hashable] = frozenset()

    def take(self) -> None:
        chosen, rows = self._table.selectionModel(), self._rows
        self._keys = frozenset()
        if chosen is None or rows is None:
            return
        spans = {(span.top(), span.bottom()) for span in chosen.selection()}  # type: ignore[attr-defined]
        if sum(last - first + 1 for first, last in spans) >= ROWS_MIN:
            self._keys = frozenset(chain.from_iterable(rows.keys(first, last) for first, last in spans))
            chosen.clearSelection()

    def give_back(self) -> None:
        kept, self._keys = self._keys, frozenset()
        if self._rows is None or not kept:
            return
        model, chosen = self._table.model(), QItemSelection()
        spans = _spans(list(map(kept.__contains__, self._rows.keys(0, None))))
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


class RowTable(QTableView):
    """A table of whole rows, with no grid, that shares its width among the columns until the user drags one.

    How a column is drawn is the `Role.LOOK` of its header. `held_rows` is its model if that can hold rows.
    """

    def __init__(self, model: QAbstractItemModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        looks = (model.headerData(at, Qt.Orientation.Horizontal, Role.LOOK) for at in range(model.columnCount()))
        self._looks: tuple[ColumnLook, ...] = tuple(look or ColumnLook() for look in looks)
        self._dragged = False
        self._fitting = False
        self.held_rows = model if isinstance(model, HeldRows) else None
        # Before and after the view's own selection.
        self._kept = KeptSelection(self, self.held_rows)
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
        self.spared = plain_label("", "muted", header)
        self.spared.setAutoFillBackground(True)  # where it covers a title
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
        room, sign = self.viewport().width(), px(SPARED_WIDTH)
        shown = list(range(len(self._looks)))
        least = [self._least_width(place) for place in shown]
        for place in sorted(shown, key=lambda at: -self._looks[at].spare):
            # Once a column is hidden, the sign that says so takes room, too.
            needed = sum(least[at] for at in shown) + (sign if len(shown) < len(least) else 0)
            if self._looks[place].spare and needed > room:
                shown.remove(place)
        needed = sum(least[place] for place in shown)
        if len(shown) < len(least) and needed + sign <= room:  # else the sign covers the end of the last title
            needed += sign
        left = max(0, room - needed)
        shares = sum(self._looks[place].stretch for place in shown)
        self._fitting = True
        for place, look in enumerate(self._looks):
            self.setColumnHidden(place, place not in shown)
            if place in shown:
                self.setColumnWidth(place, least[place] + (left * look.stretch // shares if shares else 0))
        self._fitting = False
        hidden = [self._title(place) for place in range(len(least)) if place not in shown]
        self.spared.setText(f"+{len(hidden)}")
        self.spared.setGeometry(room - sign, 0, sign, self.horizontalHeader().height())
        set_plain_tip(self.spared, tr("Hidden until the table is wider: {names}", names=", ".join(hidden)))
        self.spared.setVisible(bool(hidden))

    def _title(self, place: int) -> str:
        model: QAbstractItemModel | None = self.model()  # gone before the table where the window is taken apart
        return "" if model is None else str(model.headerData(place, Qt.Orientation.Horizontal) or "")

    def _least_width(self, place: int) -> int:
        words = QFontMetrics(ui_font(HEADER_PIXELS, QFont.Weight.Medium)).horizontalAdvance(self._title(place))
        return max(px(self._looks[place].width), words + px(HEADER_PADDING))
