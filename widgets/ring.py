from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QMargins, QObject, QRect, QRectF, Qt, QTimer
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QRegion
from PySide6.QtWidgets import QWidget

from widgets.theme import current_theme, qcolour

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
