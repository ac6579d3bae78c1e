"""The next step of the lesson in a line above the canvas, while the lesson itself cannot be seen."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QWidget

from widgets.bytes_text import contained
from widgets.facts import plain_label
from widgets.i18n import tr
from widgets.icons import icon_pixmap
from widgets.panels.lesson import LessonFacts
from widgets.theme import current_theme, px


class NextStep(QFrame):
    """What is to be done next, or the question at the end. `pointWanted(number)`, `lessonWanted()` by its buttons."""

    pointWanted = Signal(int)
    lessonWanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "banner")
        self._number = -1
        self._icon = QLabel(self)
        self.count = plain_label("", "muted", self)
        self.text = plain_label("", "", self)
        self.text.setWordWrap(True)
        self.point = QPushButton(tr("Show me where"), self)
        self.point.clicked.connect(lambda: self.pointWanted.emit(self._number))
        self.open = QPushButton(tr("Show the lesson"), self)
        self.open.clicked.connect(self.lessonWanted)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 2, 8, 2)
        row.setSpacing(8)
        for part, stretch in ((self._icon, 0), (self.text, 1), (self.count, 0), (self.point, 0), (self.open, 0)):
            row.addWidget(part, stretch)
        self._restyle()
        self.hide()

    def set_facts(self, facts: LessonFacts | None) -> None:
        """Show what comes next of a lesson; hidden where there is nothing, or None."""
        number = -1 if facts is None else next((at for at, step in enumerate(facts.steps) if step.current), -1)
        step = facts.steps[number] if facts is not None and number >= 0 else None
        text = step.text if step is not None else facts.question if facts is not None and facts.complete else ""
        self._number = number
        self.text.setText(contained(text))
        self.point.setVisible(step is not None and step.can_point)
        if facts is not None:
            self.count.setText(tr("{done} of {count}", done=facts.done, count=len(facts.steps)))
        self.setVisible(bool(text))

    def _restyle(self) -> None:
        pixmap = icon_pixmap("chevron-right", current_theme().accent, px(16), self.devicePixelRatioF())
        self._icon.setPixmap(pixmap)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange and hasattr(self, "open"):
            self._restyle()
