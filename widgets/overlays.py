"""What lies over the window and lets every click through: its border in the past, and a ring around a place."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QMargins, QObject, QRect, QRectF, Qt, QTimer
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QRegion
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


AROUND = 4
WIDTH = 3
FOLLOW_MS = 60
SHOWN_MS = 6_000

Place = Callable[[], QRect | None]


class Ring(QWidget):
    """Lies over the window and lets every click through. It follows what it shows, and goes after some seconds."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._place: Place = lambda: None
        self._follow = QTimer(self, interval=FOLLOW_MS)
        self._follow.timeout.connect(self._go)
        self._end = QTimer(self, singleShot=True, interval=SHOWN_MS)
        self._end.timeout.connect(self.clear)
        window.installEventFilter(self)
        self.hide()

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

    def _margins(self) -> QMargins:
        return QMargins(AROUND + WIDTH, AROUND + WIDTH, AROUND + WIDTH, AROUND + WIDTH)

    def _go(self) -> bool:
        found = self._place()
        if found is None or found.isEmpty():
            self.clear()
            return False
        geometry = found.marginsAdded(self._margins())
        if geometry != self.geometry() or self.isHidden():
            self.setGeometry(geometry)
            whole = self.rect()
            inner = whole.adjusted(AROUND + WIDTH, AROUND + WIDTH, -AROUND - WIDTH, -AROUND - WIDTH)
            # Only the ring is its own: what changes inside must not paint it anew.
            self.setMask(QRegion(whole).subtracted(QRegion(inner)))
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
        painter.setPen(QPen(qcolour(theme.window), WIDTH + 2))
        painter.drawRoundedRect(ring, 7, 7)
        painter.setPen(QPen(qcolour(theme.accent), WIDTH))
        painter.drawRoundedRect(ring, 7, 7)
        painter.end()
