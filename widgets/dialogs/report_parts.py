"""The parts of a report, each with its check box, and All and None for all of them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QGridLayout, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from widgets.facts import plain_label, set_plain_tip
from widgets.i18n import tr

COLUMNS = 3


@dataclass(frozen=True, slots=True)
class PartChoice:
    """A part of a report: its name, what it is called, and whether a history has anything of it."""

    name: str
    title: str
    in_history: bool = True


class PartsField(QWidget):
    """`changed` when other parts are ticked, or can be."""

    changed = Signal()

    def __init__(self, parts: Sequence[PartChoice], left_out: Collection[str] = (), parent: QWidget | None = None):
        """All but those `left_out` are ticked; all, where none would be left."""
        super().__init__(parent)
        self.setAccessibleName(tr("Parts of the report"))
        self._parts = tuple(parts)
        left_out = left_out if any(part.name not in left_out for part in parts) else ()
        self._put_aside: set[str] = set()  # ticked, but of no use in a history
        self.all_button, self.none_button = QPushButton(tr("All"), self), QPushButton(tr("None"), self)
        for button, name, on in (
            (self.all_button, tr("All parts of the report"), True),
            (self.none_button, tr("No part of the report"), False),
        ):
            button.setProperty("role", "link")
            button.setAutoDefault(False)
            button.setAccessibleName(name)
            button.clicked.connect(lambda _clicked=False, on=on: self.tick_all(on))
        self.boxes = {part.name: QCheckBox(part.title, self) for part in parts}
        for name, box in self.boxes.items():
            box.setChecked(name not in left_out)
            box.toggled.connect(lambda _on: self.changed.emit())
        self._compose()

    def _compose(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(14)
        head.addWidget(plain_label(tr("Parts"), "section", self))
        head.addStretch(1)
        head.addWidget(self.all_button)
        head.addWidget(self.none_button)
        grid = QGridLayout()
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(4)
        rows = -(-len(self.boxes) // COLUMNS)
        for place, box in enumerate(self.boxes.values()):
            grid.addWidget(box, place % rows, place // rows)
        for column in range(COLUMNS):
            grid.setColumnStretch(column, 1)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(6)
        whole.addLayout(head)
        whole.addLayout(grid)

    def tick_all(self, on: bool) -> None:
        """Tick every part that can be chosen, or none."""
        for box in self.boxes.values():
            if box.isEnabled():
                box.setChecked(on)

    def set_history(self, on: bool) -> None:
        """In a history parts of which that has nothing cannot be ticked; their ticks come back after it."""
        for part in self._parts:
            box, known = self.boxes[part.name], part.in_history or not on
            if box.isEnabled() == known:
                continue
            ticked = box.isChecked() or part.name in self._put_aside
            (self._put_aside.discard if known or not ticked else self._put_aside.add)(part.name)
            box.setEnabled(known)
            box.setChecked(known and ticked)
            set_plain_tip(box, "" if known else tr("A history has no figure of this."))

    def chosen(self) -> frozenset[str]:
        return frozenset(name for name, box in self.boxes.items() if box.isChecked())

    def left_out(self) -> frozenset[str]:
        """The parts that are not ticked, and would not be without a history."""
        return frozenset(self.boxes) - self.chosen() - self._put_aside
