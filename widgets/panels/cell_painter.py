"""Delegates of columns whose cells are more than text."""

from __future__ import annotations

from typing import Any, NamedTuple

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter
from PySide6.QtWidgets import QAbstractItemView, QStyleOptionViewItem

from widgets.cells import PAD, CellDelegate, Index
from widgets.drawing import draw_badge, draw_bar
from widgets.icons import icon_pixmap
from widgets.roles import Role
from widgets.theme import Theme, ink_on, px, qcolour, state_style, ui_font

BAR_HEIGHT = 16
LETTER_PAD = 3


class OwnedTime(NamedTuple):
    """`start` and `end` are shares, 0..1, of the time that the bar stands for; `hue` and `letter` are the owner's."""

    start: float
    end: float
    hue: int
    letter: str


class MarkDelegate(CellDelegate):
    """A sign before the text, made of what the model has as `role`; the text is grey where it has nothing."""

    role: Role
    size = 0  # of the sign, in pixels of the design, with what is left free behind it

    def draw(self, painter: QPainter, rect: QRect, index: Index, theme: Theme) -> None:
        mark, inner = index.data(self.role), QRectF(rect).adjusted(PAD, 0, -PAD, 0)
        if mark is None or mark == "":
            self.text(painter, inner, str(index.data() or ""), theme.muted)
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.draw_marked(painter, inner, mark, index, theme)

    def draw_marked(self, painter: QPainter, inner: QRectF, mark: Any, index: Index, theme: Theme) -> None:
        """Draw the `mark` of a cell that has one."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return super().sizeHint(option, index) + QSize(px(self.size), 0)


class ChipDelegate(MarkDelegate):
    role = Role.HUE
    size = 32

    def draw_marked(self, painter: QPainter, inner: QRectF, mark: Any, index: Index, theme: Theme) -> None:
        letter = str(index.data(Role.BADGE) or "")
        width, height = px(18 if len(letter) < 2 else 24), px(18)
        draw_badge(painter, QRectF(inner.x(), inner.center().y() - height / 2, width, height), mark, letter, theme)
        self.text(painter, inner.adjusted(width + 7, 0, 0, 0), str(index.data() or ""), theme.text)


class StateDelegate(MarkDelegate):
    role = Role.STATE
    size = 24

    def draw_marked(self, painter: QPainter, inner: QRectF, mark: Any, index: Index, theme: Theme) -> None:
        style, size = state_style(mark), px(16)
        colour = theme.colour(style.token)
        sign = icon_pixmap(style.icon, colour, size, painter.device().devicePixelRatioF())
        painter.drawPixmap(QPointF(inner.x(), round(inner.center().y() - size / 2)), sign)
        self.text(painter, inner.adjusted(size + 6, 0, 0, 0), style.word, colour)


class CountdownDelegate(MarkDelegate):
    """Time left: a bar that runs empty, and the seconds; amber below a third, red below a tenth."""

    role = Role.COUNTDOWN

    def __init__(self, view: QAbstractItemView) -> None:
        super().__init__(view, tabular=True)

    def draw_marked(self, painter: QPainter, inner: QRectF, mark: Any, index: Index, theme: Theme) -> None:
        token = "failure" if mark < 0.1 else "rebalancing" if mark < 0.34 else "active"
        bar = QRectF(inner.x(), inner.center().y() - 3, inner.width() - 48, 6)
        draw_bar(painter, bar, mark, theme.colour(token), theme)
        self.text(painter, inner, str(index.data() or ""), theme.text if token == "active" else theme.colour(token))


class OwnerBarDelegate(CellDelegate):
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
