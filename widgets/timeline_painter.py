from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QBrush, QPainter, QPainterPath, QPen, QPolygonF

from widgets.formats import clock_time
from widgets.i18n import tr
from widgets.overlays import FRAME_WIDTH
from widgets.theme import Theme, px, qcolour, tabular_font
from widgets.timeline_facts import LANES, TICKS, TimelineFacts, united

LEFT, RIGHT = 92, 36  # lane names; the button that folds, and air for the handle at the present
AXIS, TOP = 15, 3
# Throughput and lanes share this height, so that a lane that appears takes nothing from the canvas.
BODY = 72
MOST_LANE, LEAST_AREA = 11, 18
WORDS_LINE = 15
_STEPS_S = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 43200, 86400, 604800)
_BANDS = {"rebalances": "rebalancing", "backpressure": "lag_up"}
_MIDDLE_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
_CENTRE = int(Qt.AlignmentFlag.AlignCenter)


@dataclass(frozen=True)
class TimelineShape:
    """Where what it holds stands in a strip of a width; y from its top, x from its left, in pixels.

    A lane is there once it holds anything, and takes its height from the throughput: the strip stays as high as it is.
    Folded, it has no lanes, and all marks stand on the line of the throughput.
    """

    facts: TimelineFacts
    width: int
    is_open: bool

    @property
    def height(self) -> int:
        return self.floor + px(AXIS) + FRAME_WIDTH

    @property
    def floor(self) -> int:
        return px(TOP) + px(BODY if self.is_open else LEAST_AREA)

    @cached_property
    def area_height(self) -> int:
        return px(BODY) - self.lane_height * len(self.facts.lanes) if self.is_open else px(LEAST_AREA)

    @cached_property
    def lane_height(self) -> int:
        return min(px(MOST_LANE), (px(BODY) - px(LEAST_AREA)) // max(1, len(self.facts.lanes)))

    @cached_property
    def lane_tops(self) -> dict[str, int]:
        lanes = self.facts.lanes if self.is_open else ()
        first = px(TOP) + self.area_height
        return {lane: first + self.lane_height * place for place, lane in enumerate(lanes)}

    def mark_top(self, lane: str) -> int:
        """Where the marks of a lane begin; at the foot of the throughput if it is not there."""
        return self.lane_tops.get(lane, px(TOP) + self.area_height - self.lane_height)

    @property
    def room(self) -> int:
        """The width that the time from start to now has."""
        return max(1, self.width - px(LEFT) - px(RIGHT))

    def x_of(self, time_ns: int) -> float:
        span = max(1, self.facts.now_ns - self.facts.start_ns)
        return px(LEFT) + self.room * (time_ns - self.facts.start_ns) / span

    def time_at(self, x: float) -> int:
        """The moment at a place, between the start and now."""
        span = self.facts.now_ns - self.facts.start_ns
        moment = self.facts.start_ns + span * (x - px(LEFT)) / self.room
        return round(min(max(moment, self.facts.start_ns), self.facts.now_ns))


class TimelinePainter:
    def __init__(self, shape: TimelineShape, painter: QPainter, theme: Theme) -> None:
        self._shape = shape
        self._facts = shape.facts
        self._painter = painter
        self._theme = theme
        self._floor = shape.floor
        self._area_height = shape.area_height
        self._lane_height = shape.lane_height

    def draw(self, hover_x: float | None) -> None:
        shape, painter, theme, facts = self._shape, self._painter, self._theme, self._facts
        strip = QRect(0, 0, shape.width, shape.height)
        painter.fillRect(strip, qcolour(theme.surface))
        painter.setPen(qcolour(theme.border))
        painter.drawLine(0, 0, shape.width, 0)
        painter.setFont(tabular_font(10))
        if facts.now_ns <= facts.start_ns:
            painter.setPen(qcolour(theme.muted))
            text = tr("Throughput and events appear here once the session is running.")
            painter.drawText(strip, _CENTRE, text)
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
        if self._shape.is_open:
            words.append(tr("at most {count:,}", count=self._facts.peak_per_s))
        height = min(self._area_height / len(words), px(WORDS_LINE))
        for place, line in enumerate(words):
            where = QRectF(px(10), px(TOP) + place * (height - 1), px(LEFT) - px(14), height)
            painter.drawText(where, _MIDDLE_LEFT, line)
        if not self._shape.is_open:  # whose marks stand on the line
            where = QRectF(px(10), self._floor, px(LEFT) - px(30), px(AXIS))
            held = ", ".join(tr(LANES[lane]) for lane in self._facts.lanes)
            elided = painter.fontMetrics().elidedText(held, Qt.TextElideMode.ElideRight, int(where.width()))
            painter.drawText(where, _MIDDLE_LEFT, elided)
        for place, (name, top) in enumerate(self._shape.lane_tops.items()):
            if place % 2 == 0:
                stripe = QRectF(px(LEFT), top, self._shape.width - px(LEFT), self._lane_height)
                painter.fillRect(stripe, qcolour(theme.grid, 90))
            where = QRectF(px(10), top, px(LEFT) - px(14), self._lane_height)
            painter.drawText(where, _MIDDLE_LEFT | int(Qt.TextFlag.TextDontClip), tr(LANES[name]))

    def _area(self) -> None:
        samples = self._facts.samples
        peak = max((value for _, value in samples), default=0.0)
        if len(samples) < 2 or peak <= 0:
            return
        floor, room = px(TOP) + self._area_height, self._area_height - 3
        first_ns = samples[0][0]
        left, right = self._shape.x_of(first_ns), self._shape.x_of(samples[-1][0])
        per_ns = (right - left) / max(1, samples[-1][0] - first_ns)
        points = [QPointF(left + (at_ns - first_ns) * per_ns, floor - room * value / peak) for at_ns, value in samples]
        line = QPainterPath()
        line.addPolygon(QPolygonF(points))
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
            x = self._shape.x_of(start)
            where = QRectF(x, px(TOP), max(2.0, self._shape.x_of(end) - x), self._area_height)
            painter.fillRect(where, qcolour(theme.colour(_BANDS["rebalances"]), 56))
        for band in facts.bands:
            token = _BANDS.get(band.lane, "idle")
            x = self._shape.x_of(band.start_ns)
            width = max(2.0, self._shape.x_of(band.end(facts.now_ns)) - x)
            top = self._shape.mark_top(band.lane)
            painter.fillRect(QRectF(x, top + 2, width, self._lane_height - 4), qcolour(theme.colour(token)))

    def _ticks(self) -> None:
        painter, theme = self._painter, self._theme
        painter.setPen(Qt.PenStyle.NoPen)
        for tick in self._facts.ticks:
            if tick.time_ns < self._facts.start_ns or tick.kind not in TICKS:
                continue
            top = self._shape.mark_top(tick.lane)
            x = self._shape.x_of(tick.time_ns)
            painter.setBrush(qcolour(theme.colour(TICKS[tick.kind][1])))
            if tick.kind in {"action", "bookmark"}:
                middle, low = top + self._lane_height / 2, top + self._lane_height - 1
                points = ((x, top + 1), (x + 4, middle), (x, low), (x - 4, middle))
                painter.drawPolygon(QPolygonF([QPointF(*point) for point in points]))
            else:
                painter.drawRect(QRectF(x - 1, top + 1, 2, self._lane_height - 2))
        painter.setBrush(Qt.BrushStyle.NoBrush)

    def _axis(self) -> None:
        facts, painter, theme, width = self._facts, self._painter, self._theme, self._shape.width
        head_x = self._head_x()
        span_s = (facts.now_ns - facts.start_ns) / 1e9
        step = next((step for step in _STEPS_S if span_s / step <= max(2, width / 90)), _STEPS_S[-1])
        painter.setPen(qcolour(theme.grid))
        painter.drawLine(px(LEFT), int(self._floor), width, int(self._floor))
        second = -(-facts.start_ns // (step * 1_000_000_000)) * step
        while second * 1_000_000_000 <= facts.now_ns:
            x = self._shape.x_of(second * 1_000_000_000)
            painter.setPen(qcolour(theme.grid))
            painter.drawLine(QPointF(x, self._floor - 3), QPointF(x, self._floor + 2))
            if px(LEFT) <= x and abs(x - head_x) > px(22):
                painter.setPen(qcolour(theme.muted))
                where = QRectF(x - px(30), self._floor + 1, px(60), px(AXIS) - 1)
                painter.drawText(where, _CENTRE, clock_time(second))
            second += step

    def _branch(self) -> None:
        if self._facts.branch_ns is None:
            return
        x = self._shape.x_of(self._facts.branch_ns)
        painter, original = self._painter, QRectF(px(LEFT), px(TOP), x - px(LEFT), self._area_height)
        painter.fillRect(original, QBrush(qcolour(self._theme.branch, 40), Qt.BrushStyle.BDiagPattern))
        painter.setPen(QPen(qcolour(self._theme.branch), 2))
        painter.drawLine(QPointF(x, px(TOP)), QPointF(x, self._floor))

    def _scenario_end(self) -> None:
        if self._facts.scenario_end_ns is None:
            return
        x, painter, words = self._shape.x_of(self._facts.scenario_end_ns), self._painter, tr("end of the scenario")
        painter.setPen(QPen(qcolour(self._theme.text), 1, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(x, px(TOP)), QPointF(x, self._floor))
        width = painter.fontMetrics().horizontalAdvance(words) + 8
        left = x if x + width < self._shape.width - px(RIGHT) else x - width
        where = QRectF(left, px(TOP), width, painter.fontMetrics().height())
        painter.fillRect(where.adjusted(1, 0, -1, 0), qcolour(self._theme.surface, 200))
        painter.setPen(qcolour(self._theme.text))
        painter.drawText(where, _CENTRE, words)

    def _head_x(self) -> float:
        return self._shape.x_of(self._facts.now_ns if self._facts.head_ns is None else self._facts.head_ns)

    def _head(self) -> None:
        facts, painter, theme = self._facts, self._painter, self._theme
        past = facts.head_ns is not None
        x = self._head_x()
        if past:
            veil = QRectF(x, 1, self._shape.width - x, self._floor - 1)
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
