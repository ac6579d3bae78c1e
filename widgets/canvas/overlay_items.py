from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter

from widgets.canvas.box_item import RADIUS, BoxItem, FactsItem, Look, draw_badge, pen
from widgets.canvas.geometry import Rect
from widgets.canvas.lettering import write, write_centred
from widgets.canvas.step import Step
from widgets.canvas.view import Rest
from widgets.i18n import tr
from widgets.theme import qcolour


class FrameItem(BoxItem):
    def __init__(self, item_id: str, look: Look, token: str, gap: float, dashed: bool = False) -> None:
        super().__init__(item_id, look, z=6.0)
        self.token, self.gap = token, gap
        self.line = Qt.PenStyle.DashLine if dashed else Qt.PenStyle.SolidLine
        self.setCacheMode(self.CacheMode.NoCache)
        self.hide()

    def surround(self, where: Rect | None) -> None:
        self.setVisible(where is not None)
        if where is not None:
            self.place(where.grown(self.gap + 1))

    def draw(self, painter: QPainter, exposed: QRectF) -> None:
        width = 2.0 / max(0.4, min(1.0, self.look.scale))
        painter.setPen(pen(self.look.theme.colour(self.token), width, self.line))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        radius = RADIUS + self.gap
        painter.drawRoundedRect(self.rect().adjusted(width / 2, width / 2, -width / 2, -width / 2), radius, radius)


class ChipItem(BoxItem):
    WIDTH, HEIGHT = 34.0, 20.0

    def __init__(self, partition: int, hue: int, look: Look) -> None:
        super().__init__(f"chip:{partition}", look, z=5.0)
        self.partition, self.hue = partition, hue
        self.resize_to(self.WIDTH, self.HEIGHT)

    def draw(self, painter: QPainter, exposed: QRectF) -> None:
        theme = self.look.theme
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(qcolour(theme.surface))
        painter.drawRoundedRect(self.rect(), 6, 6)
        where = self.rect().adjusted(1.5, 1.5, -1.5, -1.5)
        draw_badge(painter, where, theme.owner(self.hue), f"P{self.partition}", True)


class SpotItem(BoxItem):
    WIDTH, HEIGHT = 236.0, 102.0

    def __init__(self, look: Look) -> None:
        super().__init__("spot", look, z=4.0)
        self.resize_to(self.WIDTH, self.HEIGHT)
        self.hide()

    def draw(self, painter: QPainter, exposed: QRectF) -> None:
        theme = self.look.theme
        painter.setPen(pen(theme.accent, 2, Qt.PenStyle.DashLine))
        painter.setBrush(qcolour(theme.accent_soft))
        painter.drawRoundedRect(self.rect().adjusted(1, 1, -1, -1), RADIUS, RADIUS)
        where = QRectF(8, 8, self.WIDTH - 16, 28)
        write_centred(painter, where, tr("New group"), self.look.face("name"), theme.accent)


class RestItem(FactsItem[Rest]):
    """A dashed box with a count and where the others are."""

    def draw(self, painter: QPainter, exposed: QRectF) -> None:
        theme, width = self.look.theme, self.rect().width() - 24
        self.draw_frame(painter, theme.sunken, theme.border_strong, dashed=True)
        near = self.look.step is Step.NEAR
        write(painter, 12, 22 if near else 33, self.facts.text, self.look.face("name"), theme.text, width)
        if near:
            write(painter, 12, 38, self.facts.hint, self.look.face("small"), theme.muted, width)

    def sentence(self) -> str:
        """As in "9,968 more topics. The filter of the navigator finds them."."""
        return f"{self.facts.text}. {self.facts.hint}"
