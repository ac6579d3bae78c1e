from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from operator import attrgetter

from PySide6.QtCore import QObject, Signal

from widgets.i18n import tr

STEPS_KEPT = 200


@dataclass(slots=True, eq=False)
class UndoStep:
    """Something that was done. `why_not` says why it can be neither undone nor redone now; "" if it can."""

    title: str
    undo: Callable[[], object]
    redo: Callable[[], object]
    why_not: Callable[[], str] = str
    number: int = field(default_factory=count().__next__)  # in the order in which they were done first


class UndoStack(QObject):
    """`changed` whenever another step is on top. What was undone is forgotten when something new is done."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._done: list[UndoStep] = []
        self._undone: list[UndoStep] = []
        self._redone: set[UndoStep] = set()  # since something new was done
        self.final = ""

    def push(
        self, title: str, undo: Callable[[], object], redo: Callable[[], object], why_not: Callable[[], str] = str
    ) -> UndoStep:
        """`title` was done, and is undone and done again by these; "moved indexer-1 to auditors" is a title."""
        step = UndoStep(title, undo, redo, why_not)
        self._done = [*self._done[1 - STEPS_KEPT :], step]
        self.note_final("")
        return step

    def note_final(self, why: str) -> None:
        """Something irreversible was done, for the reason `why`; earlier steps can still be undone."""
        self.final = why
        self._undone, self._redone = [], set()
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
            self._redone.add(step)
            step.redo()
            self.changed.emit()

    def put_back(self, step: UndoStep) -> None:
        """Undoing or redoing `step` failed: it returns to its place, whatever was done and undone since. If something
        new was done since it was redone, it is forgotten.
        """
        was_done = step in self._done
        self.drop(step)
        if not was_done:
            self._done = sorted([*self._done, step], key=attrgetter("number"))
        elif step in self._redone:
            self._undone = sorted([*self._undone, step], key=attrgetter("number"), reverse=True)
        self.changed.emit()

    def drop(self, step: UndoStep) -> None:
        self._done = [each for each in self._done if each is not step]
        self._undone = [each for each in self._undone if each is not step]
        self.changed.emit()

    def clear(self) -> None:
        self._done = []
        self.note_final("")
