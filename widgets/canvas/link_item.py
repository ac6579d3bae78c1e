from __future__ import annotations

from math import atan2, cos, isnan, log2, sin

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPen, QPolygonF

from widgets.canvas.box_item import PILL_H, STATE_ICON, BoxItem, Look, draw_icon, draw_pill, pen, pill_width
from widgets.canvas.geometry import LinkPath, Rect
from widgets.canvas.layout import PUBLISH_GAP
from widgets.canvas.lettering import Step, face_at, least_units, rate_text, width_of
from widgets.canvas.ports import point_at
from widgets.canvas.view import Link
from widgets.i18n import tr
from widgets.theme import StateStyle, mix, qcolour, state_style

DOTS_UP_TO_PER_S = 20.0
DOT_TRAVEL_S = 1.6
DOT_SAMPLES = 48
MARGIN = 12.0
ARROW = 7.0
THICKEST = 7.0


def thickness_of(rate_per_s: float) -> float:
    """1.5 at rest, one and a bit more for each doubling of the rate."""
    return 1.5 if isnan(rate_per_s) else min(THICKEST, 1.5 + 0.5 * log2(1 + rate_per_s))


class LinkItem(BoxItem):
    def __init__(self, link: Link, look: Look) -> None:
        super().__init__("->".join(link.key), look, z=0.0)
        self.setCacheMode(self.CacheMode.NoCache)
        self.setAcceptedMouseButtons(Qt.MouseButton.NoButton)
        self.link = link
        self.stalled = False
        self.phase = 0.0
        self._path = QPainterPath()
        self._samples: list[QPointF] = []
        self._route: LinkPath | None = None
        self._shown = self._visible()

    @property
    def has_dots(self) -> bool:
        """Whether single messages can be distinguished at this rate."""
        link = self.link
        return 0 < link.rate_per_s <= DOTS_UP_TO_PER_S and not (link.blocked or link.is_stopped or self.stalled)

    @property
    def thickness(self) -> float:
        return thickness_of(self.link.rate_per_s)

    def set_link(self, link: Link, stalled: bool) -> None:
        """Show other data; `stalled` while a rebalance stops the reading."""
        self.link, self.stalled = link, stalled
        shown = self._visible()
        if shown != self._shown:
            self._shown = shown
            self.update()

    def _visible(self) -> tuple[object, ...]:
        return round(self.thickness * 4), self.link.blocked, self.stalled, self.has_dots, self.link.rate_per_s > 0

    def set_route(self, route: LinkPath) -> None:
        if route == self._route:
            return
        self._route = route
        points = [point_at(route, at / (DOT_SAMPLES - 1)) for at in range(DOT_SAMPLES)]
        left, top = min(x for x, _ in points) - MARGIN, min(y for _, y in points) - MARGIN
        self._samples = [QPointF(x - left, y - top) for x, y in points]
        path = QPainterPath(QPointF(route.x0 - left, route.y0 - top))
        shorten = ARROW * 0.6
        length = max(1e-6, (route.dx1**2 + route.dy1**2) ** 0.5)
        end = QPointF(route.x1 - left + route.dx1 / length * shorten, route.y1 - top + route.dy1 / length * shorten)
        path.cubicTo(
            QPointF(route.x0 + route.dx0 - left, route.y0 + route.dy0 - top),
            QPointF(route.x1 + route.dx1 - left, route.y1 + route.dy1 - top),
            end,
        )
        self._path = path
        self.setPos(left, top)
        self.resize_to(max(x for x, _ in points) - left + MARGIN, max(y for _, y in points) - top + MARGIN)
        self.update()

    def advance_to(self, phase: float) -> None:
        self.phase = phase
        if self.has_dots:
            self.update()

    def draw(self, painter: QPainter, exposed: QRectF) -> None:
        if self._route is None:
            return
        theme = self.look.theme
        blocked = self.link.blocked
        if blocked or self.stalled:
            colour = theme.rebalancing if self.stalled else theme.failure
        elif self.link.rate_per_s <= 0:
            colour = mix(theme.window, theme.border_strong, 0.55)
        elif self.link.kind == "dead-letter":
            colour = theme.failure
        else:
            colour = mix(theme.window, theme.border_strong, 0.85)
        stroke = QPen(qcolour(colour), self.thickness)
        stroke.setCapStyle(Qt.PenCapStyle.FlatCap)
        if blocked or self.stalled:
            stroke.setWidthF(max(2.5, self.thickness))
            stroke.setDashPattern([2.0, 1.4])
        painter.setPen(stroke)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(self._path)
        self._draw_arrow(painter, colour)
        if self.has_dots:
            self._draw_dots(painter)

    def _draw_arrow(self, painter: QPainter, colour: str) -> None:
        tip, before = self._samples[-1], self._samples[-3]
        angle = atan2(tip.y() - before.y(), tip.x() - before.x())
        size = ARROW + self.thickness * 0.4
        corners = [tip]
        for turn in (2.65, -2.65):
            corners.append(QPointF(tip.x() + size * cos(angle + turn), tip.y() + size * sin(angle + turn)))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(qcolour(colour))
        painter.drawPolygon(QPolygonF(corners))

    def _draw_dots(self, painter: QPainter) -> None:
        theme = self.look.theme
        count = min(6, max(1, round(self.link.rate_per_s * DOT_TRAVEL_S / 3)))
        painter.setPen(pen(theme.window, 1))
        painter.setBrush(qcolour(theme.failure if self.link.kind == "dead-letter" else theme.accent))
        last = DOT_SAMPLES - 4
        for at in range(count):
            share = (self.phase + at / count) % 1.0 * last
            low = int(share)
            part = share - low
            one, two = self._samples[low], self._samples[low + 1]
            x, y = one.x() + (two.x() - one.x()) * part, one.y() + (two.y() - one.y()) * part
            painter.drawEllipse(QPointF(x, y), 3.5, 3.5)

    def is_near(self, x: float, y: float) -> bool:
        """Whether a point in item coordinates lies on the line or its word."""
        return any(abs(point.x() - x) < 6 and abs(point.y() - y) < 6 for point in self._samples)

    def sentence(self) -> str:
        source, target = (end.partition(":")[2] or end for end in self.link.key[:2])
        if self.stalled:
            return tr("{source} to {target}, Stopped by the rebalance", source=source, target=target)
        if self.link.blocked:
            return tr("{source} to {target}, Blocked", source=source, target=target)
        return tr("{source} to {target}, {rate}", source=source, target=target, rate=rate_text(self.link.rate_per_s))

    def tool_tip(self, x: float, y: float) -> str:
        return f"{self.sentence()}\n{self.link.reason}".strip() if self.is_near(x, y) else ""


