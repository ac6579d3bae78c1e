from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QWidget

from widgets.boxes import scrolled, vbox
from widgets.bytes_text import contained
from widgets.controls import plain_label
from widgets.facts import Section, SectionsView
from widgets.i18n import tr
from widgets.panels.payload import PayloadView


class MessageDetails(QWidget):
    """The payload of a message, and a page of what else is known of it; `nothing` is said where none is shown."""

    def __init__(self, nothing: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMinimumWidth(250)
        page = QWidget()
        self.title = plain_label("", "heading", page, wrap=True, selectable=True)
        self.sections = SectionsView(page)
        vbox(self.title, self.sections, 1, on=page, margins=(2, 0, 8, 4))
        self.payload = PayloadView()
        self.payload.add_page(tr("Facts"), scrolled(page))
        self.payload.copy.hide()
        self._hint = plain_label("", "hint", self, wrap=True)
        vbox(self._hint, (self.payload, 1), on=self, margins=(8, 2, 8, 4))
        self.set_nothing(nothing)

    def set_nothing(self, sentence: str) -> None:
        self._hint.setText(sentence)
        self._hint.show()
        self.payload.hide()

    def set_message(self, sections: Sequence[Section], payload: bytes | None, title: str = "") -> None:
        """Sections without facts are left out."""
        self._hint.hide()
        self.payload.show()
        self.title.setText(contained(title))
        self.title.setVisible(bool(title))
        self.sections.set_sections([section for section in sections if section[1]])
        self.payload.set_data(payload)
