"""A table model over immutable rows that tells its view only what has changed.

Rows are any immutable values (structs of the snapshot, tuples); each has a key that lives as long as what it stands
for. Sorting and filtering happen here and not in a proxy, because a proxy asks Python for every comparison.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Sequence

from PySide6.QtCore import QModelIndex, Qt, Signal

from app.presenters.columns import Asked, Column, ColumnModel, Index, KeyOf, Row
from app.presenters.row_changes import common_prefix, common_suffix, row_changes
from app.presenters.row_filter import RowFilter, Wanted
from broker_core.snapshots import Snapshot

_MAX_CELL_SIGNALS = 48
# Where more rows differ, to find out which came and which went takes longer than to lay out anew.
_MAX_COMPARED = 5_000


class TableModel(ColumnModel[Row]):
    """Rows under declared columns.

    `counted(shown, total)` comes when either changes. `waiting_changed(count)` tells how many new rows `hold` keeps
    back. `filtering_changed(True)` comes when filtering or sorting takes more than a moment, `filtering_changed(False)`
    when its rows are shown.
    """

    counted = Signal(int, int)
    waiting_changed = Signal(int)
    filtering_changed = Signal(bool)

    def __init__(
        self,
        columns: Sequence[Column[Row]],
        key: KeyOf[Row],
        haystack: Callable[[Row], str] | None = None,
        *,
        more: Sequence[Asked[Row]] = (),
    ) -> None:
        super().__init__(columns, key, more)
        self._haystack = haystack or (lambda row: "\n".join(column.text(row) for column in self.columns))
        self.rows: Sequence[Row] = ()
        self._shown: list[Row] = []
        self._test: Callable[[Row], bool] | None = None
        self._only: Callable[[Row], bool] | None = None
        self._search_texts: dict[Hashable, tuple[Row, str]] = {}
        self._sort_by: int | None = None
        self._sort_down = False
        self._counts = (0, 0)
        self._hold = self._hold_gone = self._rearranged = False
        self._latest: list[Row] = []  # as they would be shown if nothing were held
        #: Keys of rows that are shown only to keep the others in their places.
        self.gone: set[Hashable] = set()
        self.waiting = 0
        self._row_filter: RowFilter[Row] = RowFilter(self._apply_hold, self)
        self._row_filter.worked.connect(self.filtering_changed)
        self.filter_changed.connect(self._refilter)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        return 0 if parent.isValid() else len(self._shown)

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column from now on; -1 for the order in which the rows are given."""
        self._rearranged = True
        self._sort_by = column if 0 <= column < len(self.columns) else None
        self._sort_down = order == Qt.SortOrder.DescendingOrder
        self._filter_and_sort()

    def set_rows(self, rows: Sequence[Row]) -> None:
        """Show `rows` (not to be changed afterwards). Costs next to nothing if they are the same as before."""
        if rows is self.rows or rows == self.rows:
            return
        self.rows = rows
        self._filter_and_sort()

    def _refilter(self) -> None:
        self._rearranged = True
        self._test = None if self.filter.takes_all else self.filter.tester(self.answers, self._folded)
        self._filter_and_sort()

    def set_only(self, wanted: Callable[[Row], bool] | None) -> None:
        """Show only rows that `wanted` accepts, beside the filter; None for all."""
        self._only, self._rearranged = wanted, True
        self._filter_and_sort()

    def hold(self, on: bool, *, gone: bool = False) -> None:
        """Keep rows where they are: new ones wait, and none changes its place. `gone` keeps what is no more, too.

        What the user asks for, another filter or order, is shown all the same.
        """
        if (on, gone) != (self._hold, self._hold_gone):
            self._hold, self._hold_gone = on, gone
            self._apply_hold(self._latest)

    def let_in(self, *, next_too: bool = False) -> None:
        """Show what waits; `next_too` what comes next, because the user has made it."""
        self._rearranged = True
        self._apply_hold(self._latest)
        self._rearranged = next_too

    def touch_live(self) -> None:
        """The clock moved: columns marked as live are drawn again."""
        if not self._shown:
            return
        for place, column in enumerate(self.columns):
            if column.live:
                self.dataChanged.emit(self.index(0, place), self.index(len(self._shown) - 1, place))

    @property
    def total(self) -> int:
        return len(self.rows)

    def row_of(self, key: Hashable) -> Row | None:
        return next((row for row in self.rows if self._key(row) == key), None)

    def row_at(self, row: int) -> Row:
        return self._shown[row]

    def keys(self, first: int = 0, last: int | None = None) -> list[Hashable]:
        """Keys of the rows shown from `first` to `last`, both included; to the end if it is None."""
        return [self._key(row) for row in self._shown[first : None if last is None else last + 1]]

    def place_of(self, key: Hashable) -> int:
        """Where the row with `key` is shown; -1 if it is not."""
        return next((place for place, row in enumerate(self._shown) if self._key(row) == key), -1)

    def _folded(self, row: Row) -> str:
        key = self._key(row)
        known = self._search_texts.get(key)
        if known is None or (known[0] is not row and known[0] != row):
            known = self._search_texts[key] = (row, self._haystack(row).casefold())
        return known[1]

    def _filter_and_sort(self) -> None:
        if self._test is None or len(self._search_texts) > 2 * len(self.rows) + 1000:
            self._search_texts.clear()
        column = None if self._sort_by is None else self.columns[self._sort_by]
        tests = tuple(test for test in (self._only, self._test) if test is not None)
        order = None if column is None else column.sort or column.text
        self._row_filter.apply(self.rows, Wanted(tests, order, self._sort_down))

    def settle(self) -> None:
        """Rows that are still being filtered or sorted are shown before this returns."""
        self._row_filter.settle()

    def _held(self, new: list[Row]) -> list[Row]:
        old, key = self._shown, self._key
        first = common_prefix(old, new)
        tail = common_suffix(old, new, first)
        between = new[first : len(new) - tail]
        self.gone.clear()
        self.waiting = len(between)
        if len(between) > _MAX_COMPARED:  # too many to tell apart at once: they stay as they were
            return old
        found = {key(row): row for row in between}
        kept: list[Row] = []
        for row in old[first : len(old) - tail]:
            now = found.pop(key(row), None)
            if now is None and self._hold_gone:
                self.gone.add(key(row))
            if now is not None or self._hold_gone:
                kept.append(row if now is None else now)
        self.waiting = len(found)
        return [*old[:first], *kept, *old[len(old) - tail :]]

    def _apply_hold(self, new: list[Row]) -> None:
        self._latest = new
        # If there is no row, none is in its place.
        held = self._hold and not self._rearranged and bool(self._shown and new)
        waited, gone = self.waiting, set(self.gone)
        self._rearranged = False
        if held:
            new = self._held(new)
        else:
            self.waiting = 0
            self.gone.clear()
        self._set_shown(new)
        if gone != self.gone and self._shown:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._shown) - 1, len(self.columns) - 1))
        if waited != self.waiting:
            self.waiting_changed.emit(self.waiting)

    def flags(self, index: Index) -> Qt.ItemFlag:
        """A row that is no more and is shown only to keep the others in their places cannot be chosen."""
        if index.isValid() and self.gone and self._key(self._shown[index.row()]) in self.gone:
            return Qt.ItemFlag.NoItemFlags
        return super().flags(index)

    def _set_shown(self, new: list[Row]) -> None:
        old = self._shown
        first = common_prefix(old, new)
        if first < max(len(old), len(new)):
            self._change(old, new, first)
        counts = (len(new), len(self.rows))
        if counts != self._counts:
            self._counts = counts
            self.counted.emit(*counts)

    def _change(self, old: list[Row], new: list[Row], first: int) -> None:
        key = self._key
        # Only what lies between an equal beginning and an equal end needs keys.
        tail = common_suffix(old, new, first)
        if min(len(old), len(new)) - first - tail > _MAX_COMPARED:
            self._change_layout(old, new, first, tail)
            return
        old_keys = [key(row) for row in old[first : len(old) - tail]]
        new_keys = [key(row) for row in new[first : len(new) - tail]]
        changes = row_changes(old_keys, new_keys, first)
        if changes.moved:
            self._change_layout(old, new, first, tail)
            return
        for start, end in changes.removals:
            self.beginRemoveRows(QModelIndex(), start, end)
            del self._shown[start : end + 1]
            self.endRemoveRows()
        for start, end in changes.insertions:
            self.beginInsertRows(QModelIndex(), start, end)
            self._shown[start:start] = new[start : end + 1]
            self.endInsertRows()
        before, self._shown = self._shown, new
        changed = [
            place
            for place in range(first, len(new) - tail)
            if before[place] is not new[place] and before[place] != new[place]
        ]
        if changed:
            self._report_cells(before, new, changed)

    def _change_layout(self, old: list[Row], new: list[Row], first: int, tail: int) -> None:
        self.layoutAboutToBeChanged.emit()
        held = self.persistentIndexList()
        self._shown = new
        between = enumerate(new[first : len(new) - tail], first) if held else ()
        places = {self._key(row): place for place, row in between}
        moved = []
        for index in held:
            row = index.row()
            if row < first:
                place = row
            elif row < len(old) - tail:
                place = places.get(self._key(old[row]), -1)
            else:  # in the equal end
                place = row + len(new) - len(old)
            moved.append(self.index(place, index.column()) if place >= 0 else QModelIndex())
        if held:
            self.changePersistentIndexList(held, moved)
        self.layoutChanged.emit()

    def _report_cells(self, before: list[Row], after: list[Row], changed: list[int]) -> None:
        last_column = len(self.columns) - 1
        if len(changed) > _MAX_CELL_SIGNALS:
            self.dataChanged.emit(self.index(changed[0], 0), self.index(changed[-1], last_column))
            return
        runs: list[tuple[int, int, int]] = []
        for place in changed:
            one, other = before[place], after[place]
            for column, getters in enumerate(self._getters):
                if any(get(one) != get(other) for get in getters.values()):
                    if runs and runs[-1][0] == place and runs[-1][2] == column - 1:
                        runs[-1] = (place, runs[-1][1], column)
                    else:
                        runs.append((place, column, column))
        if len(runs) > _MAX_CELL_SIGNALS:
            runs = []
            self.dataChanged.emit(self.index(changed[0], 0), self.index(changed[-1], last_column))
        for place, left, right in runs:
            self.dataChanged.emit(self.index(place, left), self.index(place, right))


class SnapshotModel(TableModel[Row]):
    @abstractmethod
    def set_snapshot(self, snapshot: Snapshot) -> None:
        """Show the rows as they stand in it."""
