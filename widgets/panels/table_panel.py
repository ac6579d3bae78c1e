from __future__ import annotations

from collections.abc import Hashable, Set
from typing import ClassVar

from PySide6.QtCore import (
    QAbstractItemModel,
    QEvent,
    QItemSelectionModel,
    QModelIndex,
    QObject,
    QPoint,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtWidgets import QAbstractItemView, QWidget

from widgets.controls import named, push_button, set_plain_tip
from widgets.i18n import localized, tr
from widgets.panels.panel import Panel
from widgets.roles import Role
from widgets.row_table import RowTable

FILTERING_SHOWN_AFTER_MS = 150
_POINTER_MOVES = frozenset({QEvent.Type.Enter, QEvent.Type.MouseMove, QEvent.Type.Leave})
_NOT_REPORTED = object()


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
        self._reported_key: Hashable = _NOT_REPORTED
        self._just_reported = self._pointed = False
        self._filtering = QTimer(self, singleShot=True, interval=FILTERING_SHOWN_AFTER_MS)
        self._filtering.timeout.connect(lambda: self.set_count(tr("Filtering and sorting...")))
        self.model = model
        self.table = named(RowTable(model, self), self.title)
        self._held = self.table.held_rows
        self._gone: Set[Hashable] = frozenset() if self._held is None else self._held.gone
        mode = QAbstractItemView.SelectionMode
        self.table.setSelectionMode(mode.ExtendedSelection if self.multiple else mode.SingleSelection)
        self.table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.table.customContextMenuRequested.connect(self._on_menu)
        self.table.activated.connect(lambda index: self.opened.emit(index.data(Role.KEY)))
        chosen = self.table.selectionModel()
        chosen.currentRowChanged.connect(lambda index, _old: self._on_current(index))
        chosen.selectionChanged.connect(lambda _new, _old: self._on_selection())
        self.table.clicked.connect(self._on_click)
        model.dataChanged.connect(self._on_cells)
        model.modelReset.connect(self._forget_reported)
        self.table.viewport().installEventFilter(self)
        self.waiting = push_button("", self, role="link", by_tab=True)
        set_plain_tip(
            self.waiting,
            tr("New rows wait while the pointer is over the list or a row is selected; click to show them."),
        )
        self.waiting.hide()
        self.title_row.insertWidget(2, self.waiting)
        if self._held is not None:
            self._held.waiting_changed.connect(self._show_waiting)
            self.waiting.clicked.connect(self._held.let_in)
            # Afterwards: rows may be on their way out just now.
            chosen.selectionChanged.connect(lambda _new, _old: QTimer.singleShot(0, self, self._hold))
        self.stack.addWidget(self.body())
        self._count_rows_of(model)

    def _count_rows_of(self, model: QAbstractItemModel) -> None:
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
        if event.type() is QEvent.Type.MouseButtonPress:
            self._just_reported = False
        if event.type() in _POINTER_MOVES:
            self._hold(over=event.type() is not QEvent.Type.Leave)
        return super().eventFilter(watched, event)

    def _hold(self, over: bool | None = None) -> None:
        """New rows wait while the pointer is over the rows or any is selected; under it those that are gone stay."""
        self._pointed = self._pointed if over is None else over
        if self._held is not None:
            self._held.hold(self._pointed or self.table.selectionModel().hasSelection(), gone=self._pointed)

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
        shown, total = self.model.rowCount(), self._total
        listed = shown + self._held_back
        if total is not None and total > listed:
            self.set_count(tr("{shown:,} of {total:,} are shown", shown=shown, total=total))
        elif self._messages > listed:
            self.set_count(tr("{messages:,} messages in {rows:,} rows", messages=self._messages, rows=listed))
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

    def _on_current(self, index: QModelIndex) -> None:
        """Qt selects a row before it makes it current: `_on_selection` has reported it, unless it is not selected."""
        if self._key_at(index) != self._reported_key:
            self._forget_reported()
            self._report_current(index)

    def _forget_reported(self) -> None:
        self._reported_key = _NOT_REPORTED

    def _on_selection(self) -> None:
        """The current row can be selected without becoming current anew."""
        current = self.table.currentIndex()
        if current.isValid() and self._key_at(current) != self._reported_key:
            self._report_current(current)
        self.selectionChanged.emit(self.selected_count())

    def _on_click(self, index: QModelIndex) -> None:
        """A click on the current row reports it again, unless its press has just reported it."""
        if not self._just_reported:
            self._report_current(index)

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

    def chosen_key(self) -> Hashable:
        """Of the first selected row, None without one; the current row need not be selected."""
        return next(iter(self.selected_keys()), None)

    def shown_keys(self) -> list[Hashable]:
        """Keys of all rows that are shown, from the top down; never of rows that a filter is about to take away."""
        if self._held is not None:
            self._held.settle()
        return self._keys(0, self.model.rowCount() - 1)

    def _keys(self, first: int, last: int) -> list[Hashable]:
        if self._held is not None:
            # A cell at a time takes a second for a hundred thousand rows.
            keys = self._held.keys(first, last)
            return [key for key in keys if key not in self._gone] if self._gone else keys
        return [self.model.index(place, 0).data(Role.KEY) for place in range(first, last + 1)]

    def select(self, place: int) -> None:
        flags = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
        self.table.selectionModel().setCurrentIndex(self.model.index(place, 0), flags)
