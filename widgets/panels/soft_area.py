from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QLinearGradient, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QFrame, QScrollArea, QWidget

from widgets.theme import current_theme, qcolour

FADE_PIXELS = 28


class _Fade(QWidget):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def paintEvent(self, _event: QPaintEvent) -> None:
        ground = current_theme().window
        gradient = QLinearGradient(0, 0, 0, self.height())
        gradient.setColorAt(0.0, qcolour(ground, 0))
        gradient.setColorAt(0.7, qcolour(ground))
        painter = QPainter(self)
        painter.fillRect(self.rect(), gradient)
        painter.end()


class SoftArea(QScrollArea):
    """Scrolls down only; its widget is as wide as it is. `fade` is shown while there is more below."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.fade = _Fade(self)
        bar = self.verticalScrollBar()
        bar.valueChanged.connect(lambda _value: self._place_fade())
        bar.rangeChanged.connect(lambda _least, _most: self._place_fade())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_fade()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Words that wrap anew need another height, which Qt asks for only when the area changes its own size."""
        if event.type() == QEvent.Type.LayoutRequest and watched is self.widget():
            QApplication.sendEvent(self, QEvent(QEvent.Type.LayoutRequest))
        return super().eventFilter(watched, event)

    def _place_fade(self) -> None:
        bar, seen = self.verticalScrollBar(), self.viewport().geometry()
        self.fade.setGeometry(seen.x(), seen.bottom() + 1 - FADE_PIXELS, seen.width(), FADE_PIXELS)
        self.fade.setVisible(bar.value() < bar.maximum())
        self.fade.raise_()
