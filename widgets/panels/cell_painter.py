from __future__ import annotations

from html import escape
from typing import NamedTuple

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QHelpEvent, QPainter, QPen
from PySide6.QtWidgets import QAbstractItemView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QToolTip

from widgets.icons import icon_pixmap
from widgets.roles import Role
from widgets.theme import Theme, current_theme, follow_theme, ink_on, mix, mono_font, px, qcolour, state_style, ui_font

BAR_HEIGHT = 16
LETTER_PAD = 3


class OwnedTime(NamedTuple):
    """`start` and `end` are shares, 0..1, of the time that the bar stands for; `hue` and `letter` are the owner's."""

    start: float
    end: float
    hue: int
    letter: str


PAD = 8
ROW_HEIGHT = 26
_CENTRE = Qt.AlignmentFlag.AlignVCenter
_LEFT = int(Qt.AlignmentFlag.AlignLeft | _CENTRE)
_RIGHT = int(Qt.AlignmentFlag.AlignRight | _CENTRE)
Index = QModelIndex | QPersistentModelIndex


def tabular_font(pixels: int = 13, weight: QFont.Weight = QFont.Weight.Normal) -> QFont:
    """The face of the window with figures of one width, so that columns of numbers line up."""
    return ui_font(pixels, weight, tabular=True)


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
    painter.drawText(where, int(side | _CENTRE), cut)
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


class CellDelegate(QStyledItemDelegate):
    """Draws text; base of the others. It paints everything itself, for the style sheet's way is slow."""

    disabled_opacity = 0.45  # what it stands for is no more

    def __init__(
        self,
        view: QAbstractItemView,
        *,
        mono: bool = False,
        tabular: bool = False,
        elide: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
    ) -> None:
        super().__init__(view)
        self._elide = elide
        self._mono, self._tabular = mono, tabular
        follow_theme(self._restyle)
        self._flags = _RIGHT if tabular else _LEFT

    def _restyle(self) -> None:
        self._font = mono_font() if self._mono else tabular_font() if self._tabular else ui_font()
        self._metrics = QFontMetricsF(self._font)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme = current_theme()
        painter.save()
        if not option.state & QStyle.StateFlag.State_Enabled:
            painter.setOpacity(self.disabled_opacity)
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        if selected:
            painter.fillRect(option.rect, qcolour(theme.accent_soft))
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(option.rect, qcolour(theme.hover))
        self.draw(painter, option.rect, index, theme)
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QPen(qcolour(theme.focus), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(option.rect.adjusted(0, 0, -1, -1))
        painter.restore()

    def draw(self, painter: QPainter, rect: QRect, index: Index, theme: Theme) -> None:
        warn = index.data(Role.WARN)
        self.text(
            painter, rect.adjusted(PAD, 0, -PAD, 0), str(index.data() or ""), theme.colour(warn) if warn else theme.text
        )

    def text(self, painter: QPainter, rect: QRect | QRectF, text: str, colour: str, flags: int | None = None) -> None:
        painter.setFont(self._font)
        painter.setPen(qcolour(colour))
        painter.drawText(rect, self._flags if flags is None else flags, self.cut(text, rect.width()))

    def cut(self, text: str, width: float) -> str:
        return self._metrics.elidedText(text, self._elide, width)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(round(self._metrics.horizontalAdvance(str(index.data() or ""))) + 2 * PAD + 2, px(ROW_HEIGHT))

    def helpEvent(self, event: QHelpEvent, view: QAbstractItemView, option: QStyleOptionViewItem, index: Index) -> bool:
        """The tool tip of the model, or the whole text if it is cut; always as plain text."""
        tip = str(index.data(Role.TOOLTIP) or "")
        if not tip and self.sizeHint(option, index).width() > option.rect.width():
            tip = str(index.data() or "")
        QToolTip.showText(event.globalPos(), as_plain(tip), view)
        return True


class ChipDelegate(CellDelegate):
    def draw(self, painter: QPainter, rect: QRect, index: Index, theme: Theme) -> None:
        hue, letter = index.data(Role.HUE), index.data(Role.BADGE)
        inner = QRectF(rect).adjusted(PAD, 0, -PAD, 0)
        if hue is None or letter is None:
            self.text(painter, inner, str(index.data() or ""), theme.muted)
            return
        width, height = px(18 if len(letter) < 2 else 24), px(18)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        draw_badge(painter, QRectF(inner.x(), inner.center().y() - height / 2, width, height), hue, letter, theme)
        self.text(painter, inner.adjusted(width + 7, 0, 0, 0), str(index.data() or ""), theme.text)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return super().sizeHint(option, index) + QSize(px(25) + 7, 0)


class StateDelegate(CellDelegate):
    def draw(self, painter: QPainter, rect: QRect, index: Index, theme: Theme) -> None:
        word = index.data(Role.STATE)
        inner = QRectF(rect).adjusted(PAD, 0, -PAD, 0)
        if not word:
            self.text(painter, inner, str(index.data() or ""), theme.muted)
            return
        style = state_style(word)
        colour = theme.colour(style.token)
        size = px(16)
        sign = icon_pixmap(style.icon, colour, size, painter.device().devicePixelRatioF())
        painter.drawPixmap(QPointF(inner.x(), round(inner.center().y() - size / 2)), sign)
        self.text(painter, inner.adjusted(size + 6, 0, 0, 0), style.word, colour)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return super().sizeHint(option, index) + QSize(px(16) + 8, 0)


class CountdownDelegate(CellDelegate):
    """Time left: a bar that runs empty, and the seconds; amber below a third, red below a tenth."""

    def __init__(self, view: QAbstractItemView) -> None:
        super().__init__(view, tabular=True)

    def draw(self, painter: QPainter, rect: QRect, index: Index, theme: Theme) -> None:
        left = index.data(Role.COUNTDOWN)
        inner = QRectF(rect).adjusted(PAD, 0, -PAD, 0)
        if left is None:
            self.text(painter, inner, str(index.data() or ""), theme.muted, _RIGHT)
            return
        share = float(left)
        token = "failure" if share < 0.1 else "rebalancing" if share < 0.34 else "active"
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        draw_bar(
            painter, QRectF(inner.x(), inner.center().y() - 3, inner.width() - 48, 6), share, theme.colour(token), theme
        )
        colour = theme.text if token == "active" else theme.colour(token)
        self.text(painter, inner, str(index.data() or ""), colour, _RIGHT)


def as_plain(text: str) -> str:
    """Text for a tool tip: Qt would read markup in it, so it is escaped where there could be any."""
    if "<" not in text and "&" not in text:
        return text
    return f"<span style='white-space: pre-wrap'>{escape(text, quote=False)}</span>"


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
