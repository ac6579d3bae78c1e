"""The banner above the canvas that says what is to be done next in a lesson."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QLabel, QWidget

from widgets.boxes import hbox
from widgets.bytes_text import contained
from widgets.controls import plain_label, push_button
from widgets.i18n import tr
from widgets.icons import icon_pixmap
from widgets.panels.lesson import LessonFacts, offer_step
from widgets.theme import current_theme, follow_theme, px


class NextStep(QFrame):
    """The next step, or the question at the end. Its buttons emit `stepPressed(number)` and `lessonWanted()`."""

    stepPressed = Signal(int)
    lessonWanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "banner")
        self._number = -1
        self._icon = QLabel(self)
        self.count = plain_label("", "muted", self)
        self.text = plain_label("", "", self, wrap=True)
        self.point = push_button(tr("Show me where"), self, pressed=lambda: self.stepPressed.emit(self._number))
        self.open = push_button(tr("Show the lesson"), self, pressed=self.lessonWanted)
        parts = (self._icon, (self.text, 1), self.count, self.point, self.open)
        hbox(*parts, on=self, margins=(12, 2, 8, 2), spacing=8)
        follow_theme(self._restyle)
        self.hide()

    def set_facts(self, facts: LessonFacts | None) -> None:
        number = -1 if facts is None else next((at for at, step in enumerate(facts.steps) if step.current), -1)
        step = facts.steps[number] if facts is not None and number >= 0 else None
        text = facts.question if facts is not None and facts.complete else ""
        if step is not None:
            text = step.cannot or step.text
        self._number = number
        self.text.setText(contained(text))
        offer_step(self.point, step)
        if facts is not None:
            self.count.setText(tr("{done} of {count}", done=facts.done, count=len(facts.steps)))
        self.setVisible(bool(text))

    def _restyle(self) -> None:
        pixmap = icon_pixmap("chevron-right", current_theme().accent, px(16), self.devicePixelRatioF())
        self._icon.setPixmap(pixmap)
