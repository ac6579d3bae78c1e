from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLabel, QWidget

from widgets.boxes import hbox, scrolled, vbox
from widgets.bytes_text import contained
from widgets.controls import plain_label, show_state
from widgets.facts import SectionsView, TitledFacts
from widgets.i18n import tr
from widgets.line_label import LineLabel
from widgets.panels.life_path import LifePath, LifeStep
from widgets.panels.panel import Panel, declared
from widgets.panels.payload import PayloadView
from widgets.theme import follow_theme

PAYLOAD_HEIGHT = 190
MOMENT = "at:"


@dataclass(frozen=True, slots=True)
class InspectorFacts:
    """The selected thing: its kind ("Consumer"), name, state word ("" for none), and sections of facts.

    A fact is (label, value) or (label, value, target); the target is the id of another thing, or `at:<time_ns>` for a
    moment. `note` says what is missing. A message has `steps`, and a `payload` where `has_payload`.
    """

    kind: str
    name: str
    state: str = ""
    sections: tuple[TitledFacts, ...] = ()
    note: str = ""
    steps: tuple[LifeStep, ...] = ()
    payload: bytes | None = None
    has_payload: bool = False


class InspectorPanel(Panel):
    """Facts of the selected thing; labels are kept, only their texts change.

    `followed(id)` and `momentChosen(time_ns)` for links.
    """

    info = declared("inspector")

    followed = Signal(str)
    momentChosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        self.facts: InspectorFacts | None = None
        super().__init__(parent)
        self._kind = LineLabel(self, (13,))  # it gives way to the arrows, which stay in its line
        self.title_row.replaceWidget(self.count_label, self._kind)
        self.title_row.setStretchFactor(self._kind, 100)
        self.count_label.hide()
        self._name = plain_label("", "title", self, wrap=True, selectable=True)
        self._icon = QLabel(self)
        self._state = plain_label("", "", self)
        self._note = plain_label("", "muted", self, fill=True)
        self.sections = SectionsView(self)
        self.sections.linkFollowed.connect(self._follow)
        self._life_title = plain_label(tr("History"), "section", self)
        self.life = LifePath(self)
        self.life.momentChosen.connect(self.momentChosen)
        self.life.linkFollowed.connect(self._follow)
        self._payload_title = plain_label(tr("Payload"), "section", self)
        self.payload = PayloadView(self)
        self.payload.setFixedHeight(PAYLOAD_HEIGHT)
        self._compose()
        follow_theme(self._show_state)

    def _compose(self) -> None:
        inner = QWidget(self)
        state_row = hbox(self._icon, (self._state, 1), spacing=6)
        # The history of a message comes before its other facts.
        head = (self._name, state_row, self._note, self._life_title, self.life)
        parts = (*head, self.sections, self._payload_title, self.payload, 1)
        vbox(*parts, on=inner, margins=(8, 0, 12, 12), spacing=6)
        self._area = scrolled(inner, self)
        self.stack.addWidget(self._area)

    def set_title_alone(self, on: bool) -> None:
        """Hide the arrows when the title needs all the room beside the button that opens the panel."""
        super().set_title_alone(on)
        for turn in self.tools.values():
            turn.setVisible(not on)

    def set_facts(self, facts: InspectorFacts | None) -> None:
        if facts == self.facts:
            return
        old, self.facts = self.facts, facts
        self.show_body(facts is not None)
        self._kind.set_text(facts.kind if facts is not None else "")
        if facts is None:
            return
        self._name.setText(contained(facts.name))
        self._note.setText(contained(facts.note))
        self._note.setVisible(bool(facts.note))
        self._show_state()
        self.sections.set_sections(facts.sections)
        self._life_title.setVisible(bool(facts.steps))
        self.life.setVisible(bool(facts.steps))
        self.life.set_steps(facts.steps)
        self._payload_title.setVisible(facts.has_payload)
        self.payload.setVisible(facts.has_payload)
        if facts.has_payload:
            self.payload.set_data(facts.payload)
        if old is None or (old.kind, old.name) != (facts.kind, facts.name):
            self._area.verticalScrollBar().setValue(0)

    def _follow(self, target: str) -> None:
        if target.startswith(MOMENT):
            self.momentChosen.emit(int(target.removeprefix(MOMENT)))
        else:
            self.followed.emit(target)

    def _show_state(self) -> None:
        state = self.facts.state if self.facts is not None else ""
        self._icon.setVisible(bool(state))
        self._state.setVisible(bool(state))
        if state:
            show_state(state, self._icon, self._state)
