from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QBoxLayout, QSizePolicy, QWidget

from widgets.boxes import hbox
from widgets.fold_button import FoldButton
from widgets.i18n import tr
from widgets.icons import icon_pixmap
from widgets.theme import current_theme, px, qcolour, scale, ui_font

STRIP_WIDTH = 26
_NO_LIMIT = 16_777_215  # Qt's QWIDGETSIZE_MAX


class _Strip(QAbstractButton):
    def __init__(self, title: str, sign: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._title, self._sign = title, sign
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setAccessibleName(title)
        self.setToolTip(tr("Show: {title}", title=title))

    def sizeHint(self) -> QSize:
        return QSize(px(STRIP_WIDTH), 80)

    def paintEvent(self, _event: QPaintEvent) -> None:
        theme = current_theme()
        pixmap = icon_pixmap(self._sign, theme.muted, px(16), self.devicePixelRatioF())
        painter = QPainter(self)
        painter.fillRect(self.rect(), qcolour(theme.hover if self.underMouse() else theme.window))
        painter.drawPixmap(QPointF((self.width() - px(16)) / 2, px(8)), pixmap)
        painter.setPen(qcolour(theme.text))
        painter.setFont(ui_font(12, ui_font().weight().DemiBold))
        painter.translate(0, self.height())
        painter.rotate(-90)
        words = QRectF(px(8), 0, self.height() - px(8) - px(32), self.width())
        painter.drawText(words, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), self._title)
        painter.resetTransform()
        if self.hasFocus():
            painter.setPen(qcolour(theme.focus))
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        painter.end()


class SideDock(QWidget):
    """Holds `body`; `title_row` is where the body has its title, and gets the button that folds.

    `foldWanted(open)` when the strip or that button was pressed: whoever holds the dock gives it its room.
    """

    foldWanted = Signal(bool)

    def __init__(self, title: str, body: QWidget, title_row: QBoxLayout, *, left: bool, width: int) -> None:
        """`width` is how wide it opens at first, in pixels at the designed size of type."""
        super().__init__()
        inward, outward = ("chevron-left", "chevron-right") if left else ("chevron-right", "chevron-left")
        self.body = body
        self._width = float(width)  # at the designed size of type
        self.is_open = True
        self.strip = _Strip(title, outward, self)
        self.strip.clicked.connect(lambda: self.foldWanted.emit(True))
        self.strip.hide()
        self.button = FoldButton(inward, tr("Fold: {title}", title=title), self)
        self.button.clicked.connect(lambda: self.foldWanted.emit(False))
        title_row.addWidget(self.button)
        hbox(self.strip, (body, 1), on=self, margins=(0, 0, 0, 0), spacing=0)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)

    @property
    def open_width(self) -> int:
        """How wide it is in pixels, or will be once it opens."""
        # Larger type needs more, but leaves the canvas two thirds.
        wide = min(self._width * scale(), max(self._width, self.window().width() / 3))
        return max(round(wide), self.body.minimumWidth())

    @property
    def room(self) -> int:
        return self.open_width if self.is_open else px(STRIP_WIDTH)

    def set_open_width(self, width: int) -> None:
        self._width = width / scale()

    def note_width(self) -> None:
        """Open as wide as it is now the next time, too."""
        if self.is_open:
            self._width = self.width() / scale()

    def set_open(self, on: bool) -> None:
        self.is_open = on
        self.strip.setVisible(not on)
        self.body.setVisible(on)
        self._limit()

    def _limit(self) -> None:
        self.setMinimumWidth(self.body.minimumWidth() if self.is_open else px(STRIP_WIDTH))
        self.setMaximumWidth(_NO_LIMIT if self.is_open else px(STRIP_WIDTH))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange and hasattr(self, "strip"):
            self._limit()
