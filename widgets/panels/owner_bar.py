"""Draws who owned a partition over time: a bar in the hues of its owners, with their letters where there is room."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter

from widgets.panels.cell_painter import PAD, CellDelegate, Index
from widgets.roles import Role
from widgets.theme import Theme, ink_on, px, qcolour, ui_font

BAR_HEIGHT = 16
LETTER_PAD = 3


class OwnedTime(NamedTuple):
    """`start` and `end` are shares, 0..1, of the time that the bar stands for; `hue` and `letter` are the owner's."""

    start: float
    end: float
    hue: int
    letter: str


class OwnerBarDelegate(CellDelegate):
    """The `OWNED_TIMES` of a cell, from left to right; where nobody owned it, the track is seen."""

    def draw(self, painter: QPainter, rect: QRect, index: Index, theme: Theme) -> None:
        height = px(BAR_HEIGHT)
        track = QRectF(rect.x() + PAD, rect.center().y() - height / 2, rect.width() - 2 * PAD, height)
        painter.fillRect(track, qcolour(theme.lane))
        font = ui_font(11, QFont.Weight.Bold)
        sizes = QFontMetricsF(font)
        painter.setFont(font)
        for time in index.data(Role.OWNED_TIMES) or ():
            fill = theme.owner(time.hue)
            left, right = track.x() + track.width() * time.start, track.x() + track.width() * time.end
            where = QRectF(left, track.y(), max(1.0, right - left - 1), height)  # a pixel between two of one hue
            painter.fillRect(where, qcolour(fill))
            if sizes.horizontalAdvance(time.letter) + 2 * LETTER_PAD <= where.width():
                painter.setPen(qcolour(ink_on(fill)))
                base = where.center().y() + sizes.capHeight() / 2
                painter.drawText(QPointF(where.x() + LETTER_PAD, base), time.letter)
        painter.setPen(Qt.PenStyle.NoPen)
