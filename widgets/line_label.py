from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from widgets.drawing import draw_text
from widgets.theme import current_theme, px, tabular_font


class LineLabel(QWidget):
    """One line of plain text, in the first of the sizes in which it fits, else cut. Whatever it says, it takes the room
    that there is, so that other figures need no other layout. Lengths are in pixels of the design.
    """

    def __init__(
        self,
        parent: QWidget | None = None,
        sizes: Sequence[int] = (12,),
        *,
        height: int = 17,
        weight: QFont.Weight = QFont.Weight.Normal,
        side: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft,
        elide: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
    ) -> None:
        super().__init__(parent)
        self.whole = self._token = ""
        self._sizes, self._height, self._weight, self._side, self._elide = sizes, height, weight, side, elide
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def set_text(self, text: str, token: str = "muted") -> None:
        """`token` is a colour of `Theme`."""
        if (text, token) != (self.whole, self._token):
            self.whole, self._token = text, token
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(0, px(self._height))

    def paintEvent(self, _event: QPaintEvent) -> None:
        if not self.whole:
            return
        painter, where = QPainter(self), QRectF(self.rect())
        fonts = [tabular_font(pixels, self._weight) for pixels in self._sizes]
        fit = (font for font in fonts if QFontMetricsF(font).horizontalAdvance(self.whole) <= where.width())
        font, colour = next(fit, fonts[-1]), current_theme().colour(self._token)
        draw_text(painter, where, self.whole, font, colour, self._side, self._elide)
        painter.end()
