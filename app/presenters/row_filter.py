"""Rows filtered and sorted, many of them a slice at a time between events."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from typing import Any, Generic, NamedTuple

from PySide6.QtCore import QObject, QTimer, Signal

from app.presenters.columns import Row

# Up to so many rows are done at once: in less than a frame.
AT_ONCE = 5_000
STRIDE = 500
SLICE_S = 0.006
# The event loop runs between two slices.
PAUSE_MS = 1


class Wanted(NamedTuple, Generic[Row]):
    """Rows that every one of `tests` accepts, by `order` if there is one."""

    tests: tuple[Callable[[Row], bool], ...] = ()
    order: Callable[[Row], Any] | None = None
    down: bool = False


def selected_rows(rows: Sequence[Row], wanted: Wanted[Row]) -> Generator[None, None, list[Row]]:
    for test in wanted.tests:
        kept: list[Row] = []
        for first in range(0, len(rows), STRIDE):
            kept += filter(test, rows[first : first + STRIDE])
            yield
        rows = kept
    if wanted.order is None:
        return list(rows)
    values: list[Any] = []
    for first in range(0, len(rows), STRIDE):
        values += map(wanted.order, rows[first : first + STRIDE])
        yield
    places = sorted(range(len(rows)), key=values.__getitem__, reverse=wanted.down)
    yield
    return [rows[place] for place in places]


class RowFilter(QObject, Generic[Row]):
    """Calls `show` with the selected rows: before `apply` returns if there are few, else later.

    `worked(True)` is emitted when a new selection of many rows begins, `worked(False)` when it is shown.
    """

    worked = Signal(bool)

    def __init__(self, show: Callable[[list[Row]], object], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._show = show
        self._wanted: Wanted[Row] = Wanted()
        self._work: Generator[None, None, list[Row]] | None = None
        self._next: Sequence[Row] | None = None
        self._reported = False
        self._timer = QTimer(self, interval=PAUSE_MS)
        self._timer.timeout.connect(lambda: self._run(time.perf_counter() + SLICE_S))

    @property
    def busy(self) -> bool:
        return self._work is not None

    def apply(self, rows: Sequence[Row], wanted: Wanted[Row]) -> None:
        """Filter and sort `rows`; what was wanted before is dropped.

        If only the rows are others, those before are shown first: else a list that changes every second
        would never come to its end.
        """
        many = len(rows) > AT_ONCE and bool(wanted.tests or wanted.order)
        if many and self._work is not None and wanted == self._wanted:
            self._next = rows
            return
        other = wanted != self._wanted
        self._wanted, self._next, self._work = wanted, None, selected_rows(rows, wanted)
        if many:
            self._timer.start()
            self._report(other or self._reported)
        else:
            self.settle()

    def _report(self, working: bool) -> None:
        if working != self._reported:
            self._reported = working
            self.worked.emit(working)

    def settle(self) -> None:
        while self._work is not None:
            self._run(float("inf"))

    def _run(self, until_s: float) -> None:
        work = self._work
        try:
            while work is not None:
                next(work)
                if time.perf_counter() >= until_s:
                    return
        except StopIteration as end:
            rows, self._next, self._work = self._next, None, None
            self._timer.stop()
            self._show(end.value)
            self._report(False)
            if rows is not None:
                self.apply(rows, self._wanted)
