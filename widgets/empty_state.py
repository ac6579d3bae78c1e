from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QWidget

from widgets.boxes import vbox
from widgets.controls import plain_label, push_button
from widgets.icons import icon_pixmap
from widgets.theme import current_theme, follow_theme


class EmptyState(QWidget):
    """An icon, a sentence that says what would be here, and one that says how to make it happen."""

    def __init__(self, icon_name: str, sentence: str, how: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._icon_name = icon_name
        self._icon = QLabel(self, alignment=Qt.AlignmentFlag.AlignHCenter)
        self._sentence = plain_label(sentence, "heading", self)
        self._how = plain_label(how, "muted", self)
        self.offer = push_button("", self, by_tab=True, hidden=True)
        column = vbox(1, on=self, margins=(24, 8, 24, 8), spacing=6)
        for label in (self._icon, self._sentence, self._how):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            label.setWordWrap(True)
            column.addWidget(label)
        column.addWidget(self.offer, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(2)
        follow_theme(self._restyle)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show the icon and the hint how to begin only if there is room; the sentence stays."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        width = self.width()
        left = self.height() - self.height_at_least(width) - self._height(self._how, width)
        self._how.setVisible(left >= 0)
        self._icon.setVisible(left >= self._icon.sizeHint().height() + 6)

    def height_at_least(self, width: int) -> int:
        """In pixels, of the sentence and the button at that width."""
        button = 0 if self.offer.isHidden() else self.offer.sizeHint().height() + 6
        return 16 + self._height(self._sentence, width) + button

    @staticmethod
    def _height(label: QLabel, width: int) -> int:
        return label.heightForWidth(width - 48) + 6

    def set_texts(self, sentence: str, how: str, offer: str = "") -> None:
        """Other sentences, and the words on a button that does something about it; "" for none."""
        self._sentence.setText(sentence)
        self._how.setText(how)
        self.offer.setText(offer)
        self.offer.setVisible(bool(offer))
        self._fit()

    def text(self) -> str:
        return f"{self._sentence.text()} {self._how.text()}".strip()

    def _restyle(self) -> None:
        self._icon.setPixmap(icon_pixmap(self._icon_name, current_theme().disabled, 28, self.devicePixelRatioF()))
