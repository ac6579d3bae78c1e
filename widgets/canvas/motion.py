"""Movement of items: many at once on one animation, and none where motion is reduced."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from PySide6.QtCore import QEasingCurve, QObject, QPointF, QVariantAnimation
from PySide6.QtWidgets import QGraphicsItem


class BoxMove(NamedTuple):
    item: QGraphicsItem
    start: QPointF
    end: QPointF


class Motion(QObject):
    """Moves items together; a new start, or `finish`, brings those under way to their end first."""

    def __init__(self, duration_ms: int, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._moves: tuple[BoxMove, ...] = ()
        self._done: Callable[[], None] | None = None
        self._animation = QVariantAnimation(self)
        self._animation.setStartValue(0.0)
        self._animation.setEndValue(1.0)
        self._animation.setDuration(duration_ms)
        self._animation.setEasingCurve(QEasingCurve.Type.InOutCubic)
        self._animation.valueChanged.connect(self._advance)
        self._animation.finished.connect(self.finish)

    @property
    def is_running(self) -> bool:
        return bool(self._moves)

    def start(self, moves: Sequence[BoxMove], done: Callable[[], None] | None = None) -> None:
        """Start the moves; `done` is called once when they have ended."""
        self.finish()
        self._moves, self._done = tuple(moves), done
        for move in self._moves:
            move.item.setPos(move.start)
        self._animation.start()

    def _advance(self, share: float) -> None:
        for move in self._moves:
            move.item.setPos(move.start + (move.end - move.start) * share)

    def finish(self) -> None:
        moves, self._moves = self._moves, ()
        done, self._done = self._done, None
        self._animation.stop()
        for move in moves:
            move.item.setPos(move.end)
        if done is not None:
            done()

    def forget(self, item: QGraphicsItem) -> None:
        """Leave an item where it is, because it is going away or was placed anew."""
        self._moves = tuple(move for move in self._moves if move.item is not item)
