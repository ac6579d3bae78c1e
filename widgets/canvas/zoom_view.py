from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QGraphicsScene, QGraphicsView, QStyle, QWidget

from widgets.canvas.box_item import Look
from widgets.canvas.geometry import Rect
from widgets.canvas.layout import Arrangement
from widgets.canvas.lettering import Step, least_units, step_of

LEAST_ZOOM, MOST_ZOOM, ZOOM_STEP = 0.15, 3.0, 1.15
FIT_MOST = 2.0
MUCH_GROUND = 32  # pixels; less is not worth that boxes change their places


@dataclass(frozen=True, slots=True)
class Sight:
    """The visible part of the contents: followed, or of this size around `centre`, in scene units of an arrangement."""

    follows: bool
    zoom: float
    centre: QPointF
    arrangement: Arrangement


class ZoomView(QGraphicsView):
    """Shows all of its contents until the user zooms; `fit` makes it do so again.

    Contents are fitted to `whole_room()`. While something else has taken a part of that, or a notice has come or gone
    since they were fitted, the scale and the places stay as they are, and the view pans.
    """

    def __init__(self, scene: QGraphicsScene, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(scene, parent)
        self._look = look
        self._bounds = Rect(0, 0, 1, 1)
        self._fitted = Rect(0, 0, 0, 0)
        #: The room that the view has if nothing stands beside it, in pixels.
        self.whole_room: Callable[[], QSize] = self.maximumViewportSize
        #: The pixels above the view that a notice takes.
        self.notice_height: Callable[[], int] = lambda: 0
        self._room_fitted = self._room_then = QSize()  # `_room_then` is with that of a notice
        self.follows = True
        self._held_step: Step | None = None  # the one that stays where the zoom changes little
        self._type_scale = 1.0
        self.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)  # `_place` centres
        self.setTransformationAnchor(QGraphicsView.ViewportAnchor.NoAnchor)
        self.setFrameShape(QGraphicsView.Shape.NoFrame)
        self.setViewportUpdateMode(QGraphicsView.ViewportUpdateMode.MinimalViewportUpdate)
        self.setOptimizationFlag(QGraphicsView.OptimizationFlag.DontSavePainterState)
        self.setOptimizationFlag(QGraphicsView.OptimizationFlag.DontAdjustForAntialiasing)

    @property
    def zoom(self) -> float:
        return self.transform().m11()

    @property
    def most_fitted(self) -> float:
        return min(MOST_ZOOM, FIT_MOST * max(1.0, self._type_scale))

    def set_type_scale(self, factor: float) -> None:
        """Larger words around the view: what is fitted may be shown so much larger as well."""
        if factor != self._type_scale:
            self._type_scale = factor
            self.come_back(self.sight)

    @property
    def sight(self) -> Sight:
        return Sight(self.follows, self.zoom, self.mapToScene(self.viewport().rect().center()), Arrangement())

    def come_back(self, sight: Sight) -> None:
        self.fit()
        self.follows = sight.follows
        if not sight.follows:
            self._set_zoom(sight.zoom)
            self.centerOn(sight.centre)

    def set_bounds(self, bounds: Rect) -> None:
        """The contents have another size: fit again if they have outgrown the last fit or shrunk much."""
        self._bounds = bounds
        self._place()
        fitted = self._fitted
        outgrown = bounds.w > fitted.w or bounds.h > fitted.h
        if outgrown or bounds.w < fitted.w * 0.75 or bounds.h < fitted.h * 0.75:
            self._refit()

    def pan(self, by: QPoint) -> None:
        self.horizontalScrollBar().setValue(self.horizontalScrollBar().value() - by.x())
        self.verticalScrollBar().setValue(self.verticalScrollBar().value() - by.y())

    def fit(self) -> None:
        """Show everything, and keep showing it when the window or the contents grow."""
        self.follows = True
        self._held_step = None
        self._room_then = QSize()
        self._refit()

    def start_over(self) -> None:
        """Show the next contents from their beginning, fitted, unless the user has zoomed."""
        self._fitted, self._room_fitted, self._room_then = Rect(0, 0, 0, 0), QSize(), QSize()

    def room_to_fit(self) -> QSize:
        """The room that was fitted to, unless more has changed than a notice above."""
        return self._room_fitted if self._room_with_notice() == self._room_then else self.whole_room()

    def _room_with_notice(self) -> QSize:
        return self.whole_room() + QSize(0, self.notice_height())

    def _refit(self) -> None:
        if not self.follows:
            return
        bounds, area, before = self._bounds, self.room_to_fit(), self._room_fitted
        self._fitted, self._room_fitted, self._room_then = bounds, area, self._room_with_notice()
        room = self._room_at_plain_type(area)
        self._set_zoom(min(self.most_fitted, (room.width() - 2) / bounds.w, (room.height() - 2) / bounds.h))
        self._place()
        if area != before:
            self._scroll_to(self.sceneRect().topLeft())
        self._give_up_empty_ground()

    def _room_at_plain_type(self, room: QSize) -> QSize:
        """Larger words around the view take room from it: its own do not become smaller by that, it scrolls."""
        around = self.window().size() - room
        return room if self._type_scale <= 1.0 else self.window().size() - around / self._type_scale

    def _scroll_to(self, corner: QPointF) -> None:
        for bar, at in ((self.horizontalScrollBar(), corner.x()), (self.verticalScrollBar(), corner.y())):
            bar.setValue(round(at * self.zoom))

    def _place(self) -> None:
        """Centres contents that fit into the whole room, even while only a part of the room is visible.

        A scroll bar stands on the margin of the contents: else one bar would bring the other. Qt takes its width from
        the style of the view, which is more than a bar has by the style sheet.
        """
        bounds, room, zoom = self._bounds, self.room_to_fit(), self.zoom
        margin = self.style().pixelMetric(QStyle.PixelMetric.PM_ScrollBarExtent, None, self) / zoom
        left = min(bounds.x, bounds.centre_x - room.width() / zoom / 2)
        top = min(bounds.y, bounds.centre_y - room.height() / zoom / 2)
        self.setSceneRect(QRectF(QPointF(left, top), QPointF(bounds.right - margin, bounds.bottom - margin)))

    def zoom_in(self) -> None:
        self.follows = False
        self._set_zoom(self.zoom * ZOOM_STEP)

    def zoom_out(self) -> None:
        self.follows = False
        self._set_zoom(self.zoom / ZOOM_STEP)

    def _set_zoom(self, zoom: float) -> None:
        zoom = max(LEAST_ZOOM, min(MOST_ZOOM, zoom))
        if abs(zoom - self.zoom) > 1e-6:
            centre = self.mapToScene(self.viewport().rect().center())
            self.resetTransform()
            self.scale(zoom, zoom)
            self._place()
            self.centerOn(centre)
        self._look.scale = round(zoom * self.devicePixelRatioF(), 3)
        step = self._held_step = step_of(zoom, self._type_scale, self._held_step)
        drawn = (step, least_units(zoom, step))
        if drawn != (self._look.step, self._look.least_units):
            self._look.step, self._look.least_units = drawn
            for item in self.scene().items():
                item.update()

    def wheelEvent(self, event: QWheelEvent) -> None:
        if not event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            super().wheelEvent(event)
            return
        self.follows = False
        at = event.position().toPoint()
        scene_at = self.mapToScene(at)
        self._set_zoom(self.zoom * ZOOM_STEP ** (event.angleDelta().y() / 120))
        self.pan(at - self.mapFromScene(scene_at))
        event.accept()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A view that is fitted stays fitted to the whole room, whatever part of that it has."""
        corner = self.mapToScene(QPoint(0, 0))
        super().resizeEvent(event)
        if self.follows and self._fitted.w > 0 and self.room_to_fit() != self._room_fitted:
            self._refit()
        else:
            self._place()
            self._scroll_to(corner)  # Qt begins at 0 of the scene once the scene has outgrown the view
            if self.follows:
                self._give_up_empty_ground()

    def _give_up_empty_ground(self) -> None:
        """Scroll so that empty ground beside the contents is cut off before the contents are."""
        bounds, seen, zoom = self._bounds, self.mapToScene(self.viewport().rect()).boundingRect(), self.zoom
        right = round(zoom * min(bounds.right - seen.right(), bounds.x - seen.x()))
        down = round(zoom * min(bounds.bottom - seen.bottom(), bounds.y - seen.y()))
        self.pan(-QPoint(right if right >= MUCH_GROUND else 0, down if down >= MUCH_GROUND else 0))