class LinkWordItem(BoxItem):
    def __init__(self, key: str, look: Look) -> None:
        super().__init__(key, look, z=0.5)
        self.style = state_style("Blocked")

    def show_word(self, x: float, y: float, blocked: bool) -> None:
        style = state_style("Blocked") if blocked else StateStyle("rebalancing", "pause", state_style("Stopped").word)
        largest = face_at("small", Step.NORMAL, least_units(0, Step.NORMAL))
        width, height = width_of(style.word, largest) + STATE_ICON[Step.NORMAL] + 19, PILL_H[Step.OVERVIEW]
        self.place(Rect(x - width / 2, y - height / 2, width, height))
        if style != self.style:
            self.style = style
            self.update()

    def draw(self, painter: QPainter, exposed: QRectF) -> None:
        """A pill; its icon alone if its word is too long, and in an overview: the boxes at both ends have the word."""
        look, rect = self.look, self.rect()
        colour, height = look.theme.colour(self.style.token), PILL_H[look.step]
        width = pill_width(self.style, look)
        words = look.step is not Step.OVERVIEW and width <= PUBLISH_GAP + height / 2
        width = width if words else height
        where = QRectF((rect.width() - width) / 2, (rect.height() - height) / 2, width, height)
        if words:
            draw_pill(painter, where.x(), where.y(), self.style, look, width)
            painter.setBrush(Qt.BrushStyle.NoBrush)
        else:
            painter.setBrush(qcolour(look.theme.colour(f"{self.style.token}_soft")))
        painter.setPen(pen(colour, 1))
        painter.drawRoundedRect(where.adjusted(0.5, 0.5, -0.5, -0.5), height / 2, height / 2)
        if not words:
            size = STATE_ICON[look.step]
            at = where.center() - QPointF(size / 2, size / 2)
            draw_icon(painter, self.style.icon, colour, at.x(), at.y(), size, look)
