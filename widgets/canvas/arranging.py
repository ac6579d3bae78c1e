"""Boxes moved by hand: where each stands, away from its place in the layout, in scene units."""

from __future__ import annotations

import json
from collections.abc import Mapping

from PySide6.QtCore import QPointF

from widgets.canvas.layout import Layout, Shift
from widgets.canvas.stage import Stage

# A grid, so that boxes moved by hand stand in line.
GRID = 8.0
MOST = 20_000.0
KEPT_MAX = 1_000


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
        self.holding = box_of(self._stage.layout, item_id)
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
        box = box_of(self._stage.layout, item_id)
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


def box_of(layout: Layout, item_id: str) -> str:
    """The box that moves when an id is dragged: a card's group, a lane's topic, a queue for its dead letters."""
    if item_id.startswith("lane:"):
        item_id = "topic:" + item_id.removeprefix("lane:").rpartition("/")[0]
    if item_id.startswith("dlq:"):
        item_id = "queue:" + item_id.removeprefix("dlq:")
    found = layout.container.get(item_id, item_id)
    return found if found in layout.rects else ""


def _on_grid(value: float) -> float:
    return max(-MOST, min(MOST, round(value / GRID) * GRID))


def to_text(moved: Mapping[str, Shift]) -> str:
    return json.dumps(moved, sort_keys=True)


def from_text(text: str) -> dict[str, Shift]:
    try:
        plain = json.loads(text) if text else {}
        kept = {str(name): (_on_grid(float(x)), _on_grid(float(y))) for name, (x, y) in plain.items()}
    except (ValueError, TypeError, AttributeError):
        return {}
    return kept if len(kept) <= KEPT_MAX else {}
