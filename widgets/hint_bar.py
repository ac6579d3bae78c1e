from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QLabel, QWidget

from widgets.boxes import hbox
from widgets.bytes_text import contained
from widgets.controls import plain_label, polish_again, push_button, set_property
from widgets.i18n import tr
from widgets.icons import icon_pixmap
from widgets.theme import current_theme, follow_theme, px

# Look of a notice: its icon and its colour token.
LOOKS = {"hint": ("info", "accent"), "problem": ("warning", "failure")}


@dataclass(frozen=True, slots=True)
class Notice:
    """`heading` stands before the sentence, "" for none; `offer` are the words of the button that calls `taken`.

    `look` is hint, or problem for what should not be. One that is `pinned` comes before the others, and stays until it
    is taken back.
    """

    sentence: str
    offer: str = ""
    taken: Callable[[], object] = lambda: None
    dismissed: Callable[[], object] = lambda: None
    heading: str = ""
    look: str = "hint"
    pinned: bool = False


class HintBar(QFrame):
    """An icon, a heading, one sentence, an optional offer, and a close button. Notices queue.

    `answered` when one of its buttons was pressed, before the offer runs.
    """

    answered = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "banner")
        self._waiting: list[Notice] = []
        self._icon = QLabel(self)
        self.heading = plain_label("", "heading", self)
        self.sentence = plain_label("", "", self, wrap=True)
        self.offer = push_button("", self, pressed=lambda: self._answer(taken=True))
        self.dismiss = push_button(tr("Dismiss"), self, pressed=lambda: self._answer(taken=False))
        parts = (self._icon, self.heading, (self.sentence, 1), self.offer, self.dismiss)
        hbox(*parts, on=self, margins=(12, 4, 8, 4), spacing=8)
        self.hide()
        follow_theme(self._restyle)

    def show_notice(self, notice: Notice) -> None:
        self._waiting.insert(0 if notice.pinned else len(self._waiting), notice)
        if self._waiting[0] is notice:
            self._show()

    def take_back(self, sentence: str) -> bool:
        """Withdraw a sentence. False if it was neither shown nor waiting."""
        kept = [notice for notice in self._waiting if notice.sentence != sentence]
        found = len(kept) < len(self._waiting)
        self._waiting = kept
        self._show()
        return found

    def clear(self) -> None:
        self._waiting = [notice for notice in self._waiting if notice.pinned]
        self._show()

    def _show(self) -> None:
        self.setVisible(bool(self._waiting))
        if not self._waiting:
            return
        notice = self._waiting[0]
        self.heading.setText(contained(notice.heading))
        self.heading.setVisible(bool(notice.heading))
        self.sentence.setText(contained(notice.sentence))
        self.offer.setText(notice.offer)
        self.offer.setVisible(bool(notice.offer))
        self.dismiss.setVisible(not notice.pinned)
        if set_property(self, "look", notice.look):
            polish_again(self.heading)
        self._restyle()

    def _restyle(self) -> None:
        if not self._waiting:
            return
        name, token = LOOKS[self._waiting[0].look]
        self._icon.setPixmap(icon_pixmap(name, current_theme().colour(token), px(16), self.devicePixelRatioF()))

    def _answer(self, *, taken: bool) -> None:
        notice = self._waiting[0]
        if not notice.pinned:
            del self._waiting[0]
            self._show()
        self.answered.emit()
        (notice.taken if taken else notice.dismissed)()
