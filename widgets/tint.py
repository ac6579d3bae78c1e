"""A coloured frame around the window's content while it shows the past or a branch."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRect, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QRegion
from PySide6.QtWidgets import QWidget

from widgets.theme import current_theme, qcolour

FRAME_WIDTH = 3


class FrameTint(QWidget):
    """Lies over `around` and lets everything through but its own border. `mode` is live (none), replay or branch."""

    def __init__(self, window: QWidget, around: QWidget) -> None:
        """`around` is a child of `window`."""
        super().__init__(window)
        self._around = around
        self.mode = "live"
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        around.installEventFilter(self)
        self.hide()

    def set_mode(self, mode: str) -> None:
        if mode != self.mode:
            self.mode = mode
            self._fit()
            self.setVisible(mode != "live")
            self.raise_()
            self.update()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in {QEvent.Type.Resize, QEvent.Type.Move}:
            self._fit()
        return super().eventFilter(watched, event)

    def _fit(self) -> None:
        self.setGeometry(self._around.geometry())
        whole = self.rect()
        inner = QRect(whole).adjusted(FRAME_WIDTH, FRAME_WIDTH, -FRAME_WIDTH, -FRAME_WIDTH)
        # Only the border is its own: what changes inside must not paint it anew.
        self.setMask(QRegion(whole).subtracted(QRegion(inner)))

    def paintEvent(self, _event: QPaintEvent) -> None:
        theme = current_theme()
        painter = QPainter(self)
        painter.fillRect(self.rect(), qcolour(theme.branch if self.mode == "branch" else theme.replay))
        painter.end()
