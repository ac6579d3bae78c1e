from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QMouseEvent
from PySide6.QtWidgets import QWidget

from widgets.canvas.arranging import Arranging
from widgets.canvas.box_item import Look
from widgets.canvas.card_item import WORKERS_STAY
from widgets.canvas.drag import START_PIXELS, Drag, TopicDrag
from widgets.canvas.overlay_items import FrameItem
from widgets.canvas.stage import Stage
from widgets.canvas.view import Ghost
from widgets.canvas.zoom_view import ZoomView
from widgets.i18n import tr
from widgets.theme import Theme

EDGE_PIXELS, EDGE_STEP = 24, 12


class PointerView(ZoomView):
    selected = Signal(str)
    """id of what was clicked, "" for empty ground."""
    opened = Signal(str)
    """id of what was double-clicked."""
    contextMenuRequested = Signal(str, QPoint)
    """id ("" for empty ground) and the global position."""
    ghostRequested = Signal(str, str)
    """consumer, target."""
    consumerDropped = Signal(str, str)
    """consumer, group ("" for the bench)."""
    consumerDroppedOnEmpty = Signal(str)
    """consumer: it wants a new group."""
    dragCancelled = Signal(str, str)
    """consumer, why."""
    topicDropped = Signal(str, str)
    """topic, the group that is to read it."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        look = Look(theme)
        self._stage = Stage(look)
        super().__init__(self._stage, look, parent)
        self._stage.setParent(self)
        self.setMouseTracking(True)
        self._drag = Drag(self._stage, self.viewport())
        self._drag.ghost_requested.connect(self.ghostRequested)
        self._drag.dropped.connect(self.consumerDropped)
        self._drag.dropped_on_empty.connect(self.consumerDroppedOnEmpty)
        self._drag.cancelled.connect(self.dragCancelled)
        self._topic_drag = TopicDrag(self._stage, self.viewport(), START_PIXELS)
        self._topic_drag.dropped.connect(self.topicDropped)
        self._selection_frame = FrameItem("selection", look, "accent", 0.0)
        self._stage.addItem(self._selection_frame)
        self._selected_id = self._press_id = ""
        self._press_at = QPoint()
        self._pressed_twice = False
        self._panned_from: QPoint | None = None
        self._has_panned = False
        self._swallow_menu = False
        self.arranging = Arranging(self._stage)

    def box_moved(self) -> None:
        """A box was let go somewhere else; subclasses tell."""

    def arranged(self) -> None:
        """A box was moved by hand; subclasses follow."""

    def pointed_at(self, item_id: str) -> None:
        """The pointer was used, on an id or (for a press) not yet on any; subclasses move their focus."""

    def set_selected(self, item_id: str) -> None:
        """Frame an id as selected, without a signal; "" for none."""
        self._selected_id = item_id
        self._selection_frame.surround(self._stage.box_of(item_id) if item_id else None)
        self._stage.set_owner(item_id.partition(":")[2] if item_id.startswith("consumer:") else "")

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Left takes hold, of a consumer or of the ground; right lets go of what is carried."""
        at = event.position().toPoint()
        self._pressed_twice = False
        self.pointed_at("")
        if event.button() == Qt.MouseButton.RightButton and self._drag.is_pressed:
            self._swallow_menu = self._drag.is_carrying
            self._drag.cancel(tr("Cancelled."))
        elif event.button() == Qt.MouseButton.RightButton and self._topic_drag.is_pressed:
            self._swallow_menu = self._topic_drag.is_carrying
            self._topic_drag.cancel()
        elif event.button() == Qt.MouseButton.LeftButton:
            self._drag.cancel(tr("Cancelled."))
            scene_at = self.mapToScene(at)
            self._press_id = self._stage.id_at(scene_at.x(), scene_at.y())
            card = self._stage.consumer(self._press_id)
            self._press_at = at
            if self.arranging.on and self.arranging.press(self._press_id, scene_at):
                self.viewport().setCursor(Qt.CursorShape.SizeAllCursor)
            elif card is not None:
                self._drag.press(card, at, scene_at)
            elif self._topic_drag.press(self._press_id, at, self._stage.view):
                pass
            elif not self._press_id:
                self._panned_from = at
        event.accept()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Carry, or pan. Without the button down (it came up outside the program) everything is put back."""
        at = event.position().toPoint()
        if not event.buttons() & Qt.MouseButton.LeftButton:
            self._drag.cancel(tr("The button was released outside the window."))
            self._panned_from = None
            self._topic_drag.cancel()
            self.arranging.release()
            self._show_hand(at)
        elif self.arranging.holding:
            if (at - self._press_at).manhattanLength() > START_PIXELS:
                self.arranging.move(self.mapToScene(at))
                self.arranged()
        elif self._drag.is_pressed:
            self._drag.move(at, self.mapToScene(at))
            if self._drag.is_carrying:
                self.viewport().setCursor(_cursor(self._drag.target))
                self._scroll_at_edges(at)
        elif self._topic_drag.is_pressed:
            self._topic_drag.move(at, self.mapToScene(at))
            if self._topic_drag.is_carrying:
                self.viewport().setCursor(_cursor(self._topic_drag.group or None))
                self._scroll_at_edges(at)
        elif self._press_id.startswith("worker:"):
            if (at - self._press_at).manhattanLength() > START_PIXELS:
                self._drag.refuse(at, Ghost(tr(WORKERS_STAY)))
                self.viewport().setCursor(Qt.CursorShape.ForbiddenCursor)
        elif self._panned_from is not None:
            self._has_panned |= (at - self._press_at).manhattanLength() > START_PIXELS
            if self._has_panned:
                self.viewport().setCursor(Qt.CursorShape.ClosedHandCursor)
                self.pan(at - self._panned_from)
                self._panned_from = at
        event.accept()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            arranged = self.arranging.release()
            carried = self._drag.release() or arranged
            if arranged:
                self.box_moved()
            carried = self._topic_drag.release() or carried
            panned, self._has_panned, self._panned_from = self._has_panned, False, None
            at = event.position().toPoint()
            near = (at - self._press_at).manhattanLength() <= START_PIXELS
            if not carried and not panned and near:
                self.pointed_at(self._press_id)
                self.set_selected(self._press_id)
                self.selected.emit(self._press_id)
                if self._pressed_twice and self._press_id:
                    self.opened.emit(self._press_id)
            self._show_hand(at)
        event.accept()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """The second press of a double click is a press; released where it is, it opens what is there."""
        self.mousePressEvent(event)
        self._pressed_twice = True

    def _show_hand(self, at: QPoint) -> None:
        scene_at = self.mapToScene(at)
        item_id = self._stage.id_at(scene_at.x(), scene_at.y())
        draggable = self._stage.consumer(item_id) is not None
        shape = Qt.CursorShape.OpenHandCursor if draggable else Qt.CursorShape.ArrowCursor
        if self.viewport().cursor().shape() is not shape:
            self.viewport().setCursor(shape)

    def _scroll_at_edges(self, at: QPoint) -> None:
        area = self.viewport().rect().adjusted(EDGE_PIXELS, EDGE_PIXELS, -EDGE_PIXELS, -EDGE_PIXELS)
        if not area.contains(at) and self.viewport().rect().contains(at):
            across = (at.x() > area.right()) - (at.x() < area.left())
            down = (at.y() > area.bottom()) - (at.y() < area.top())
            self.pan(QPoint(-across * EDGE_STEP, -down * EDGE_STEP))

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if self._swallow_menu:
            self._swallow_menu = False
        else:
            scene_at = self.mapToScene(event.pos())
            item_id = self._stage.id_at(scene_at.x(), scene_at.y())
            self.set_selected(item_id)
            self.contextMenuRequested.emit(item_id, event.globalPos())
        event.accept()


def _cursor(target: str | None) -> Qt.CursorShape:
    return Qt.CursorShape.ForbiddenCursor if target is None else Qt.CursorShape.ClosedHandCursor
