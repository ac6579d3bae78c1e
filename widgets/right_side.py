"""The right side of the window: the lesson, where the scenario has one, above inspector and rebalances."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QSplitter, QWidget

from widgets.panels.lesson import LessonPanel

# The lesson takes what it needs of the height, but leaves this part to what is below it, where it has as many pixels.
LEFT_TO_THE_REST = 0.42
LEAST_FOR_THE_LESSON = 280
LEAST_FOR_THE_REST = 40  # the title of the inspector; all else is cut off
LEAST_HEIGHT_BELOW = 200  # with less, its parts squeeze each other


class RightSide(QWidget):
    """Gives the lesson the height that its steps need now, and `below` all else.

    It places both itself: a layout would keep for the lesson the height that all of its wrapped texts ask for.
    """

    def __init__(self, lesson: LessonPanel, below: QSplitter, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._lesson, self._below = lesson, below
        self._line = QFrame(self)
        self._line.setProperty("role", "line")
        for part in (lesson, below):
            part.setParent(self)
        lesson.heightChanged.connect(self._fit)
        lesson.hide()

    def show_lesson(self, shown: bool) -> None:
        """Show the lesson, or leave its room to what is below."""
        if shown == self._lesson.isHidden():
            self._lesson.setVisible(shown)
            self._fit()

    def minimumSizeHint(self) -> QSize:
        """Texts wrap and scroll: they ask for little."""
        return QSize(240, 160)

    def sizeHint(self) -> QSize:
        """As much as both would like in width."""
        return self._below.sizeHint().expandedTo(self.minimumSizeHint())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width wraps texts anew."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        width, height = self.width(), self.height()
        taken = 0
        if not self._lesson.isHidden():
            least = min(LEAST_FOR_THE_LESSON, height - LEAST_FOR_THE_REST)
            most = max(least, round(height * (1 - LEFT_TO_THE_REST)))
            taken = min(self._lesson.wanted_height(width), most)
            self._lesson.setGeometry(0, 0, width, taken)
            self._line.setGeometry(0, taken, width, 1)
            taken += 1
        self._line.setVisible(taken > 0)
        self._below.setGeometry(0, taken, width, max(height - taken, LEAST_HEIGHT_BELOW if taken else 0))
