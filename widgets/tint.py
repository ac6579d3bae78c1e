from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRect, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QRegion
from PySide6.QtWidgets import QWidget

from widgets.theme import current_theme, qcolour

FRAME_WIDTH = 3
_VEIL = 150  # of 255
_COLOURS = {"attached": "accent", "branch": "branch", "replay": "replay", "live": "window"}


class FrameTint(QWidget):
    """Lies over `around` and lets everything through but its own border.

    `mode` is live (none), attached, replay or branch. While what is shown is `stale`, all of it is veiled.
    """

    def __init__(self, window: QWidget, around: QWidget) -> None:
        """`around` is a child of `window`."""
        super().__init__(window)
        self._around = around
        self.mode, self.stale = "live", False
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        around.installEventFilter(self)
        self.hide()

    def set_mode(self, mode: str, *, stale: bool = False) -> None:
        if (mode, stale) != (self.mode, self.stale):
            self.mode, self.stale = mode, stale
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
        # Only the border is its own: what changes inside must not paint it anew. What is stale does not change.
        self.setMask(QRegion(whole) if self.stale else QRegion(whole).subtracted(QRegion(inner)))

    def paintEvent(self, _event: QPaintEvent) -> None:
        theme = current_theme()
        painter = QPainter(self)
        if self.stale:
            veil = qcolour(theme.window)
            veil.setAlpha(_VEIL)
            painter.fillRect(self.rect(), veil)
            border = QRegion(self.rect())
            inner = self.rect().adjusted(FRAME_WIDTH, FRAME_WIDTH, -FRAME_WIDTH, -FRAME_WIDTH)
            painter.setClipRegion(border.subtracted(QRegion(inner)))
        painter.fillRect(self.rect(), qcolour(getattr(theme, _COLOURS[self.mode])))
        painter.end()
