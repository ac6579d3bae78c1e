"""A graphics view that zooms, fits and pans."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QGraphicsScene, QGraphicsView, QWidget

from widgets.canvas.box_item import FAR_SCALE, Look
from widgets.canvas.geometry import Rect

LEAST_ZOOM, MOST_ZOOM, ZOOM_STEP = 0.15, 3.0, 1.15
FIT_MOST, READABLE = 1.25, 0.7


class Follow(Enum):
    """What the view does when the window or the contents change their size."""

    NOTHING = 0
    READABLE = 1
    ALL = 2


@dataclass(frozen=True, slots=True)
class Sight:
    """What of the contents is shown: followed, or so large about `centre` in scene units."""

    follow: Follow
    zoom: float
    centre: QPointF


class ZoomView(QGraphicsView):
    """Follows its contents until the user zooms or pans; `fit` makes it follow again."""

    def __init__(self, scene: QGraphicsScene, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(scene, parent)
        self._look = look
        self._bounds = Rect(0, 0, 1, 1)
        self._fitted = Rect(0, 0, 0, 0)
        self._follows = Follow.READABLE
        self._type_scale = 1.0
        self.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        self.setTransformationAnchor(QGraphicsView.ViewportAnchor.AnchorViewCenter)
        self.setFrameShape(QGraphicsView.Shape.NoFrame)
        self.setViewportUpdateMode(QGraphicsView.ViewportUpdateMode.MinimalViewportUpdate)
        self.setOptimizationFlag(QGraphicsView.OptimizationFlag.DontSavePainterState)
        self.setOptimizationFlag(QGraphicsView.OptimizationFlag.DontAdjustForAntialiasing)

    @property
    def zoom(self) -> float:
        """Pixels for each scene unit."""
        return self.transform().m11()

    @property
    def follows(self) -> bool:
        """Whether the view fits itself to its contents."""
        return self._follows is not Follow.NOTHING

    @property
    def type_scale(self) -> float:
        """How much larger than designed the words around the view are."""
        return self._type_scale

    def set_type_scale(self, factor: float) -> None:
        """Larger words around the view: what is fitted may be shown so much larger as well."""
        if factor != self._type_scale:
            self._type_scale = factor
            if self.follows:
                self.come_back(self.sight)

    @property
    def sight(self) -> Sight:
        """What is shown now, to come back to."""
        return Sight(self._follows, self.zoom, self.mapToScene(self.viewport().rect().center()))

    def come_back(self, sight: Sight) -> None:
        """Show what was shown before, arranged for the room of now."""
        self.fit()
        self._follows = sight.follow
        if self.follows:
            self._refit()
        else:
            self._set_zoom(sight.zoom)
            self.centerOn(sight.centre)

    def has_room(self, bounds: Rect) -> bool:
        """Whether so much can be shown whole with readable words."""
        area = self.maximumViewportSize()
        return bounds.w * READABLE <= area.width() and bounds.h * READABLE <= area.height()

    def set_bounds(self, bounds: Rect) -> None:
        """The contents have another size: fit again if they have outgrown the last fit or shrunk much."""
        self._bounds = bounds
        self.setSceneRect(QRectF(*bounds))
        fitted = self._fitted
        outgrown = bounds.w > fitted.w or bounds.h > fitted.h
        if outgrown or bounds.w < fitted.w * 0.75 or bounds.h < fitted.h * 0.75:
            self._refit()

    def pan(self, by: QPoint) -> None:
        """Move the contents by so many pixels."""
        self._follows = Follow.NOTHING
        self.horizontalScrollBar().setValue(self.horizontalScrollBar().value() - by.x())
        self.verticalScrollBar().setValue(self.verticalScrollBar().value() - by.y())

    def fit(self) -> None:
        """Show everything, and keep showing it when the window or the contents grow."""
        self._follows = Follow.ALL
        self._refit()

    def _refit(self) -> None:
        if self._follows is Follow.READABLE:
            self._fit_readably()
        elif self._follows is Follow.ALL:
            self._fitted = self._bounds
            self._set_zoom(min(self._scales()))
            self.centerOn(self._fitted.centre_x, self._fitted.centre_y)

    def zoom_in(self) -> None:
        """A step closer."""
        self._follows = Follow.NOTHING
        self._set_zoom(self.zoom * ZOOM_STEP)

    def zoom_out(self) -> None:
        """A step away."""
        self._follows = Follow.NOTHING
        self._set_zoom(self.zoom / ZOOM_STEP)

    def _scales(self) -> tuple[float, float]:
        bounds, area = self._bounds, self.maximumViewportSize()
        most = FIT_MOST * max(1.0, self._type_scale)
        return min(most, (area.width() - 2) / bounds.w), min(most, (area.height() - 2) / bounds.h)

    def _fit_readably(self) -> None:
        """Everything if its words stay readable, else as much as fits the width, from the top."""
        self._fitted = self._bounds
        across, down = self._scales()
        if down < min(across, READABLE):
            # It will be scrolled down, and the bar for that takes of the width.
            room = self.maximumViewportSize().width() - self.verticalScrollBar().sizeHint().width() - 2
            across = min(across, room / self._bounds.w)
        self._set_zoom(max(min(across, down), min(across, READABLE)))
        self.horizontalScrollBar().setValue(self.horizontalScrollBar().minimum())
        self.verticalScrollBar().setValue(self.verticalScrollBar().minimum())

    def _set_zoom(self, zoom: float) -> None:
        zoom = max(LEAST_ZOOM, min(MOST_ZOOM, zoom))
        if abs(zoom - self.zoom) > 1e-6:
            self.resetTransform()
            self.scale(zoom, zoom)
        self._look.scale = round(zoom * self.devicePixelRatioF(), 3)
        is_far = zoom < FAR_SCALE
        if is_far is not self._look.is_far:
            self._look.is_far = is_far
            for item in self.scene().items():
                item.update()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Ctrl and the wheel zoom about the pointer."""
        if not event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            super().wheelEvent(event)
            return
        self._follows = Follow.NOTHING
        at = event.position().toPoint()
        scene_at = self.mapToScene(at)
        self._set_zoom(self.zoom * ZOOM_STEP ** (event.angleDelta().y() / 120))
        self.pan(at - self.mapFromScene(scene_at))
        event.accept()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A fitted view stays fitted."""
        super().resizeEvent(event)
        if self._fitted.w > 0:
            self._refit()
