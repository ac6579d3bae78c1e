"""A table model over far more rows than are held: pages are asked for when they are looked at.

Two ways to show rows: a *range*, whose rows are numbers without gaps (offsets of a partition, numbers of events) and of
which only the pages in sight are held; and a *list*, which is what a filter or a merge has found so far.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, Signal

from app.presenters.columns import Asked, Column, ColumnModel, Index, KeyOf, Row
from widgets.i18n import tr

PAGE = 100
PAGES_HELD = 300


class PagedModel(ColumnModel[Row]):
    """`page_wanted(first, end)` comes with numbers of rows that are looked at and not held; answer with `put`.

    `more` are fields that a filter may ask for and that are no column.
    """

    page_wanted = Signal(object, object)

    def __init__(self, columns: Sequence[Column[Row]], key: KeyOf[Row], *, more: Sequence[Asked[Row]] = ()) -> None:
        super().__init__(columns, key, more)
        self._first = self._end = 0
        self._pages: dict[int, list[Row | None]] = {}
        self._wanted: set[int] = set()
        self._list: list[Row] | None = None

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        if parent.isValid():
            return 0
        return self._end - self._first if self._list is None else len(self._list)

    @property
    def bounds(self) -> tuple[int, int]:
        return self._first, self._end

    @property
    def lists(self) -> bool:
        return self._list is not None

    def show_range(self, first: int, end: int) -> None:
        """Show the rows numbered from `first` up to `end`, without that one; nothing of them is held."""
        self._begin(None)
        self._first, self._end = first, max(first, end)
        self.endResetModel()

    def move_bounds(self, first: int, end: int) -> None:
        """The range has grown at its end, or lost rows at its beginning; loaded rows stay."""
        if self._list is not None or (first, end) == (self._first, self._end):
            return
        if first < self._first or end < self._end or first >= self._end:
            self.show_range(first, end)
            return
        if first > self._first:
            self.beginRemoveRows(QModelIndex(), 0, first - self._first - 1)
            self._first = first
            self.endRemoveRows()
        if end > self._end:
            last_page = self._end // PAGE
            self.beginInsertRows(QModelIndex(), self._end - self._first, end - self._first - 1)
            self._end = end
            self.endInsertRows()
            # The page at the old end has room for what is new.
            self._wanted.discard(last_page)

    def put(self, first: int, rows: Sequence[Row], end: int) -> None:
        """The rows from number `first` up to `end` are these; what lies between them without a row stays empty."""
        if self._list is not None or end <= first:
            return
        for page in range(first // PAGE, (end - 1) // PAGE + 1):
            held = self._pages.pop(page, None) or [None] * PAGE
            self._pages[page] = held
            self._wanted.discard(page)
        for number, row in zip(range(first, end), rows, strict=False):
            self._pages[number // PAGE][number % PAGE] = row
        while len(self._pages) > PAGES_HELD:
            del self._pages[next(iter(self._pages))]
        top, bottom = max(first, self._first) - self._first, min(end, self._end) - self._first - 1
        if top <= bottom:
            self.dataChanged.emit(self.index(top, 0), self.index(bottom, len(self.columns) - 1))

    def missing(self, first: int, end: int) -> None:
        """These rows cannot be had now; they are asked for again when they are next looked at."""
        self._wanted -= set(range(first // PAGE, (max(first, end - 1)) // PAGE + 1))

    def show_list(self) -> None:
        self._begin([])
        self.endResetModel()

    def _begin(self, rows: list[Row] | None) -> None:
        self.beginResetModel()
        self._list = rows
        self._pages.clear()
        self._wanted.clear()

    def append(self, rows: Sequence[Row], most: int = 0) -> None:
        """More rows at the end of the list; with `most`, the oldest go."""
        if self._list is None or not rows:
            return
        at = len(self._list)
        self.beginInsertRows(QModelIndex(), at, at + len(rows) - 1)
        self._list += rows
        self.endInsertRows()
        over = len(self._list) - most
        if most and over > 0:
            self.beginRemoveRows(QModelIndex(), 0, over - 1)
            del self._list[:over]
            self.endRemoveRows()

    def row_at(self, row: int) -> Row | None:
        """What the row with a number shows; None if it is not here yet, and it is asked for."""
        if self._list is not None:
            return self._list[row] if row < len(self._list) else None
        number = self._first + row
        page = number // PAGE
        held = self._pages.get(page)
        found = None if held is None else held[number % PAGE]
        if found is None and page not in self._wanted and number < self._end:
            self._wanted.add(page)
            self.page_wanted.emit(max(self._first, page * PAGE), min(self._end, (page + 1) * PAGE))
        return found

    def place_of_number(self, number: int) -> int:
        """Where the row with a number stands in the range; the nearest where it is outside."""
        return max(0, min(number, self._end - 1) - self._first)


Words = tuple[str, str, str]  # a sentence, what to do about it, and the words on the button that does it


def not_recorded(why_no_branch: str) -> Words:
    """Why a recorded session has no messages to show. `why_no_branch` is "" if a branch here would have them."""
    sentence = tr("A recording contains the events of messages, not the messages.")
    if why_no_branch:
        return sentence, tr("They cannot be restored. {why}", why=why_no_branch), ""
    how = tr("A branch reruns the same inputs up to the moment shown, in a new session that has these messages.")
    return sentence, how, tr("Branch here (Ctrl+B)")


def only_of_now() -> Words:
    return (
        tr("The log of this moment is not available."),
        tr("Segments are known only for the present."),
        tr("Follow live (Alt+Right)"),
    )
