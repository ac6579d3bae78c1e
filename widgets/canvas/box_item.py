from __future__ import annotations

from enum import IntEnum
from functools import lru_cache
from typing import ClassVar, Generic, TypeVar

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QPainter, QPen
from PySide6.QtWidgets import QGraphicsItem, QGraphicsRectItem, QStyleOptionGraphicsItem, QWidget

from widgets.canvas.geometry import Rect
from widgets.canvas.layout import LABEL_X, TOPIC_W
from widgets.canvas.lettering import Step, face_at, metrics, rate_text, width_of, write, write_centred, write_right
from widgets.icons import icon_pixmap
from widgets.theme import LIGHT, StateStyle, Theme, ink_on, qcolour, state_style

RADIUS = 8.0
HINTS = QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform


class Highlight(IntEnum):
    NONE = 0
    CANDIDATE = 1
    TARGET = 2


class Look:
    """Shared drawing parameters: the theme, the zoom step, and the number of screen pixels per unit."""

    def __init__(self, theme: Theme = LIGHT) -> None:
        self.theme = theme
        self.step = Step.NEAR
        self.scale = 1.0
        self.least_units = 0

    def face(self, name: str) -> str:
        return face_at(name, self.step, self.least_units)


@lru_cache(maxsize=256)
def pen(colour: str, width: float = 1.0, style: Qt.PenStyle = Qt.PenStyle.SolidLine) -> QPen:
    result = QPen(qcolour(colour), width, style)
    result.setCapStyle(Qt.PenCapStyle.FlatCap)
    return result


@lru_cache(maxsize=256)
def hatch(colour: str, alpha: int = 255) -> QBrush:
    return QBrush(qcolour(colour, alpha), Qt.BrushStyle.BDiagPattern)


class BoxItem(QGraphicsRectItem):
    """A rounded box that is painted into a cache and again only if it has changed.

    It stands on a plain QGraphicsRectItem so that its bounds are answered without entering Python.
    """

    def __init__(self, item_id: str, look: Look, z: float = 1.0) -> None:
        super().__init__()
        self.item_id = item_id
        self.look = look
        self.highlight = Highlight.NONE
        self.setPen(QPen(Qt.PenStyle.NoPen))
        self.setZValue(z)
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemUsesExtendedStyleOption)
        self.setCacheMode(QGraphicsItem.CacheMode.DeviceCoordinateCache)

    def place(self, where: Rect) -> None:
        if self.x() != where.x or self.y() != where.y:
            self.setPos(where.x, where.y)
        self.resize_to(where.w, where.h)

    def resize_to(self, width: float, height: float) -> None:
        if self.rect().width() != width or self.rect().height() != height:
            self.setRect(0, 0, width, height)

    def set_highlight(self, highlight: Highlight) -> None:
        if highlight is not self.highlight:
            self.highlight = highlight
            self.update()

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        painter.setRenderHints(HINTS)
        self.draw(painter, option.exposedRect)

    def draw(self, painter: QPainter, exposed: QRectF) -> None:
        raise TypeError(f"{type(self).__name__} draws nothing")

    def sentence(self) -> str:
        return self.item_id

    def tool_tip(self, x: float, y: float) -> str:
        return self.sentence()

    def draw_frame(self, painter: QPainter, fill: str, edge: str, width: float = 1.0, dashed: bool = False) -> None:
        """The rounded background, in the colours of the highlight while something is dragged."""
        theme = self.look.theme
        if self.highlight is Highlight.TARGET:
            fill, edge, width, dashed = theme.accent_soft, theme.accent, 2.0, False
        elif self.highlight is Highlight.CANDIDATE:
            edge, width, dashed = theme.accent, 1.5, True
        inset = width / 2
        painter.setPen(pen(edge, width, Qt.PenStyle.DashLine if dashed else Qt.PenStyle.SolidLine))
        painter.setBrush(qcolour(fill))
        painter.drawRoundedRect(self.rect().adjusted(inset, inset, -inset, -inset), RADIUS, RADIUS)


Facts = TypeVar("Facts")


