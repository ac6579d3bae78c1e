"""What all boxes on the canvas share: place, look, highlight, and the brushes of the current theme."""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QPainter, QPen
from PySide6.QtWidgets import QGraphicsItem, QGraphicsRectItem, QStyleOptionGraphicsItem, QWidget

from widgets.canvas.geometry import Rect
from widgets.canvas.lettering import width_of, write, write_centred
from widgets.icons import icon_pixmap
from widgets.theme import LIGHT, StateStyle, Theme, ink_on, qcolour

RADIUS = 8.0
FAR_SCALE = 0.5
HINTS = QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform


class Highlight(IntEnum):
    """Whether a box can take what is being dragged."""

    NONE = 0
    CANDIDATE = 1
    TARGET = 2


class Look:
    """What all items draw with: the theme, and whether the zoom is too small for text."""

    def __init__(self, theme: Theme = LIGHT) -> None:
        self.theme = theme
        self.is_far = False
        self.scale = 1.0


@lru_cache(maxsize=256)
def pen(colour: str, width: float = 1.0, style: Qt.PenStyle = Qt.PenStyle.SolidLine) -> QPen:
    """A shared pen."""
    result = QPen(qcolour(colour), width, style)
    result.setCapStyle(Qt.PenCapStyle.FlatCap)
    return result


@lru_cache(maxsize=256)
def hatch(colour: str, alpha: int = 255) -> QBrush:
    """A shared brush of diagonal lines."""
    return QBrush(qcolour(colour, alpha), Qt.BrushStyle.BDiagPattern)


class BoxItem(QGraphicsRectItem):
    """A rounded box that is painted into a cache and again only where it has changed.

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
        """Move and size the box; free where nothing changes."""
        if self.x() != where.x or self.y() != where.y:
            self.setPos(where.x, where.y)
        self.resize_to(where.w, where.h)

    def resize_to(self, width: float, height: float) -> None:
        """Size the box where it stands."""
        if self.rect().width() != width or self.rect().height() != height:
            self.setRect(0, 0, width, height)

    def set_highlight(self, highlight: Highlight) -> None:
        """Show whether a drop here is possible."""
        if highlight is not self.highlight:
            self.highlight = highlight
            self.update()

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        """Qt's entry; subclasses draw in `draw`."""
        painter.setRenderHints(HINTS)
        self.draw(painter, option.exposedRect)

    def draw(self, painter: QPainter, exposed: QRectF) -> None:
        """Draw what lies in `exposed`, in item coordinates."""
        raise TypeError(f"{type(self).__name__} draws nothing")

    def tool_tip(self, x: float, y: float) -> str:
        """Plain text for the point (item coordinates)."""
        return ""

    def sentence(self) -> str:
        """The item in words, for screen readers."""
        return self.item_id

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

    def draw_far_name(self, painter: QPainter, name: str, colour: str) -> None:
        """The name alone, large enough to read from afar."""
        rect = self.rect()
        write(painter, 12, 32, name, "far", colour, rect.width() - 24)


def draw_icon(painter: QPainter, name: str, colour: str, x: float, y: float, size: int, look: Look) -> None:
    """An icon `size` units wide with its top left at (x, y), drawn once for each scale and then copied."""
    painter.drawPixmap(QPointF(x, y), icon_pixmap(name, colour, size, look.scale))


def pill_width(style: StateStyle) -> float:
    """How wide the pill of a state is."""
    return width_of(style.word, "small") + 33


def draw_pill(
    painter: QPainter, x: float, y: float, style: StateStyle, look: Look, width: float, ground: str = ""
) -> float:
    """A state as colour, icon and word in a pill 20 units high from (x, y); the width used."""
    colour, soft = look.theme.colour(style.token), look.theme.colour(f"{style.token}_soft")
    used = min(width, pill_width(style))
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(qcolour(ground or soft))
    painter.drawRoundedRect(QRectF(x, y, used, 20), 10, 10)
    draw_icon(painter, style.icon, colour, x + 6, y + 3, 14, look)
    write(painter, x + 23, y + 14, style.word, "small", colour, used - 29)
    return used


def draw_badge(painter: QPainter, where: QRectF, hue: str, letter: str, small: bool) -> None:
    """An owner's hue with its letter."""
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(qcolour(hue))
    painter.drawRoundedRect(where, 4, 4)
    write_centred(painter, where, letter, "small-letter" if small else "letter", ink_on(hue))


def draw_state_word(painter: QPainter, at: QPointF, style: StateStyle, look: Look, width: float) -> float:
    """A state as icon and word without a ground; `at` is the left end of the base line; the width used."""
    colour = look.theme.colour(style.token)
    draw_icon(painter, style.icon, colour, at.x(), at.y() - 11, 14, look)
    return 18 + write(painter, at.x() + 18, at.y(), style.word, "small", colour, width - 18)
