from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QHelpEvent, QPainter, QPen
from PySide6.QtWidgets import QAbstractItemView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QToolTip

from widgets.bytes_text import as_plain
from widgets.roles import Role
from widgets.theme import Theme, current_theme, follow_theme, mono_font, px, qcolour, tabular_font, ui_font

PAD = 8
ROW_HEIGHT = 26
LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
Index = QModelIndex | QPersistentModelIndex


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
        self._flags = RIGHT if tabular else LEFT

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
