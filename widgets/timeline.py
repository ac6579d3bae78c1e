"""The strip below the canvas: throughput as an area, rebalances as bands, what people and queues did as ticks."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QHelpEvent, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from widgets.panels.cell_painter import as_plain, tabular_font
from widgets.theme import Theme, current_theme, qcolour

HEIGHT = 70
_CAPTION, _AXIS = 17, 14
_TICK_HEIGHT = 8
_STEPS_S = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600)
# Kind of tick: colour token, its row above the axis (none hides another), and whether it is as high as the strip.
_TICKS = {
    "action": ("accent", 0, True),
    "fault": ("text", 0, True),
    "dead letter": ("failure", 0, False),
    "blocked": ("lag_up", 1, False),
    "redrive": ("stable", 2, False),
}


@dataclass(frozen=True, slots=True)
class Band:
    """A span of time, as a rebalance; `end_ns` None while it lasts."""

    start_ns: int
    end_ns: int | None
    label: str


@dataclass(frozen=True, slots=True)
class Tick:
    """A moment. `kind` is action, fault, dead letter, blocked or redrive."""

    time_ns: int
    kind: str
    label: str


@dataclass(frozen=True, slots=True)
class TimelineFacts:
    """What the strip shows from `start_ns` to `now_ns`; `samples` are (time_ns, messages per second), in order.

    `peak_per_s` is the most in any one second, however fine the samples are.
    """

    start_ns: int = 0
    now_ns: int = 0
    samples: tuple[tuple[int, float], ...] = ()
    bands: tuple[Band, ...] = ()
    ticks: tuple[Tick, ...] = ()
    peak_per_s: int = 0


class Timeline(QWidget):
    """The strip. It draws itself in one pass, and only when its facts change."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._facts = TimelineFacts()
        self.setFixedHeight(HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Timeline")

    def sizeHint(self) -> QSize:
        """As wide as there is room."""
        return QSize(600, HEIGHT)

    @property
    def facts(self) -> TimelineFacts:
        """What is shown."""
        return self._facts

    def set_facts(self, facts: TimelineFacts) -> None:
        """Show other facts."""
        if facts != self._facts:
            self._facts = facts
            self.update()

    def _x(self, time_ns: int) -> float:
        span = max(1, self._facts.now_ns - self._facts.start_ns)
        return 12 + (self.width() - 24) * (time_ns - self._facts.start_ns) / span

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Background, bands, area, ticks, axis."""
        theme, facts = current_theme(), self._facts
        painter = QPainter(self)
        painter.fillRect(self.rect(), qcolour(theme.surface))
        painter.setPen(qcolour(theme.border))
        painter.drawLine(0, 0, self.width(), 0)
        floor = self.height() - _AXIS
        painter.setFont(tabular_font(10))
        if facts.now_ns <= facts.start_ns:
            painter.setPen(qcolour(theme.muted))
            text = "Throughput and what happened appear here once the session runs."
            painter.drawText(self.rect(), int(Qt.AlignmentFlag.AlignCenter), text)
            return
        self._draw_axis(painter, theme, floor)
        for band in facts.bands:
            left = self._x(max(band.start_ns, facts.start_ns))
            right = self._x(facts.now_ns if band.end_ns is None else band.end_ns)
            width = max(2.0, right - left)
            painter.fillRect(QRectF(left, _CAPTION, width, floor - _CAPTION), qcolour(theme.rebalancing_soft))
            painter.fillRect(QRectF(left, _CAPTION, width, 2), qcolour(theme.rebalancing))
        peak = max((value for _time, value in facts.samples), default=0.0)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._draw_area(painter, theme, floor, peak)
        self._draw_ticks(painter, theme, floor)
        self._draw_caption(painter, theme)
        painter.end()

    def _draw_caption(self, painter: QPainter, theme: Theme) -> None:
        """What the area is on the left, what the marks are on the right."""
        flags = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        painter.setPen(qcolour(theme.muted))
        caption = f"Published, messages/s; at most {self._facts.peak_per_s:,} in one second"
        painter.drawText(QRectF(12, 2, 400, 14), flags, caption)
        x = self.width() - 12.0
        metrics = painter.fontMetrics()
        for word, token in (("rebalance", "rebalancing"), *((kind, look[0]) for kind, look in _TICKS.items())):
            width = metrics.horizontalAdvance(word)
            x -= width
            painter.setPen(qcolour(theme.muted))
            painter.drawText(QRectF(x, 2, width + 2, 14), flags, word)
            x -= 10
            painter.fillRect(QRectF(x, 6, 6, 6), qcolour(theme.colour(token)))
            x -= 12

    def _draw_area(self, painter: QPainter, theme: Theme, floor: float, peak: float) -> None:
        samples = self._facts.samples
        if len(samples) < 2 or peak <= 0:
            return
        room = floor - _CAPTION - 5
        line = QPainterPath()
        for place, (time_ns, value) in enumerate(samples):
            point = QPointF(self._x(time_ns), floor - room * value / peak)
            if place:
                line.lineTo(point)
            else:
                line.moveTo(point)
        area = QPainterPath(line)
        area.lineTo(self._x(samples[-1][0]), floor)
        area.lineTo(self._x(samples[0][0]), floor)
        area.closeSubpath()
        painter.fillPath(area, qcolour(theme.accent, 46))
        painter.setPen(QPen(qcolour(theme.accent), 1.2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(line)

    def _draw_ticks(self, painter: QPainter, theme: Theme, floor: float) -> None:
        for tick in self._facts.ticks:
            if tick.time_ns < self._facts.start_ns:
                continue
            token, row, high = _TICKS.get(tick.kind, ("muted", 0, False))
            x = self._x(tick.time_ns)
            painter.setPen(QPen(qcolour(theme.colour(token)), 2))
            if high:
                painter.drawLine(QPointF(x, _CAPTION), QPointF(x, floor))
            else:
                bottom = floor - row * _TICK_HEIGHT
                painter.drawLine(QPointF(x, bottom - _TICK_HEIGHT + 1), QPointF(x, bottom))

    def _draw_axis(self, painter: QPainter, theme: Theme, floor: float) -> None:
        facts = self._facts
        span_s = (facts.now_ns - facts.start_ns) / 1e9
        step = next((step for step in _STEPS_S if span_s / step <= max(2, self.width() / 90)), _STEPS_S[-1])
        painter.setPen(qcolour(theme.grid))
        painter.drawLine(0, int(floor), self.width(), int(floor))
        second = -(-facts.start_ns // (step * 1_000_000_000)) * step
        while second * 1_000_000_000 <= facts.now_ns:
            x = self._x(second * 1_000_000_000)
            painter.setPen(qcolour(theme.grid))
            painter.drawLine(QPointF(x, floor - 3), QPointF(x, floor + 2))
            minutes, rest = divmod(second, 60)
            if 18 < x < self.width() - 18:
                painter.setPen(qcolour(theme.muted))
                where = QRectF(x - 30, floor, 60, _AXIS)
                painter.drawText(where, int(Qt.AlignmentFlag.AlignCenter), f"{minutes:02d}:{rest:02d}")
            second += step

    def event(self, event: object) -> bool:
        """The tool tip: rate at this moment, and what happened near it."""
        if isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), as_plain(self.tip_at(event.pos().x())), self)
            return True
        return super().event(event)  # type: ignore[arg-type]

    def tip_at(self, x: float) -> str:
        """What the tool tip says at a place: time, rate, bands and ticks near it."""
        facts = self._facts
        if facts.now_ns <= facts.start_ns:
            return ""
        span = facts.now_ns - facts.start_ns
        moment = facts.start_ns + span * (x - 12) / max(1, self.width() - 24)
        near = span * 4 / max(1, self.width() - 24)
        minutes, seconds = divmod(max(0.0, moment) / 1e9, 60)
        lines = [f"{int(minutes):02d}:{seconds:06.3f}"]
        place = bisect_left(facts.samples, (int(moment), 0.0))
        if place < len(facts.samples):
            lines[0] += f"   {facts.samples[place][1]:,.0f} messages/s"
        lines += [
            band.label
            for band in facts.bands
            if band.start_ns - near <= moment <= (facts.now_ns if band.end_ns is None else band.end_ns) + near
        ]
        ticks = [tick.label for tick in facts.ticks if abs(tick.time_ns - moment) <= near]
        lines += ticks[:8]
        if len(ticks) > 8:
            lines.append(f"and {len(ticks) - 8} more")
        return "\n".join(lines)
