"""Boxes that are moved by hand: taken hold of with the pointer, moved by a key, and kept as text."""

from __future__ import annotations

import json
from collections.abc import Mapping

from PySide6.QtCore import QPointF

from widgets.canvas.layout import Shift, box_id_of
from widgets.canvas.stage import Stage

# A grid, so that boxes moved by hand stand in line.
GRID = 8.0
MAX_SHIFT = 20_000.0
MAX_MOVED = 1_000


class Arranging:
    """One box at a time is taken hold of, moved and let go; `before` is how all stood before the last move."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self.on = False
        self.holding = ""
        self._held_at = QPointF()
        self._from: Shift = (0.0, 0.0)
        self._moved = False
        self.before: dict[str, Shift] = {}

    def press(self, item_id: str, at: QPointF) -> bool:
        """Take hold of the box that an id belongs to; False on empty ground."""
        self.holding = box_id_of(self._stage.layout, item_id)
        self._held_at, self._moved, self.before = at, False, self._stage.moved
        self._from = self._stage.moved.get(self.holding, (0.0, 0.0))
        return bool(self.holding)

    def move(self, at: QPointF) -> None:
        by = at - self._held_at
        self._put(self.holding, self._from[0] + by.x(), self._from[1] + by.y())
        self._moved = True

    def release(self) -> bool:
        moved, self.holding = self._moved and bool(self.holding), ""
        return moved

    def nudge(self, item_id: str, dx: float, dy: float) -> bool:
        box = box_id_of(self._stage.layout, item_id)
        if box:
            self.before = self._stage.moved
            x, y = self._stage.moved.get(box, (0.0, 0.0))
            self._put(box, x + dx * GRID, y + dy * GRID)
        return bool(box)

    def _put(self, box: str, x: float, y: float) -> None:
        where = (_on_grid(x), _on_grid(y))
        moved = {name: shift for name, shift in self._stage.moved.items() if name != box}
        if where != (0.0, 0.0):
            moved[box] = where
        self._stage.set_moved(moved)


def _on_grid(value: float) -> float:
    return max(-MAX_SHIFT, min(MAX_SHIFT, round(value / GRID) * GRID))


def to_text(moved: Mapping[str, Shift]) -> str:
    return json.dumps(moved, sort_keys=True)


def from_text(text: str) -> dict[str, Shift]:
    try:
        plain = json.loads(text) if text else {}
        kept = {str(name): (_on_grid(float(x)), _on_grid(float(y))) for name, (x, y) in plain.items()}
    except (ValueError, TypeError, AttributeError):
        return {}
    return kept if len(kept) <= MAX_MOVED else {}
