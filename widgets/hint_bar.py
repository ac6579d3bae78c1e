"""A line above the canvas that offers one thing: a first hint, or a session that was not closed."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QWidget

from widgets.bytes_text import contained
from widgets.facts import plain_label
from widgets.i18n import tr


class HintBar(QFrame):
    """One sentence, an optional offer, and a close button. Offers queue.

    `answered` when one of its buttons was pressed, before the offer runs.
    """

    answered = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "banner")
        self._waiting: list[tuple[str, str, Callable[[], object], Callable[[], object]]] = []
        self.sentence = plain_label("", "", self)
        self.sentence.setWordWrap(True)
        self.offer = QPushButton(self)
        self.offer.clicked.connect(self._take)
        self.dismiss = QPushButton(tr("Dismiss"), self)
        self.dismiss.clicked.connect(self._send_away)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 4, 8, 4)
        row.setSpacing(8)
        row.addWidget(self.sentence, 1)
        row.addWidget(self.offer)
        row.addWidget(self.dismiss)
        self.hide()

    def show_message(
        self,
        sentence: str,
        offer: str = "",
        taken: Callable[[], object] = lambda: None,
        dismissed: Callable[[], object] = lambda: None,
    ) -> None:
        """Show a sentence, after those that are waiting; `offer` are the words of the button that calls `taken`."""
        self._waiting.append((sentence, offer, taken, dismissed))
        if len(self._waiting) == 1:
            self._show()

    def take_back(self, sentence: str) -> None:
        """It need not be said any more, shown or waiting; nothing where it is neither."""
        self._waiting = [said for said in self._waiting if said[0] != sentence]
        self._show()

    def clear(self) -> None:
        """Another session: what was offered for the last one is past."""
        self._waiting.clear()
        self._show()

    def _show(self) -> None:
        self.setVisible(bool(self._waiting))
        if self._waiting:
            sentence, offer, _taken, _dismissed = self._waiting[0]
            self.sentence.setText(contained(sentence))
            self.offer.setText(offer)
            self.offer.setVisible(bool(offer))

    def _take(self) -> None:
        _sentence, _offer, taken, _dismissed = self._waiting.pop(0)
        self._show()
        self.answered.emit()
        taken()

    def _send_away(self) -> None:
        _sentence, _offer, _taken, dismissed = self._waiting.pop(0)
        self._show()
        self.answered.emit()
        dismissed()
