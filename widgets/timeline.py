from __future__ import annotations

from bisect import bisect_right
from operator import itemgetter

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QHelpEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QSizePolicy, QToolTip, QWidget

from widgets.bytes_text import as_plain
from widgets.fold_button import FoldButton
from widgets.formats import per_second, session_time
from widgets.i18n import tr
from widgets.theme import current_theme, follow_theme, px
from widgets.timeline_facts import TimelineFacts
from widgets.timeline_painter import TOP, TimelinePainter, TimelineShape

SNAP_PX = 4


class Timeline(QWidget):
    """The strip. It draws itself in one pass, and only when its facts change.

    `foldWanted(open)` on its button. `seekRequested(time_ns)` on a click and while the mouse drags; near a mark, the
    time of the mark. `pointed(time_ns)` as the mouse moves over it, None when it leaves.
    """

    seekRequested = Signal(object)  # a session time in ns is longer than Qt's int
    foldWanted = Signal(bool)
    pointed = Signal(object)  # the time under the mouse in ns, None when it is gone

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.facts = TimelineFacts()
        self._pressed_x: float | None = None
        self._dragging = False
        self._hover_x: float | None = None
        self.is_open = True
        self.button = FoldButton("chevron-down", "", self)
        self.button.clicked.connect(lambda: self.foldWanted.emit(not self.is_open))
        follow_theme(self._fit)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMouseTracking(True)
        self.setAccessibleName(tr("Timeline"))
        self.setAccessibleDescription(tr("Click or drag to go back in the session; Left and Right go by a second."))

    def set_open(self, on: bool) -> None:
        self.is_open = on
        self._fit()

    def _fit(self) -> None:
        self.setFixedHeight(self.shape.height)
        if self.is_open:
            self.button.set_sign("chevron-down", tr("Fold the timeline"))
        else:
            self.button.set_sign("chevron-up", tr("Show the lanes of the timeline"))
        self._place_button()
        self.update()

    def _place_button(self) -> None:
        width, height = px(30), px(22)
        self.button.setGeometry(self.width() - width - 2, px(TOP) - 1, width, height)

    @property
    def shape(self) -> TimelineShape:
        return TimelineShape(self.facts, self.width(), self.is_open)

    def sizeHint(self) -> QSize:
        return QSize(600, self.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_button()

    def set_facts(self, facts: TimelineFacts) -> None:
        if facts != self.facts:
            self.facts = facts
            self.update()

    def snapped(self, x: float, y: float = 0.0) -> int:
        """The moment of the mark nearest to a place, if one is near, of a bookmark first in their lane; else the
        moment at the place.
        """
        shape = self.shape
        bookmarks = [tick.time_ns for tick in self.facts.ticks if tick.kind == "bookmark"]
        marks = [tick.time_ns for tick in self.facts.ticks]
        marks += [band.start_ns for band in self.facts.bands]
        top = shape.lane_tops.get("bookmarks")
        for those in (bookmarks, marks) if top is not None and top <= y < top + shape.lane_height else (marks,):
            nearest = min(those, key=lambda time_ns: abs(shape.x_of(time_ns) - x), default=None)
            if nearest is not None and abs(shape.x_of(nearest) - x) <= SNAP_PX:
                return nearest
        return shape.time_at(x)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton and self.facts.now_ns > self.facts.start_ns:
            self._pressed_x = event.position().x()
            self.seekRequested.emit(self.snapped(event.position().x(), event.position().y()))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._hover_x = event.position().x()
        if not event.buttons() & Qt.MouseButton.LeftButton:  # it came up elsewhere
            self._dragging, self._pressed_x = False, None
        # A hand that clicks is not quite still: only what leaves the place is a drag.
        if self._pressed_x is not None and abs(self._hover_x - self._pressed_x) >= QApplication.startDragDistance():
            self._dragging = True
        if self._dragging:
            self.seekRequested.emit(self.shape.time_at(event.position().x()))
        self.pointed.emit(self.shape.time_at(self._hover_x))
        self.update()

    def set_pointer(self, time_ns: int | None) -> None:
        """Show the line of the mouse at a moment that another plot points at; None for none."""
        self._hover_x = None if time_ns is None else self.shape.x_of(time_ns)
        self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton:
            self._dragging, self._pressed_x = False, None

    def leaveEvent(self, event: QEvent) -> None:
        self.set_pointer(None)
        self.pointed.emit(None)
        super().leaveEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        TimelinePainter(self.shape, painter, current_theme()).draw(self._hover_x)
        painter.end()

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), as_plain(self.tip_at(event.pos().x())), self)
            return True
        return super().event(event)

    def tip_at(self, x: float) -> str:
        facts = self.facts
        if facts.now_ns <= facts.start_ns:
            return ""
        moment = self.shape.time_at(x)
        near = (facts.now_ns - facts.start_ns) * SNAP_PX / self.shape.room
        lines = [session_time(moment)]
        place = bisect_right(facts.samples, moment, key=itemgetter(0)) - 1
        if place >= 0:
            lines[0] += "   " + tr("{rate} messages/s", rate=per_second(facts.samples[place][1]))
        lines += [band.label for band in facts.bands if band.start_ns - near <= moment <= band.end(facts.now_ns) + near]
        if facts.branch_ns is not None and moment <= facts.branch_ns + near:
            at = session_time(facts.branch_ns)
            lines.append(tr("The branch begins at {time}; the hatched part belongs to the original session.", time=at))
        if facts.scenario_end_ns is not None and abs(facts.scenario_end_ns - moment) <= near:
            lines.append(tr("The end of the scenario; the session continued."))
        ticks = [tick.label for tick in facts.ticks if abs(tick.time_ns - moment) <= near]
        lines += ticks[:8]
        if len(ticks) > 8:
            lines.append(tr("and {count} more", count=len(ticks) - 8))
        return "\n".join(lines)
