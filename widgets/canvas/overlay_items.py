from __future__ import annotations

from math import ceil

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter

from widgets.canvas.box_item import RADIUS, BoxItem, FactsItem, Look, draw_badge, pen
from widgets.canvas.geometry import Rect
from widgets.canvas.layout import MAP_HEAD_H, PAD, map_cells
from widgets.canvas.lettering import Step, write, write_centred
from widgets.canvas.view import Rest, RestCell
from widgets.formats import count
from widgets.i18n import mark, tr
from widgets.theme import mix, qcolour, state_style


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

    def __init__(self, partition: int, hue: int, look: Look, start: QPointF, end: QPointF) -> None:
        super().__init__(f"chip:{partition}", look, z=5.0)
        self.partition, self.hue, self.start, self.end = partition, hue, start, end
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
    def draw(self, painter: QPainter, exposed: QRectF) -> None:
        theme, width = self.look.theme, self.rect().width() - 2 * PAD
        self.draw_frame(painter, theme.sunken, theme.border_strong, dashed=True)
        if self.facts.cells:
            self._draw_map(painter)
        near = self.look.step is Step.NEAR or bool(self.facts.cells)
        write(painter, PAD, 22 if near else 33, self.facts.text, self.look.face("name"), theme.text, width)
        if near:
            y = 38 if self.look.step is Step.NEAR else 48
            write(painter, PAD, y, self.facts.hint, self.look.face("small"), theme.muted, width)

    def _draw_map(self, painter: QPainter) -> None:
        """A cell a topic: its colour is lag; the higher it is filled from below, the worse its replication is."""
        theme, cells = self.look.theme, self.facts.cells
        columns, pitch = map_cells(len(cells))
        size, most = pitch - (2 if pitch > 8 else 1), max(cell.lag or 0 for cell in cells)
        grounds: dict[str, list[QRectF]] = {}  # by colour: each is drawn in one go
        marks: dict[str, list[QRectF]] = {}
        for at, cell in enumerate(cells):
            row, column = divmod(at, columns)
            x, y = PAD + column * pitch, MAP_HEAD_H + row * pitch
            share = ceil(8 * (cell.lag / most) ** 0.5) / 8 if cell.lag else 0.0
            grounds.setdefault(mix(theme.lane, theme.lag_fill, share), []).append(QRectF(x, y, size, size))
            if cell.state:
                height, inner = max(2.0, cell.mark * size), size / 3
                colour = theme.colour(state_style(cell.state).token)
                marks.setdefault(colour, []).append(QRectF(x, y + size - height, size, height))
                if cell.mark == 1:
                    marks.setdefault(theme.surface, []).append(QRectF(x + inner, y + inner, inner, inner))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(Qt.PenStyle.NoPen)
        for colour, those in (*grounds.items(), *marks.items()):
            painter.setBrush(qcolour(colour))
            painter.drawRects(those)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)

    def cell_at(self, x: float, y: float) -> RestCell | None:
        columns, pitch = map_cells(len(self.facts.cells))
        column, row = int((x - PAD) // pitch), int((y - MAP_HEAD_H) // pitch)
        at = row * columns + column
        return self.facts.cells[at] if 0 <= column < columns and row >= 0 and at < len(self.facts.cells) else None

    def tool_tip(self, x: float, y: float) -> str:
        cell = self.cell_at(x, y)
        if cell is None:
            return self.sentence()
        state = [state_style(cell.state).word] if cell.state else []
        return "\n".join([cell.name, tr("lag {lag}", lag=count(cell.lag)), *state])

    def sentence(self) -> str:
        told = ". ".join(part for part in (self.facts.text, self.facts.hint) if part)
        return f"{told}. {tr(_CELLS)}" if self.facts.cells else told


_CELLS = mark("A cell is a topic: its colour is lag; the higher it is filled, the worse its replication is.")
