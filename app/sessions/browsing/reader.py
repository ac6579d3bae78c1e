from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Generic, TypeVar

from PySide6.QtCore import QObject, Signal

from app.sessions.queries import Answers, HasSource
from broker_core.operations.request import Request
from broker_core.snapshots import DeadLetterView, LeaseView

T = TypeVar("T", LeaseView, DeadLetterView)
Page = TypeVar("Page")
RETRY_S = 5.0  # after a failure, beyond `every_s`


class Kept(Generic[T]):
    """The rows that were read of a queue or a topic when it was in `state`.

    Where single rows are asked for, `known` has those that are here, of all `offsets`, `sizes` their bytes; `missing`
    are still to be asked for, `under_way` counts the questions, and `failed` says why one had no answer.
    """

    def __init__(self) -> None:
        self.rows: tuple[T, ...] = ()
        self.state: object = None
        self.asking = False  # while the next reading goes on
        self.read_s = float("-inf")
        self.known: dict[int, T] = {}
        self.sizes: dict[int, int] = {}
        self.offsets: Sequence[int] = ()
        self.missing: list[int] = []
        self.under_way = 0
        self.failed = ""


class Reader(QObject, Generic[T]):
    """Keeps what was read of queues or topics, by their names; `changed` when there is more, or a `problem`."""

    changed = Signal()
    every_s = 1.0

    def __init__(self, asked: HasSource) -> None:
        super().__init__()
        self._answers = Answers(asked, self)
        self._kept: dict[str, Kept[T]] = {}
        self.problem = ""

    def restart(self) -> None:
        self._answers.drop()
        self._kept.clear()
        self.problem = ""

    def _begin(self, name: str, state: object) -> Kept[T] | None:
        """Begin to read what `name` has now; None within `every_s`, while that goes on, or if its `state` is known."""
        kept = self._kept.setdefault(name, Kept())
        if kept.asking or kept.under_way or kept.state == state or time.perf_counter() - kept.read_s < self.every_s:
            return None
        kept.asking = True
        return kept

    def _ask(self, kept: Kept[T], request: Request[Page], answered: Callable[[Page], object]) -> None:
        self._answers.ask(request, answered, lambda why: self._show(kept, kept.rows, why))

    def _show(self, kept: Kept[T], rows: Iterable[T], problem: str = "") -> None:
        """The reading has ended with these `rows`."""
        kept.rows, kept.asking, kept.read_s, self.problem = tuple(rows), False, time.perf_counter(), problem
        if problem:  # it is read again, but not at once
            kept.state, kept.read_s = None, kept.read_s + RETRY_S
        self.changed.emit()
