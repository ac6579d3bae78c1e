from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QPainter, QPainterPath, QPen, QPolygonF

from widgets.i18n import tr
from widgets.panels.cell_painter import tabular_font
from widgets.theme import Theme, px, qcolour
from widgets.timeline import AXIS, LANES, LEFT, RIGHT, TICK_LANES, TOP

if TYPE_CHECKING:
    from widgets.timeline import Band, Timeline

WORDS_LINE = 15
_STEPS_S = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600)
# Kind of tick: its colour token.
_TICKS = {
    "action": "accent",
    "fault": "text",
    "alert": "failure",
    "dead letter": "failure",
    "redrive": "stable",
    "bookmark": "branch",
}
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
            text = tr("Throughput and events appear here once the session runs.")
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
            if tick.time_ns < self._facts.start_ns or tick.kind not in _TICKS:
                continue
            top = self._lane_top.get(TICK_LANES[tick.kind], px(TOP) + self._area_height - self._lane_height)
            x = self._strip.x_of(tick.time_ns)
            painter.setBrush(qcolour(theme.colour(_TICKS[tick.kind])))
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
