"""Something on the screen while the rest of the program is loaded; it imports next to nothing itself."""

from __future__ import annotations

import sys

from PySide6.QtCore import QElapsedTimer, QEventLoop, QSize, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPixmap
from PySide6.QtWidgets import QApplication, QLabel, QWidget

from broker_core.version import program_version
from widgets.theme_palette import DARK, LIGHT

SIZE = QSize(420, 132)
PAINT_MS = 200


def show_opening() -> QLabel:
    """The program's name in a small window, painted when this returns; makes the application if there is none."""
    app = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(app, QApplication)
    theme = DARK if app.styleHints().colorScheme() is Qt.ColorScheme.Dark else LIGHT
    ratio = app.devicePixelRatio()
    picture = QPixmap(SIZE * ratio)
    picture.setDevicePixelRatio(ratio)
    picture.fill(QColor(theme.surface))
    painter = QPainter(picture)
    font = QFont()
    for size, weight, colour, top, text in (
        (26, QFont.Weight.DemiBold, theme.text, 30, "Brokerscope"),
        (13, QFont.Weight.Normal, theme.muted, 74, program_version()),
    ):
        font.setPixelSize(size)
        font.setWeight(weight)
        painter.setFont(font)
        painter.setPen(QColor(colour))
        painter.drawText(0, top, SIZE.width(), 36, int(Qt.AlignmentFlag.AlignCenter), text)
    painter.setPen(QColor(theme.border_strong))
    painter.drawRect(0, 0, SIZE.width() - 1, SIZE.height() - 1)
    painter.end()
    # No QSplashScreen: its show() takes a second where no window manager answers.
    opening = QLabel()
    opening.setWindowFlags(Qt.WindowType.SplashScreen | Qt.WindowType.FramelessWindowHint)
    opening.setPixmap(picture)
    opening.setFixedSize(SIZE)
    opening.move(app.primaryScreen().geometry().center() - opening.rect().center())
    opening.show()
    paint_first(opening, PAINT_MS)
    return opening


def paint_first(window: QWidget, most_ms: int) -> None:
    """Paint a window that was just shown, before anything that takes time: until then it is black on some screens."""
    waited = QElapsedTimer()
    waited.start()
    while not (window.windowHandle().isExposed() or waited.hasExpired(most_ms)):
        QApplication.processEvents(QEventLoop.ProcessEventsFlag.ExcludeUserInputEvents, most_ms)
    QApplication.processEvents(QEventLoop.ProcessEventsFlag.ExcludeUserInputEvents)