class FactsItem(BoxItem, Generic[Facts]):
    """A box that shows `facts`, and is painted again where what is `seen` of them has changed."""

    layer: ClassVar[float] = 1.0

    def __init__(self, item_id: str, facts: Facts, look: Look) -> None:
        super().__init__(item_id, look, self.layer)
        self.facts = facts
        self._seen = self.seen(facts)

    @staticmethod
    def seen(facts: Facts) -> tuple[object, ...]:
        return (facts,)

    def set_facts(self, facts: Facts) -> None:
        self.facts = facts
        before, self._seen = self._seen, self.seen(facts)
        if before != self._seen:
            self.repaint(before, self._seen)

    def repaint(self, before: tuple[object, ...], now: tuple[object, ...]) -> None:
        self.update()


def draw_icon(painter: QPainter, name: str, colour: str, x: float, y: float, size: int, look: Look) -> None:
    """An icon `size` units wide with its top left at (x, y), drawn once for each scale and then copied."""
    painter.drawPixmap(QPointF(x, y), icon_pixmap(name, colour, size, look.scale))


# At each step of the zoom: the height of a pill, the size of a state's icon.
PILL_H = {Step.OVERVIEW: 28, Step.NORMAL: 24, Step.NEAR: 20}
STATE_ICON = {Step.OVERVIEW: 20, Step.NORMAL: 17, Step.NEAR: 14}


def pill_width(style: StateStyle, look: Look) -> float:
    return width_of(style.word, look.face("small")) + STATE_ICON[look.step] + 19


def draw_pill(
    painter: QPainter, x: float, y: float, style: StateStyle, look: Look, width: float, ground: str = ""
) -> float:
    """A state as colour, icon and word in a pill from (x, y); the width used."""
    colour, soft = look.theme.colour(style.token), look.theme.colour(f"{style.token}_soft")
    height, size = PILL_H[look.step], STATE_ICON[look.step]
    used = min(width, pill_width(style, look))
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(qcolour(ground or soft))
    painter.drawRoundedRect(QRectF(x, y, used, height), height / 2, height / 2)
    draw_icon(painter, style.icon, colour, x + 6, y + (height - size) / 2, size, look)
    face = look.face("small")
    base = y + (height + metrics(face).capHeight()) / 2
    write(painter, x + size + 9, base, style.word, face, colour, used - size - 15)
    return used


def draw_place_header(
    painter: QPainter, look: Look, icon: str, name: str, rate_per_s: float, gate: str
) -> tuple[float, float]:
    """The header of a topic or queue: icon, name, the state of its gate, rate; (from, to) of what is left between.

    The gate comes before the rate, and the name before both.
    """
    theme, step = look.theme, look.step
    left, right = LABEL_X, TOPIC_W - LABEL_X
    if step is not Step.OVERVIEW:
        draw_icon(painter, icon, theme.muted, 12, 9, 18, look)
        left = 38.0
    title, small = look.face("title"), look.face("small")
    base = 23 + (Step.NEAR - step)
    room = right - left - width_of(name, title) - 12
    style = state_style(gate) if gate else None
    pill = pill_width(style, look) + 8 if style is not None else 0.0
    rate = rate_text(rate_per_s)
    if width_of(rate, small) + 4 <= room - pill:
        right -= write_right(painter, right, base, rate, small, theme.muted, 90) + 10
    if style is not None:
        right -= pill - 8
        draw_pill(painter, right, 18 - PILL_H[step] / 2, style, look, pill)
        right -= 8
    used = write(painter, left, base, name, title, theme.text, right - left)
    return left + used + 10, right


def draw_badge(painter: QPainter, where: QRectF, hue: str, letter: str, small: bool, look: Look | None = None) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(qcolour(hue))
    painter.drawRoundedRect(where, 4, 4)
    face = (look or Look()).face
    name = face("small-letter" if small else "letter")
    if width_of(letter, name) > where.width():
        name = face("small-letter")
    write_centred(painter, where, letter, name, ink_on(hue))


def draw_state_word(
    painter: QPainter, at: QPointF, style: StateStyle, look: Look, width: float, face: str = ""
) -> float:
    """A state as icon and word without a ground; `at` is the left end of the base line; the width used."""
    colour, size, face = look.theme.colour(style.token), STATE_ICON[look.step], face or look.face("small")
    draw_icon(painter, style.icon, colour, at.x(), at.y() - (metrics(face).capHeight() + size) / 2, size, look)
    return size + 4 + write(painter, at.x() + size + 4, at.y(), style.word, face, colour, width - size - 4)
