from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape

from PySide6.QtCore import QElapsedTimer, QEvent, QPoint, QRect, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QHelpEvent,
    QHideEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QToolTip, QWidget

from widgets.canvas.arranging import Arranging
from widgets.canvas.box_item import Look, draw_icon
from widgets.canvas.card_item import WORKERS_STAY
from widgets.canvas.drag import START_PIXELS, Drag, TopicDrag
from widgets.canvas.geometry import neighbour
from widgets.canvas.layout import Shift
from widgets.canvas.lettering import write_centred
from widgets.canvas.link_item import DOT_TRAVEL_S
from widgets.canvas.overlay_items import FrameItem
from widgets.canvas.stage import Stage
from widgets.canvas.view import CanvasView, Ghost
from widgets.canvas.zoom_view import Sight, ZoomView
from widgets.i18n import mark, tr
from widgets.theme import Theme, qcolour

DIRECTIONS: dict[int, tuple[int, int]] = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, -1),
    Qt.Key.Key_Down: (0, 1),
}


def step(order: Sequence[str], current: str, forward: bool) -> str:
    """The next or previous id in the round; "" past either end, which leaves the canvas."""
    if not order:
        return ""
    if current not in order:
        return order[0] if forward else order[-1]
    at = order.index(current) + (1 if forward else -1)
    return order[at] if 0 <= at < len(order) else ""


EDGE_PIXELS, EDGE_STEP = 24, 12
DOTS_TICK_MS = 40
MENU_TWICE_MS = 150
CANVAS_KEYS = (*DIRECTIONS, Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_M)
KEYS_SENTENCE = mark(
    "Use Tab and the arrow keys to move from box to box: a dashed ring marks the current one, a solid frame the "
    "selected one."
)
EMPTY_SENTENCE = mark("Nothing is running yet. Open a scenario, or press Run (F5).")


