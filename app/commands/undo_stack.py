from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from widgets.i18n import tr

KEPT = 200


@dataclass(slots=True, eq=False)
class UndoStep:
    """Something that was done. `why_not` says why it can be neither undone nor redone now; "" if it can."""

    title: str
    undo: Callable[[], object]
    redo: Callable[[], object]
    why_not: Callable[[], str] = str


class UndoStack(QObject):
    """`changed` whenever another step is on top. What was undone is forgotten when something new is done."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._done: list[UndoStep] = []
        self._undone: list[UndoStep] = []
        self.final = ""

    def push(
        self, title: str, undo: Callable[[], object], redo: Callable[[], object], why_not: Callable[[], str] = str
    ) -> UndoStep:
        """`title` was done, and is undone and done again by these; "moved indexer-1 to auditors" is a title."""
        step = UndoStep(title, undo, redo, why_not)
        self._done = [*self._done[1 - KEPT :], step]
        self._undone.clear()
        self.final = ""
        self.changed.emit()
        return step

    def note_final(self, why: str) -> None:
        """Something irreversible was done, for the reason `why`; earlier steps can still be undone."""
        self.final = why
        self._undone.clear()
        self.changed.emit()

    def pass_final(self) -> None:
        self.final = ""
        self.changed.emit()

    @property
    def last(self) -> UndoStep | None:
        return self._done[-1] if self._done else None

    @property
    def next(self) -> UndoStep | None:
        return self._undone[-1] if self._undone else None

    def why_no_undo(self) -> str:
        return self.last.why_not() if self.last is not None else self.final or tr("Nothing has been done yet.")

    def why_no_redo(self) -> str:
        return self.next.why_not() if self.next is not None else tr("Nothing has been undone.")

    def undo(self) -> None:
        if not self.why_no_undo():
            step = self._done.pop()
            self._undone.append(step)
            self.final = ""
            step.undo()
            self.changed.emit()

    def redo(self) -> None:
        if not self.why_no_redo():
            step = self._undone.pop()
            self._done.append(step)
            step.redo()
            self.changed.emit()

    def put_back(self, step: UndoStep) -> None:
        """Undoing or redoing `step` failed: it returns to its place."""
        if self.next is step:
            self._done.append(self._undone.pop())
        elif self.last is step:
            self._undone.append(self._done.pop())
        self.changed.emit()

    def drop(self, step: UndoStep) -> None:
        self._done = [each for each in self._done if each is not step]
        self._undone = [each for each in self._undone if each is not step]
        self.changed.emit()

    def clear(self) -> None:
        self._done, self._undone, self.final = [], [], ""
        self.changed.emit()
