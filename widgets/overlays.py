"""Overlays of the window that let every click through: its border in the past, and a ring around a place."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QRect, QRectF, Qt, QTimer
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QRegion
from PySide6.QtWidgets import QWidget

from widgets.theme import current_theme, qcolour

FRAME_WIDTH = 3
_VEIL = 150  # of 255
_COLOURS = {"attached": "accent", "branch": "branch", "replay": "replay", "live": "window"}


class _Overlay(QWidget):
    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def border(self, width: int) -> QRegion:
        return QRegion(self.rect()).subtracted(QRegion(self.rect().adjusted(width, width, -width, -width)))


class FrameTint(_Overlay):
    """Lies over `around` and lets everything through but its own border.

    `mode` is live (none), attached, replay or branch. While what is shown is `stale`, all of it is veiled.
    """

    def __init__(self, window: QWidget, around: QWidget) -> None:
        """`around` is a child of `window`."""
        super().__init__(window)
        self._around = around
        self.mode, self.stale = "live", False
        around.installEventFilter(self)

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
        # Only the border is its own: what changes inside must not paint it anew. What is stale does not change.
        self.setMask(QRegion(self.rect()) if self.stale else self.border(FRAME_WIDTH))

    def paintEvent(self, _event: QPaintEvent) -> None:
        theme = current_theme()
        painter = QPainter(self)
        if self.stale:
            painter.fillRect(self.rect(), qcolour(theme.window, _VEIL))
            painter.setClipRegion(self.border(FRAME_WIDTH))
        painter.fillRect(self.rect(), qcolour(getattr(theme, _COLOURS[self.mode])))
        painter.end()


RING_WIDTH = 3
RING_ROOM = 4 + RING_WIDTH  # on each side of what it is drawn around
FOLLOW_MS = 60
SHOWN_MS = 6_000

Place = Callable[[], QRect | None]


class Ring(_Overlay):
    """A ring that follows the place that it marks, and disappears after some seconds."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._place: Place = lambda: None
        self._follow = QTimer(self, interval=FOLLOW_MS)
        self._follow.timeout.connect(self._go)
        self._end = QTimer(self, singleShot=True, interval=SHOWN_MS)
        self._end.timeout.connect(self.clear)
        window.installEventFilter(self)

    def show_at(self, place: Place) -> bool:
        """Draw the ring around `place()`, which is asked again as the window changes; False if it is nowhere."""
        self._place = place
        found = self._go()
        if found:
            self._follow.start()
            self._end.start()
        return found

    def clear(self) -> None:
        self._follow.stop()
        self._end.stop()
        self.hide()

    def _go(self) -> bool:
        found = self._place()
        if found is None or found.isEmpty():
            self.clear()
            return False
        geometry = found.adjusted(-RING_ROOM, -RING_ROOM, RING_ROOM, RING_ROOM)
        if geometry != self.geometry() or self.isHidden():
            self.setGeometry(geometry)
            self.setMask(self.border(RING_ROOM))
            self.show()
            self.raise_()
        return True

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and not self.isHidden():
            self._go()
        return super().eventFilter(watched, event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """A line that stands out on every ground: the colour of links between two edges of the ground."""
        theme = current_theme()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ring = QRectF(self.rect()).adjusted(2, 2, -2, -2)
        painter.setPen(QPen(qcolour(theme.window), RING_WIDTH + 2))
        painter.drawRoundedRect(ring, 7, 7)
        painter.setPen(QPen(qcolour(theme.accent), RING_WIDTH))
        painter.drawRoundedRect(ring, 7, 7)
        painter.end()
