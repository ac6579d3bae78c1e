from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter

from widgets.theme import Theme, ink_on, mix, qcolour, ui_font


def draw_text(
    painter: QPainter,
    where: QRectF,
    text: str,
    font: QFont,
    colour: str,
    side: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft,
    elide: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
) -> float:
    """Draw on one line in the middle of the height, cut if there is no room; the width that was used."""
    metrics = QFontMetricsF(font)
    cut = metrics.elidedText(text, elide, where.width())
    painter.setFont(font)
    painter.setPen(qcolour(colour))
    painter.drawText(where, int(side | Qt.AlignmentFlag.AlignVCenter), cut)
    return metrics.horizontalAdvance(cut)


def draw_badge(painter: QPainter, where: QRectF, hue: int, letter: str, theme: Theme) -> None:
    fill = theme.owner(hue)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(qcolour(fill))
    painter.drawRoundedRect(where, where.height() / 2, where.height() / 2)
    painter.setPen(qcolour(ink_on(fill)))
    painter.setFont(ui_font(10 if len(letter) < 2 else 8, QFont.Weight.Bold))
    painter.drawText(where, int(Qt.AlignmentFlag.AlignCenter), letter)


def draw_bar(painter: QPainter, where: QRectF, share: float, fill: str, theme: Theme) -> None:
    """A bar that is `share` (0..1) full."""
    radius = where.height() / 2
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(qcolour(mix(theme.surface, theme.text, 0.13)))
    painter.drawRoundedRect(where, radius, radius)
    width = where.width() * min(1.0, max(0.0, share))
    if width > 0.5:
        painter.setBrush(qcolour(fill))
        painter.drawRoundedRect(
            QRectF(where.x(), where.y(), max(width, where.height()), where.height()), radius, radius
        )
