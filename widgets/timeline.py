from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from operator import itemgetter

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QLineEdit, QSizePolicy, QToolTip, QWidget

from resources.units import per_second
from widgets.fold_button import FoldButton
from widgets.formats import session_time
from widgets.i18n import mark, tr
from widgets.panels.cell_painter import as_plain
from widgets.theme import current_theme, px
from widgets.tint import FRAME_WIDTH

WIDTH = 190


class BookmarkField(QLineEdit):
    """Opens over the timeline. Enter, or going elsewhere, keeps what is written; Escape what was there before.

    `named(time_ns, before, name)` where another name was written; "" takes the bookmark away.
    """

    named = Signal(object, str, str)

    def __init__(self, timeline: Timeline) -> None:
        super().__init__(timeline)
        self._timeline = timeline
        self._time_ns = 0
        self._before = ""
        self.setAccessibleName(tr("Name of the bookmark"))
        self.setToolTip(tr("Enter keeps the name; an empty one removes the bookmark."))
        self.hide()

    def edit(self, time_ns: int, name: str) -> None:
        """Open at a moment with the name selected; nothing opens where the timeline is not seen."""
        if not self._timeline.isVisible():
            return
        self.keep()
        self._time_ns, self._before = time_ns, name
        self.setText(name)
        self.selectAll()
        self.resize(px(WIDTH), self.sizeHint().height())
        left = round(self._timeline.x_of(time_ns)) - self.width() // 2
        room = self._timeline.width() - self.width() - px(4)
        self.move(max(0, min(left, room)), max(0, self._timeline.height() - self.height()))
        self.show()
        self.raise_()
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def keep(self) -> None:
        if not self.isHidden():
            self.hide()
            name = " ".join(self.text().split())
            if name != self._before:
                self.named.emit(self._time_ns, self._before, name)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter and Escape end it; every other key is the text's."""
        if event.key() == Qt.Key.Key_Escape:
            self.setText(self._before)
        if event.key() in {Qt.Key.Key_Escape, Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            self.keep()
            return
        super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            self.keep()


LEFT, RIGHT = 92, 36  # lane names; the button that folds, and air for the handle at the present
AXIS, TOP = 15, 3
# Throughput and lanes share this height, so that a lane that appears takes nothing from the canvas.
BODY = 72
MOST_LANE, LEAST_AREA = 11, 18
#: Lane: its name on the screen.
LANES = {
    "rebalances": mark("Rebalances"),
    "faults": mark("Faults, alerts"),
    "dead letters": mark("Dead letters"),
    "backpressure": mark("Backpressure"),
    "actions": mark("Actions"),
    "bookmarks": mark("Bookmarks"),
}
# Kind of tick: its lane.
TICK_LANES = {
    "action": "actions",
    "fault": "faults",
    "alert": "faults",
    "dead letter": "dead letters",
    "redrive": "dead letters",
    "bookmark": "bookmarks",
}
SNAP_PX = 4


@dataclass(frozen=True, slots=True)
class Band:
    """A span of time in a lane; `end_ns` None while it lasts."""

    start_ns: int
    end_ns: int | None
    label: str
    lane: str = "rebalances"


@dataclass(frozen=True, slots=True)
class Tick:
    """A moment. `kind` is action, fault, alert, dead letter, redrive or bookmark."""

    time_ns: int
    kind: str
    label: str


@dataclass(frozen=True, slots=True)
class TimelineFacts:
    """What the strip shows from `start_ns` to `now_ns`; `samples` are (time_ns, messages per second), in order.

    `peak_per_s` is the highest of them. `head_ns` is the moment of the past that
    the window shows; None if it shows the present. `branch_ns` is where the session left another one, and
    `scenario_end_ns` where its scenario ends, once it has gone on past that.
    """

    start_ns: int = 0
    now_ns: int = 0
    samples: tuple[tuple[int, float], ...] = ()
    bands: tuple[Band, ...] = ()
    ticks: tuple[Tick, ...] = ()
    peak_per_s: int = 0
    head_ns: int | None = None
    branch_ns: int | None = None
    scenario_end_ns: int | None = None

    def lanes(self) -> tuple[str, ...]:
        held = {band.lane for band in self.bands} | {TICK_LANES.get(tick.kind, "") for tick in self.ticks}
        return tuple(lane for lane in LANES if lane in held)


class Timeline(QWidget):
    """The strip. It draws itself in one pass, and only when its facts change.

    A lane is there once it holds anything, and takes its height from the throughput: the strip stays as high as it is.
    Folded, all marks stand on the line of the throughput.

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
        self._lanes: tuple[str, ...] = ()
        self.is_open = True
        self.button = FoldButton("chevron-down", "", self)
        self.button.clicked.connect(lambda: self.foldWanted.emit(not self.is_open))
        self._fit()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMouseTracking(True)
        self.setAccessibleName(tr("Timeline"))
        self.setAccessibleDescription(tr("Click or drag to go back in the session; Left and Right go by a second."))

    def set_open(self, on: bool) -> None:
        self.is_open = on
        self._fit()

    def _fit(self) -> None:
        """As high as an open or a folded strip is, with the frame of the past below the axis."""
        self.setFixedHeight(self.floor + px(AXIS) + FRAME_WIDTH)
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
    def area_height(self) -> int:
        return px(BODY) - self.lane_height * len(self._lanes) if self.is_open else px(LEAST_AREA)

    @property
    def lane_height(self) -> int:
        return min(px(MOST_LANE), (px(BODY) - px(LEAST_AREA)) // max(1, len(self._lanes)))

    @property
    def floor(self) -> int:
        """Where the axis begins, in pixels from the top."""
        return px(TOP) + px(BODY if self.is_open else LEAST_AREA)

    def lane_tops(self) -> dict[str, int]:
        first = px(TOP) + self.area_height
        return (
            {lane: first + self.lane_height * place for place, lane in enumerate(self._lanes)} if self.is_open else {}
        )

    def sizeHint(self) -> QSize:
        return QSize(600, self.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_button()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange:
            self._fit()

    def set_facts(self, facts: TimelineFacts) -> None:
        if facts != self.facts:
            self.facts = facts
            self._lanes = facts.lanes()
            self.update()

    def x_of(self, time_ns: int) -> float:
        span = max(1, self.facts.now_ns - self.facts.start_ns)
        return px(LEFT) + self._room() * (time_ns - self.facts.start_ns) / span

    def time_at(self, x: float) -> int:
        """The moment at a place, between the start and now."""
        span = self.facts.now_ns - self.facts.start_ns
        moment = self.facts.start_ns + span * (x - px(LEFT)) / self._room()
        return round(min(max(moment, self.facts.start_ns), self.facts.now_ns))

    def _room(self) -> int:
        return max(1, self.width() - px(LEFT) - px(RIGHT))

    def snapped(self, x: float, y: float = 0.0) -> int:
        """The moment of the mark nearest to a place, if one is near, of a bookmark first in their lane; else the
        moment at the place.
        """
        bookmarks = [tick.time_ns for tick in self.facts.ticks if tick.kind == "bookmark"]
        marks = [tick.time_ns for tick in self.facts.ticks]
        marks += [band.start_ns for band in self.facts.bands]
        top = self.lane_tops().get("bookmarks")
        for those in (bookmarks, marks) if top is not None and top <= y < top + self.lane_height else (marks,):
            nearest = min(those, key=lambda time_ns: abs(self.x_of(time_ns) - x), default=None)
            if nearest is not None and abs(self.x_of(nearest) - x) <= SNAP_PX:
                return nearest
        return self.time_at(x)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton and self.facts.now_ns > self.facts.start_ns:
            self._pressed_x = event.position().x()
            self.seekRequested.emit(self.snapped(event.position().x(), event.position().y()))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._hover_x = event.position().x()
        # A hand that clicks is not quite still: only what leaves the place is a drag.
        if self._pressed_x is not None and abs(self._hover_x - self._pressed_x) >= QApplication.startDragDistance():
            self._dragging = True
        if self._dragging:
            self.seekRequested.emit(self.time_at(event.position().x()))
        self.pointed.emit(self.time_at(self._hover_x))
        self.update()

    def set_pointer(self, time_ns: int | None) -> None:
        """Show the line of the mouse at a moment that another plot points at; None for none."""
        self._hover_x = None if time_ns is None else self.x_of(time_ns)
        self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton:
            self._dragging, self._pressed_x = False, None

    def leaveEvent(self, event: QEvent) -> None:
        self._hover_x = None
        self.pointed.emit(None)
        self.update()
        super().leaveEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        from widgets.timeline_painter import TimelinePainter  # it draws this widget, and knows it

        theme = current_theme()
        painter = QPainter(self)
        TimelinePainter(self, painter, theme).draw(self._hover_x)
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
        moment = self.time_at(x)
        near = (facts.now_ns - facts.start_ns) * SNAP_PX / self._room()
        minutes, seconds = divmod(moment / 1e9, 60)
        lines = [f"{int(minutes):02d}:{seconds:06.3f}"]
        place = bisect_right(facts.samples, moment, key=itemgetter(0)) - 1
        if place >= 0:
            lines[0] += "   " + tr("{rate} messages/s", rate=per_second(facts.samples[place][1]))
        lines += [
            band.label
            for band in facts.bands
            if band.start_ns - near <= moment <= (facts.now_ns if band.end_ns is None else band.end_ns) + near
        ]
        if facts.branch_ns is not None and moment <= facts.branch_ns + near:
            at = session_time(facts.branch_ns)
            lines.append(tr("The branch begins at {time}; the hatched part belongs to the session before.", time=at))
        if facts.scenario_end_ns is not None and abs(facts.scenario_end_ns - moment) <= near:
            lines.append(tr("The end of the scenario; the session went on."))
        ticks = [tick.label for tick in facts.ticks if abs(tick.time_ns - moment) <= near]
        lines += ticks[:8]
        if len(ticks) > 8:
            lines.append(tr("and {count} more", count=len(ticks) - 8))
        return "\n".join(lines)
