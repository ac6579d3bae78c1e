from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QBrush,
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QPolygonF,
    QResizeEvent,
)
from PySide6.QtWidgets import QApplication, QLineEdit, QSizePolicy, QToolTip, QWidget

from widgets.fold_button import FoldButton
from widgets.formats import per_second, session_time
from widgets.i18n import mark, tr
from widgets.overlays import FRAME_WIDTH
from widgets.panels.cell_painter import as_plain, tabular_font
from widgets.theme import Theme, current_theme, follow_theme, px, qcolour

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
    "brokers": mark("Brokers"),
    "faults": mark("Faults, alerts"),
    "dead letters": mark("Dead letters"),
    "backpressure": mark("Backpressure"),
    "actions": mark("Actions"),
    "bookmarks": mark("Bookmarks"),
}
# Kind of tick: its lane, and its colour token.
TICKS = {
    "action": ("actions", "accent"),
    "fault": ("faults", "text"),
    "node gone": ("brokers", "failure"),
    "node back": ("brokers", "stable"),
    "leaders": ("brokers", "accent"),
    "incident": ("brokers", "text"),
    "alert": ("faults", "failure"),
    "dead letter": ("dead letters", "failure"),
    "redrive": ("dead letters", "stable"),
    "bookmark": ("bookmarks", "branch"),
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
    """A moment. `kind` is a key of `TICKS`."""

    time_ns: int
    kind: str
    label: str

    @property
    def lane(self) -> str:
        return TICKS.get(self.kind, ("", ""))[0]


@dataclass(frozen=True, slots=True)
class TimelineFacts:
    """The contents of the strip from `start_ns` to `now_ns`; `samples` are (time_ns, messages per second), in order.

    `peak_per_s` is the highest of them. `head_ns` is the moment of the past that the window shows; None if it shows the
    present. `branch_ns` is where the session left another one, and `scenario_end_ns` where its scenario ends, once it
    has gone on past that.
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
        held = {band.lane for band in self.bands} | {tick.lane for tick in self.ticks}
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
        follow_theme(self._fit)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMouseTracking(True)
        self.setAccessibleName(tr("Timeline"))
        self.setAccessibleDescription(tr("Click or drag to go back in the session; Left and Right go by a second."))

    def set_open(self, on: bool) -> None:
        self.is_open = on
        self._fit()

    def _fit(self) -> None:
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
        painter = QPainter(self)
        TimelinePainter(self, painter, current_theme()).draw(self._hover_x)
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
            lines.append(tr("The branch begins at {time}; the hatched part belongs to the original session.", time=at))
        if facts.scenario_end_ns is not None and abs(facts.scenario_end_ns - moment) <= near:
            lines.append(tr("The end of the scenario; the session continued."))
        ticks = [tick.label for tick in facts.ticks if abs(tick.time_ns - moment) <= near]
        lines += ticks[:8]
        if len(ticks) > 8:
            lines.append(tr("and {count} more", count=len(ticks) - 8))
        return "\n".join(lines)


WORDS_LINE = 15
_STEPS_S = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600)
_BANDS = {"rebalances": "rebalancing", "backpressure": "lag_up"}
_MIDDLE_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
_CENTRE = int(Qt.AlignmentFlag.AlignCenter)


class TimelinePainter:
    def __init__(self, strip: Timeline, painter: QPainter, theme: Theme) -> None:
        self._strip = strip
        self._facts = strip.facts
        self._painter = painter
        self._theme = theme
        self._floor = strip.floor
        self._area_height = strip.area_height
        self._lane_top = strip.lane_tops()
        self._lane_height = strip.lane_height

    def draw(self, hover_x: float | None) -> None:
        strip, painter, theme, facts = self._strip, self._painter, self._theme, self._facts
        painter.fillRect(strip.rect(), qcolour(theme.surface))
        painter.setPen(qcolour(theme.border))
        painter.drawLine(0, 0, strip.width(), 0)
        painter.setFont(tabular_font(10))
        if facts.now_ns <= facts.start_ns:
            painter.setPen(qcolour(theme.muted))
            text = tr("Throughput and events appear here once the session is running.")
            painter.drawText(strip.rect(), _CENTRE, text)
            return
        self._lanes()
        self._area()
        self._bands()
        self._ticks()
        self._axis()
        self._branch()
        self._scenario_end()
        if hover_x is not None and hover_x >= px(LEFT):
            painter.setPen(QPen(qcolour(theme.muted, 120), 1, Qt.PenStyle.DotLine))
            painter.drawLine(QPointF(hover_x, px(TOP)), QPointF(hover_x, self._floor))
        self._head()

    def _lanes(self) -> None:
        painter, theme = self._painter, self._theme
        painter.setPen(qcolour(theme.muted))
        words = [tr("Messages/s")]
        if self._strip.is_open:
            words.append(tr("at most {count:,}", count=self._facts.peak_per_s))
        height = min(self._area_height / len(words), px(WORDS_LINE))
        for place, line in enumerate(words):
            where = QRectF(px(10), px(TOP) + place * (height - 1), px(LEFT) - px(14), height)
            painter.drawText(where, _MIDDLE_LEFT, line)
        for place, (name, top) in enumerate(self._lane_top.items()):
            if place % 2 == 0:
                painter.fillRect(
                    QRectF(px(LEFT), top, self._strip.width() - px(LEFT), self._lane_height), qcolour(theme.grid, 90)
                )
            where = QRectF(px(10), top, px(LEFT) - px(14), self._lane_height)
            painter.drawText(where, _MIDDLE_LEFT | int(Qt.TextFlag.TextDontClip), tr(LANES[name]))

    def _area(self) -> None:
        samples = self._facts.samples
        peak = max((value for _, value in samples), default=0.0)
        if len(samples) < 2 or peak <= 0:
            return
        floor, room = px(TOP) + self._area_height, self._area_height - 3
        line = QPainterPath()
        first_ns = samples[0][0]
        left, right = self._strip.x_of(first_ns), self._strip.x_of(samples[-1][0])
        per_ns = (right - left) / max(1, samples[-1][0] - first_ns)
        for place, (time_ns, value) in enumerate(samples):
            point = QPointF(left + (time_ns - first_ns) * per_ns, floor - room * value / peak)
            if place:
                line.lineTo(point)
            else:
                line.moveTo(point)
        area = QPainterPath(line)
        area.lineTo(right, floor)
        area.lineTo(left, floor)
        area.closeSubpath()
        painter = self._painter
        painter.fillPath(area, qcolour(self._theme.accent, 46))
        painter.setPen(QPen(qcolour(self._theme.accent), 1.2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(line)

    def _bands(self) -> None:
        facts, painter, theme = self._facts, self._painter, self._theme
        # Some messages are not read in a rebalance, so it is drawn over the throughput as well; once for many groups.
        for start, end in united(facts.bands, facts.now_ns):
            x = self._strip.x_of(start)
            where = QRectF(x, px(TOP), max(2.0, self._strip.x_of(end) - x), self._area_height)
            painter.fillRect(where, qcolour(theme.colour(_BANDS["rebalances"]), 56))
        for band in facts.bands:
            token = _BANDS.get(band.lane, "idle")
            top = self._lane_top.get(band.lane)
            x = self._strip.x_of(band.start_ns)
            width = max(2.0, self._strip.x_of(facts.now_ns if band.end_ns is None else band.end_ns) - x)
            if top is None:
                top = px(TOP) + self._area_height - self._lane_height
            painter.fillRect(QRectF(x, top + 2, width, self._lane_height - 4), qcolour(theme.colour(token)))

    def _ticks(self) -> None:
        painter, theme = self._painter, self._theme
        painter.setPen(Qt.PenStyle.NoPen)
        for tick in self._facts.ticks:
            if tick.time_ns < self._facts.start_ns or tick.kind not in TICKS:
                continue
            top = self._lane_top.get(tick.lane, px(TOP) + self._area_height - self._lane_height)
            x = self._strip.x_of(tick.time_ns)
            painter.setBrush(qcolour(theme.colour(TICKS[tick.kind][1])))
            if tick.kind in {"action", "bookmark"}:
                points = (
                    (x, top + 1),
                    (x + 4, top + self._lane_height / 2),
                    (x, top + self._lane_height - 1),
                    (x - 4, top + self._lane_height / 2),
                )
                painter.drawPolygon(QPolygonF([QPointF(*point) for point in points]))
            else:
                painter.drawRect(QRectF(x - 1, top + 1, 2, self._lane_height - 2))
        painter.setBrush(Qt.BrushStyle.NoBrush)

    def _axis(self) -> None:
        facts, painter, theme, width = self._facts, self._painter, self._theme, self._strip.width()
        head_x = self._head_x()
        span_s = (facts.now_ns - facts.start_ns) / 1e9
        step = next((step for step in _STEPS_S if span_s / step <= max(2, width / 90)), _STEPS_S[-1])
        painter.setPen(qcolour(theme.grid))
        painter.drawLine(px(LEFT), int(self._floor), width, int(self._floor))
        second = -(-facts.start_ns // (step * 1_000_000_000)) * step
        while second * 1_000_000_000 <= facts.now_ns:
            x = self._strip.x_of(second * 1_000_000_000)
            painter.setPen(qcolour(theme.grid))
            painter.drawLine(QPointF(x, self._floor - 3), QPointF(x, self._floor + 2))
            minutes, rest = divmod(second, 60)
            if px(LEFT) <= x and abs(x - head_x) > px(22):
                painter.setPen(qcolour(theme.muted))
                painter.drawText(
                    QRectF(x - px(30), self._floor + 1, px(60), px(AXIS) - 1), _CENTRE, f"{minutes:02d}:{rest:02d}"
                )
            second += step

    def _branch(self) -> None:
        if self._facts.branch_ns is None:
            return
        x = self._strip.x_of(self._facts.branch_ns)
        painter, colour = self._painter, qcolour(self._theme.branch)
        faint = qcolour(self._theme.branch, 40)
        painter.fillRect(
            QRectF(px(LEFT), px(TOP), x - px(LEFT), self._area_height), QBrush(faint, Qt.BrushStyle.BDiagPattern)
        )
        painter.setPen(QPen(colour, 2))
        painter.drawLine(QPointF(x, px(TOP)), QPointF(x, self._floor))

    def _scenario_end(self) -> None:
        if self._facts.scenario_end_ns is None:
            return
        x, painter, words = self._strip.x_of(self._facts.scenario_end_ns), self._painter, tr("end of the scenario")
        painter.setPen(QPen(qcolour(self._theme.text), 1, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(x, px(TOP)), QPointF(x, self._floor))
        width = painter.fontMetrics().horizontalAdvance(words) + 8
        left = x if x + width < self._strip.width() - px(RIGHT) else x - width
        where = QRectF(left, px(TOP), width, painter.fontMetrics().height())
        painter.fillRect(where.adjusted(1, 0, -1, 0), qcolour(self._theme.surface, 200))
        painter.setPen(qcolour(self._theme.text))
        painter.drawText(where, _CENTRE, words)

    def _head_x(self) -> float:
        return self._strip.x_of(self._facts.now_ns if self._facts.head_ns is None else self._facts.head_ns)

    def _head(self) -> None:
        facts, painter, theme = self._facts, self._painter, self._theme
        past = facts.head_ns is not None
        x = self._head_x()
        if past:
            veil = QRectF(x, 1, self._strip.width() - x, self._floor - 1)
            painter.fillRect(veil, qcolour(theme.window, 150))
        colour = qcolour(theme.replay if past else theme.accent)
        painter.setPen(QPen(colour, 2 if past else 1))
        painter.drawLine(QPointF(x, 1), QPointF(x, self._floor))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        low = self._floor + px(AXIS) - 3
        points = ((x, self._floor - 1), (x + 6, self._floor + 5), (x + 6, low), (x - 6, low), (x - 6, self._floor + 5))
        painter.drawPolygon(QPolygonF([QPointF(*point) for point in points]))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setBrush(Qt.BrushStyle.NoBrush)


def united(bands: Sequence[Band], now_ns: int) -> list[tuple[int, int]]:
    """From when to when, in ns, any group rebalances, in order; what has not ended lasts until `now_ns`."""
    found: list[tuple[int, int]] = []
    rebalances = (band for band in bands if band.lane == "rebalances")
    for start, end in sorted((band.start_ns, now_ns if band.end_ns is None else band.end_ns) for band in rebalances):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found