class Canvas(ZoomView):
    """Producers, topics, groups, bench and queues, left to right.

    Consumers are named by their names, everything else by its id (see `view`). `drag.ghost_requested` asks what a drop
    on a group, "" (the bench) or `NEW_GROUP` would do; answer with `set_ghost`, at once or later.
    """

    selected = Signal(str)
    """id of what was clicked, "" for empty ground."""
    opened = Signal(str)
    """id of what was double-clicked."""
    contextMenuRequested = Signal(str, QPoint)
    """id ("" for empty ground) and the global position."""
    arrangementChanged = Signal()
    """a box was moved by hand, or all are back in their places."""
    boxMoved = Signal(object)
    """by hand, and let go: with the arrangement before."""
    moveRequested = Signal(str)
    """consumer: the keyboard's twin of a drag."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        look = Look(theme)
        self._stage = Stage(look)
        super().__init__(self._stage, look, parent)
        self._stage.setParent(self)
        self.setMouseTracking(True)
        self.drag = Drag(self._stage, self.viewport())
        self.topic_drag = TopicDrag(self._stage, self.viewport())
        self._selection_frame = FrameItem("selection", look, "accent", 0.0)
        self._stage.addItem(self._selection_frame)
        self._selected_id = self._press_id = ""
        self._press_at = QPoint()
        self._pressed_twice = False
        self._panned_from: QPoint | None = None
        self._has_panned = False
        self._swallow_menu = False
        self.arranging = Arranging(self._stage)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setBackgroundBrush(qcolour(theme.window))
        self._focus_frame = FrameItem("focus", look, "focus", 5.0, dashed=True)
        self._stage.addItem(self._focus_frame)
        self.focused_id = ""  # that the keyboard acts on
        self._by_keyboard = False
        self._clock = QElapsedTimer()
        self._clock.start()
        self._menu_clock = QElapsedTimer()
        self._ticker = QTimer(self, interval=DOTS_TICK_MS)
        self._ticker.timeout.connect(self._move_dots)
        self.setAccessibleName(tr("Canvas of the broker"))
        self._describe()

    # What is shown

    @property
    def view(self) -> CanvasView:
        return self._stage.view

    def set_view(self, view: CanvasView, theme: Theme | None = None) -> None:
        """Show a view; nearly free if it equals the one shown. `theme` changes the colours as well."""
        if theme is not None and theme is not self._look.theme:
            self._look.theme = theme
            self.setBackgroundBrush(qcolour(theme.window))
            self._stage.repaint_all()
        was_empty = self.view.is_empty
        if view is self.view:
            return
        changed = self._stage.apply(view)
        if was_empty or (changed and self.follows):
            self._arrange(keep=not was_empty)
        if changed:
            self._after_layout()
        if was_empty or view.is_empty:
            self.viewport().update()
        self.drag.check()
        self._run_dots()

    def set_reduced_motion(self, reduced: bool) -> None:
        self._stage.reduced_motion = reduced
        if reduced:
            self._stage.finish_motion()
        self._run_dots()

    def set_dimmed(self, ids: frozenset[str]) -> None:
        if ids != self._stage.dimmed:
            self._stage.set_dimmed(ids)

    @property
    def arrangement(self) -> dict[str, Shift]:
        return dict(self._stage.moved)

    def set_arrangement(self, moved: Mapping[str, Shift]) -> None:
        self._stage.set_moved(dict(moved))
        self._arranged()

    def _arranged(self) -> None:
        self._after_layout()
        self.arrangementChanged.emit()

    def set_ghost(self, ghost: Ghost | Sequence[str] | str) -> None:
        """Show what a drop would do: a `Ghost`, or why it is refused (the first line is the title, the rest a note)."""
        refused = not isinstance(ghost, Ghost)
        if not isinstance(ghost, Ghost):
            lines = ghost.splitlines() if isinstance(ghost, str) else list(ghost)
            ghost = Ghost(lines[0] if lines else "", note=" ".join(lines[1:]))
        self.drag.show_ghost(ghost, refused=refused)

    def reveal(self, item_id: str) -> None:
        """Frame an id as selected and bring it into sight, without a signal; nothing if it is not drawn."""
        self.set_selected(item_id)
        self._keep_in_sight(item_id)

    def place_of(self, item_id: str) -> QRect | None:
        """Where an id is drawn in the viewport, brought into sight; None if it is not drawn."""
        box = self._stage.rect_of(item_id)
        if box is None:
            return None
        where = self.mapFromScene(QRectF(*box)).boundingRect()
        if not self.viewport().rect().contains(where):
            self.ensureVisible(QRectF(*box), 16, 16)
            where = self.mapFromScene(QRectF(*box)).boundingRect()
        return where.intersected(self.viewport().rect())

    def draws(self, item_id: str) -> bool:
        return self._stage.rect_of(item_id) is not None

    def fit(self) -> None:
        """Show everything, in the arrangement that shows largest, and keep showing it."""
        self._room_then = QSize()
        if self._arrange():
            self._after_layout()
        super().fit()

    @property
    def sight(self) -> Sight:
        return replace(super().sight, arrangement=self._stage.arrangement)

    def come_back(self, sight: Sight) -> None:
        super().come_back(sight)
        if not sight.follows and self._stage.arrange_as(sight.arrangement):
            self._after_layout()
            self.centerOn(sight.centre)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another shape of the window may need another arrangement, unless the user has zoomed; a panel needs none."""
        seen = self.mapToScene(QRect(QPoint(0, 0), event.oldSize())).boundingRect()
        box = self._stage.rect_of(self._selected_id)
        was_seen = box is not None and seen.contains(QRectF(*box))
        if self.follows and self.room_to_fit() != self._room_fitted and self._arrange():
            self._after_layout()
        super().resizeEvent(event)
        if was_seen:
            self._keep_in_sight(self._selected_id)

    def _keep_in_sight(self, item_id: str) -> None:
        box = self._stage.rect_of(item_id) if item_id else None
        if box is not None:
            self.ensureVisible(QRectF(*box), 16, 16)

    def _arrange(self, *, keep: bool = False) -> bool:
        area = self.room_to_fit()
        return not self.view.is_empty and self._stage.arrange(area.width(), area.height(), self.most_fitted, keep=keep)

    def _after_layout(self) -> None:
        if self.focused_id not in self._stage.layout.rects:
            self.focused_id = ""
        if self._stage.rect_of(self._selected_id) is None:
            self._selected_id = ""
        self.set_selected(self._selected_id)
        self._show_focus()
        self.set_bounds(self._stage.layout.bounds)

    # Dots

    def _run_dots(self) -> None:
        wanted = self.view.running and self.isVisible() and not self._stage.reduced_motion
        wanted = wanted and any(item.has_dots for item in self._stage.links.values())
        if wanted != self._ticker.isActive():
            self._ticker.start() if wanted else self._ticker.stop()

    def _move_dots(self) -> None:
        phase = (self._clock.elapsed() / 1000 / DOT_TRAVEL_S) % 1.0
        for item in self._stage.links.values():
            item.advance_to(phase)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._run_dots()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._let_go()
        self._run_dots()

    # Pointer

    def set_selected(self, item_id: str) -> None:
        """Frame an id as selected, without a signal; "" for none."""
        self._selected_id = item_id
        self._selection_frame.surround(self._stage.rect_of(item_id) if item_id else None)
        self._stage.set_owner(item_id.partition(":")[2] if item_id.startswith("consumer:") else "")

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Left takes hold, of a consumer or of the ground; right lets go of what is carried."""
        at = event.position().toPoint()
        self._pressed_twice = False
        self._point_at("")
        if event.button() == Qt.MouseButton.RightButton and self.has_hold:
            self._swallow_menu = self.is_dragging
            self._let_go()
        elif event.button() == Qt.MouseButton.LeftButton:
            self._let_go()
            scene_at = self.mapToScene(at)
            self._press_id = self._stage.id_at(scene_at.x(), scene_at.y())
            card = self._stage.consumer(self._press_id)
            self._press_at = at
            if self.arranging.on and self.arranging.press(self._press_id, scene_at):
                self.viewport().setCursor(Qt.CursorShape.SizeAllCursor)
            elif card is not None:
                self.drag.press(card, at, scene_at)
            elif not self.topic_drag.press(self._press_id, at, self._stage.view) and not self._press_id:
                self._panned_from = at
        event.accept()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Carry, or pan. Without the button down (it came up outside the program) everything is put back."""
        at = event.position().toPoint()
        if not event.buttons() & Qt.MouseButton.LeftButton:
            self._let_go()
            self._panned_from = None
            self.arranging.release()
            self._show_hand(at)
        elif self.arranging.holding:
            if (at - self._press_at).manhattanLength() > START_PIXELS:
                self.arranging.move(self.mapToScene(at))
                self._arranged()
        elif self.has_hold:
            drag = self.drag if self.drag.is_pressed else self.topic_drag
            drag.move(at, self.mapToScene(at))
            if drag.is_carrying:
                shape = Qt.CursorShape.ClosedHandCursor if drag.target is not None else Qt.CursorShape.ForbiddenCursor
                self.viewport().setCursor(shape)
                self._scroll_at_edges(at)
        elif self._press_id.startswith("worker:"):
            if (at - self._press_at).manhattanLength() > START_PIXELS:
                self.drag.refuse(at, Ghost(tr(WORKERS_STAY)))
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
            carried = self.drag.release() or arranged
            if arranged:
                self.boxMoved.emit(dict(self.arranging.before))
            carried = self.topic_drag.release() or carried
            panned, self._has_panned, self._panned_from = self._has_panned, False, None
            at = event.position().toPoint()
            near = (at - self._press_at).manhattanLength() <= START_PIXELS
            if not carried and not panned and near:
                self._point_at(self._press_id)
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
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            self._ask_menu_by_key()
        elif self._swallow_menu:
            self._swallow_menu = False
        else:
            scene_at = self.mapToScene(event.pos())
            item_id = self._stage.id_at(scene_at.x(), scene_at.y())
            self.set_selected(item_id)
            self.contextMenuRequested.emit(item_id, event.globalPos())
        event.accept()

    # Keyboard

    def _point_at(self, item_id: str) -> None:
        """The focus goes where the pointer clicks; its ring shows only for the keyboard."""
        self._by_keyboard = False
        if item_id in self._stage.layout.rects:
            self.focused_id = item_id
        self._show_focus()
        self._describe()

    def event(self, event: QEvent) -> bool:
        """Keys that the canvas uses while its focus ring shows come here before any shortcut of the window."""
        if event.type() == QEvent.Type.ShortcutOverride:
            assert isinstance(event, QKeyEvent)
            plain = event.modifiers() in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)
            ours = self._by_keyboard and event.key() in CANVAS_KEYS
            shift = event.modifiers() == Qt.KeyboardModifier.ShiftModifier
            if shift and ours and self.arranging.on and event.key() in DIRECTIONS:
                event.accept()
                return True
            if plain and (ours or (event.key() == Qt.Key.Key_Escape and self.is_dragging)):
                event.accept()
                return True
        if event.type() == QEvent.Type.WindowDeactivate:
            self._let_go()
        return super().event(event)

    @property
    def has_hold(self) -> bool:
        return self.drag.is_pressed or self.topic_drag.is_pressed

    @property
    def is_dragging(self) -> bool:
        return self.drag.is_carrying or self.topic_drag.is_carrying

    def _let_go(self) -> None:
        self.drag.cancel()
        self.topic_drag.cancel()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        if key == Qt.Key.Key_Escape and self.has_hold:
            self._let_go()
        elif event.modifiers() & (Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier):
            event.ignore()
        elif self.arranging.on and event.modifiers() & Qt.KeyboardModifier.ShiftModifier and key in DIRECTIONS:
            if self.arranging.nudge(self.focused_id, *DIRECTIONS[key]):
                self._arranged()
                self.boxMoved.emit(dict(self.arranging.before))
        elif key in DIRECTIONS:
            layout = self._stage.layout
            self._focus_on(neighbour(layout.rects, layout.order, self.focused_id, *DIRECTIONS[key]))
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_M) and self.focused_id:
            card = self._stage.consumer(self.focused_id)
            if card is not None:
                self.moveRequested.emit(card.name)
            else:
                self.set_selected(self.focused_id)
                self.selected.emit(self.focused_id)
        elif key == Qt.Key.Key_Menu or (
            key == Qt.Key.Key_F10 and event.modifiers() & Qt.KeyboardModifier.ShiftModifier
        ):
            self._ask_menu_by_key()
        else:
            event.ignore()

    def focusNextPrevChild(self, forward: bool) -> bool:
        target = step(self._stage.layout.order, self.focused_id, forward)
        if target:
            self._focus_on(target)
            return True
        self.focused_id = ""
        self._show_focus()
        return QWidget.focusNextPrevChild(self, forward)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if event.reason() in (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason):
            forward = event.reason() is Qt.FocusReason.TabFocusReason
            self._focus_on(self.focused_id or step(self._stage.layout.order, "", forward))

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._by_keyboard = False
        self._show_focus()

    def _focus_on(self, item_id: str) -> None:
        self.focused_id = item_id
        self._by_keyboard = bool(item_id)
        self._show_focus()
        self._keep_in_sight(item_id)
        self._describe()

    def _show_focus(self) -> None:
        shown = self._by_keyboard and self.focused_id in self._stage.layout.rects
        self._focus_frame.surround(self._stage.layout.rects[self.focused_id] if shown else None)

    def _ask_menu_by_key(self) -> None:
        """Some platforms send the Menu key twice, as a key and as a menu event: the second is dropped."""
        if self._menu_clock.isValid() and self._menu_clock.elapsed() < MENU_TWICE_MS:
            return
        self._menu_clock.start()
        where = self._stage.rect_of(self.focused_id)
        at = QPoint(16, 16) if where is None else self.mapFromScene(where.centre_x, where.centre_y)
        self.contextMenuRequested.emit(self.focused_id, self.viewport().mapToGlobal(at))

    def _describe(self) -> None:
        item = self._stage.boxes.get(self.focused_id)
        text = item.sentence() if item is not None else tr(KEYS_SENTENCE)
        if text != self.accessibleDescription():
            self.setAccessibleDescription(text)

    # Tool tips and the empty canvas

    def viewportEvent(self, event: QEvent) -> bool:
        """Tool tips are made for the point; their text is data, so it is escaped."""
        if event.type() == QEvent.Type.ToolTip:
            assert isinstance(event, QHelpEvent)
            text = self.tool_tip_at(event.pos())
            if text and not self.drag.is_carrying:
                QToolTip.showText(event.globalPos(), tool_tip_html(text), self.viewport())
            else:
                QToolTip.hideText()
            return True
        return super().viewportEvent(event)

    def tool_tip_at(self, at: QPoint) -> str:
        scene_at = self.mapToScene(at)
        x, y = scene_at.x(), scene_at.y()
        item_id = self._stage.id_at(x, y)
        if item_id.startswith("lane:"):
            item_id = "topic:" + item_id.removeprefix("lane:").rpartition("/")[0]
        item = self._stage.boxes.get(item_id) if item_id else self._stage.link_at(x, y)
        return item.tool_tip(x - item.x(), y - item.y()) if item is not None else ""

    def drawForeground(self, painter: QPainter, rect: QRectF | QRect) -> None:
        if not self.view.is_empty:
            return
        painter.save()
        painter.resetTransform()
        theme, area = self._look.theme, self.viewport().rect()
        middle = area.center()
        draw_icon(painter, "layers", theme.muted, middle.x() - 20, middle.y() - 52, 40, self._look)
        words = QRectF(16, middle.y(), area.width() - 32, 24)
        write_centred(painter, words, self.view.notice or tr(EMPTY_SENTENCE), "body", theme.muted)
        painter.restore()


def tool_tip_html(text: str) -> str:
    """Plain text as rich text that shows it unchanged: without this Qt would guess, and a name could be markup."""
    return "<p style='white-space:pre-wrap'>" + escape(text) + "</p>"
