"""The whole canvas in small, with a frame around what is in sight; shown only where not everything is.

It stands at an edge, on ground that no box covers; if there is none, it is not shown.
"""

from __future__ import annotations

from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from widgets.canvas.geometry import Rect
from widgets.i18n import tr
from widgets.theme import current_theme, qcolour

WIDTH, HEIGHT, INSET = 168, 112, 12
# Along each edge it is tried at so many places.
PLACES = 5
# With more than this in sight, either way, no map is needed.
WORTH = 0.9
_COLOURS = {"topic": "accent", "group": "stable", "queue": "rebalancing", "dlq": "failure", "producer": "muted"}
_COLOURS["node"] = _COLOURS["producer"]


class MiniMap(QWidget):
    """`pointed(x, y)` in scene units, as the mouse is pressed or dragged on it."""

    pointed = Signal(float, float)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._over = parent
        self.setFixedSize(WIDTH, HEIGHT)
        self.setCursor(Qt.CursorShape.CrossCursor)
        self.setAccessibleName(tr("Map of the canvas"))
        self._rects: dict[str, Rect] = {}
        self._bounds = Rect(0, 0, 1, 1)
        self._sight = QRectF()
        self.hide()

    def set_facts(self, rects: dict[str, Rect], bounds: Rect, sight: QRectF, room: QSize) -> None:
        """All boxes, the scene's bounds, what of it is in sight, and how many pixels that takes."""
        shown = sight.width() < bounds.w * WORTH or sight.height() < bounds.h * WORTH
        place = self._free_place(rects, sight, room) if shown else None
        if place is not None:
            self.move(place)
        shown = place is not None
        if shown != self.isVisibleTo(self._over):
            self.setVisible(shown)
        if shown and (rects is not self._rects or bounds != self._bounds or sight != self._sight):
            self._rects, self._bounds, self._sight = rects, bounds, sight
            self.update()

    def _free_place(self, rects: dict[str, Rect], sight: QRectF, room: QSize) -> QPoint | None:
        zoom = room.width() / max(1.0, sight.width())
        boxes = [
            QRectF((rect.x - sight.x()) * zoom, (rect.y - sight.y()) * zoom, rect.w * zoom, rect.h * zoom)
            for rect in rects.values()
            if sight.intersects(QRectF(*rect))
        ]
        right, bottom = room.width() - WIDTH - INSET, room.height() - HEIGHT - INSET
        across = [right - (right - INSET) * step // (PLACES - 1) for step in range(PLACES)]
        down = [bottom - (bottom - INSET) * step // (PLACES - 1) for step in range(PLACES)]
        places = [(x, y) for y in (bottom, INSET) for x in across] + [(x, y) for x in (right, INSET) for y in down]
        free = (
            QPoint(x, y)
            for x, y in places
            if not any(box.intersects(QRectF(x, y, WIDTH, HEIGHT).adjusted(-4, -4, 4, 4)) for box in boxes)
        )
        return next(free, None)

    def _factor(self) -> float:
        return min((WIDTH - 12) / self._bounds.w, (HEIGHT - 12) / self._bounds.h)

    def _origin(self) -> QPointF:
        factor = self._factor()
        return QPointF((WIDTH - self._bounds.w * factor) / 2, (HEIGHT - self._bounds.h * factor) / 2)

    def _to_map(self, where: QRectF) -> QRectF:
        factor, origin = self._factor(), self._origin()
        x, y = (where.x() - self._bounds.x) * factor, (where.y() - self._bounds.y) * factor
        return QRectF(origin.x() + x, origin.y() + y, where.width() * factor, where.height() * factor)

    def paintEvent(self, _event: QPaintEvent) -> None:
        theme = current_theme()
        boxes = [
            (self._to_map(QRectF(*rect)), theme.colour(_COLOURS[kind]))
            for kind, rect in ((name.partition(":")[0], rect) for name, rect in self._rects.items())
            if kind in _COLOURS
        ]
        painter = QPainter(self)
        painter.fillRect(self.rect(), qcolour(theme.raised, 235))
        painter.setPen(QPen(qcolour(theme.border_strong), 1))
        painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        for where, colour in boxes:
            painter.fillRect(where, qcolour(colour, 120))
        painter.setPen(QPen(qcolour(theme.text), 1.5))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(self._to_map(self._sight).intersected(QRectF(self.rect()).adjusted(1, 1, -2, -2)))
        painter.end()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._report(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._report(event)

    def _report(self, event: QMouseEvent) -> None:
        factor, origin, at = self._factor(), self._origin(), event.position()
        self.pointed.emit(
            self._bounds.x + (at.x() - origin.x()) / factor, self._bounds.y + (at.y() - origin.y()) / factor
        )
        event.accept()
