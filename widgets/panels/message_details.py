"""One message in full: payload, headers, facts, and what can be done with it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtWidgets import QFrame, QScrollArea, QToolButton, QVBoxLayout, QWidget

from widgets.facts import Fact, FactsGrid, plain_label
from widgets.i18n import tr
from widgets.icons import icon
from widgets.panels.payload import PayloadView
from widgets.theme import current_theme


class MessageDetails(QWidget):
    """`lifeWanted`, `copyWanted` (as JSON) and `againWanted` (produce it again) of the message that is shown."""

    lifeWanted = Signal()
    copyWanted = Signal()
    againWanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMinimumWidth(250)
        self.facts = FactsGrid()
        self.headers_title = plain_label(tr("Headers"), "section")
        self.headers = FactsGrid()
        upper = QWidget()
        column = QVBoxLayout(upper)
        column.setContentsMargins(2, 0, 8, 4)
        column.addWidget(self.facts)
        column.addWidget(self.headers_title)
        column.addWidget(self.headers)
        column.addStretch(1)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(upper)
        self.payload = PayloadView()
        self.payload.add_page(tr("Facts"), area)
        self.payload.copy.hide()
        self.life = self._tool("message", tr("Its whole life, in the inspector (Ctrl+L)"), self.lifeWanted)
        self.copy = self._tool("copy", tr("Copy the message as JSON (Ctrl+Shift+C)"), self.copyWanted)
        self.again = self._tool("redo", tr("Produce it again..."), self.againWanted)
        self._hint = plain_label("", "hint", self)
        self._hint.setWordWrap(True)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(8, 2, 8, 4)
        whole.addWidget(self._hint)
        whole.addWidget(self.payload, 1)
        self.restyle()
        self.set_nothing(tr("Select a message to read it here."))

    def _tool(self, icon_name: str, hint: str, wanted: object) -> QToolButton:
        button = QToolButton(self)
        button.setProperty("icon_name", icon_name)
        button.setAutoRaise(True)
        button.setToolTip(hint)
        button.setAccessibleName(hint)
        button.clicked.connect(wanted)
        self.payload.tools.addWidget(button)
        return button

    def restyle(self) -> None:
        for button in (self.life, self.copy, self.again):
            button.setIcon(icon(str(button.property("icon_name")), current_theme()))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange and hasattr(self, "again"):
            self.restyle()

    def set_nothing(self, sentence: str) -> None:
        self._hint.setText(sentence)
        self._hint.show()
        self.payload.hide()

    def set_message(self, facts: Sequence[Fact], headers: Sequence[tuple[str, str]], payload: bytes | None) -> None:
        self._hint.hide()
        self.payload.show()
        self.facts.set_facts(facts)
        self.headers_title.setVisible(bool(headers))
        self.headers.set_facts(headers)
        self.payload.set_data(payload)
