"""The selection of a long table while its rows change places: kept by the keys of rows."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import chain

from PySide6.QtCore import QItemSelection, QItemSelectionModel, QObject
from PySide6.QtWidgets import QTableView

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
        """Remember which rows are selected, and leave none."""
        chosen, keys_of = self._table.selectionModel(), getattr(self._table.model(), "keys", None)
        self._keys = frozenset()
        if chosen is None or keys_of is None:
            return
        spans = {(span.top(), span.bottom()) for span in chosen.selection()}  # type: ignore[attr-defined]
        if sum(last - first + 1 for first, last in spans) >= ROWS_MIN:
            self._keys = frozenset(chain.from_iterable(keys_of(first, last) for first, last in spans))
            chosen.clearSelection()

    def give_back(self) -> None:
        """Select the rows again, wherever they are now."""
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
    """First and last place of each run of True."""
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
