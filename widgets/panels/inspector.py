"""The selected thing, in facts."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from widgets.facts import FactsGrid, plain_label
from widgets.icons import icon_pixmap
from widgets.panels.panel import Panel
from widgets.panels.soft_area import FADE_PIXELS, SoftArea
from widgets.theme import current_theme, state_style


@dataclass(frozen=True, slots=True)
class InspectorFacts:
    """What is selected: its kind ("Consumer"), name, state word ("" for none), and sections of (label, value) pairs."""

    kind: str
    name: str
    state: str = ""
    sections: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = ()


class InspectorPanel(Panel):
    """Facts of the selected thing; labels are kept, only their texts change."""

    def __init__(self, parent: QWidget | None = None) -> None:
        self._facts: InspectorFacts | None = None
        super().__init__(
            "Inspector",
            "info",
            (
                "Nothing is selected.",
                "Click a producer, partition, group, consumer or queue on the canvas to see its facts.",
            ),
            parent=parent,
        )
        self._name = plain_label("", "title", self)
        self._name.setWordWrap(True)
        self._icon = QLabel(self)
        self._state = plain_label("", "", self)
        self._sections: list[tuple[QLabel, FactsGrid]] = []
        area = SoftArea(self)
        inner = QWidget(area)
        self._column = QVBoxLayout(inner)
        self._column.setContentsMargins(8, 0, 12, FADE_PIXELS)
        self._column.setSpacing(6)
        state_row = QHBoxLayout()
        state_row.setSpacing(6)
        state_row.addWidget(self._icon)
        state_row.addWidget(self._state, 1)
        self._column.addWidget(self._name)
        self._column.addLayout(state_row)
        self._column.addStretch(1)
        area.setWidget(inner)
        self.stack.addWidget(area)

    def set_facts(self, facts: InspectorFacts | None) -> None:
        """Show a thing; None where nothing is selected."""
        if facts == self._facts:
            return
        self._facts = facts
        self.show_body(facts is not None)
        self.set_count(facts.kind if facts is not None else "")
        if facts is None:
            return
        self._name.setText(facts.name)
        self.dress()
        while len(self._sections) < len(facts.sections):
            heading, grid = plain_label("", "section", self), FactsGrid(self)
            place = self._column.count() - 1
            self._column.insertWidget(place, heading)
            self._column.insertWidget(place + 1, grid)
            self._sections.append((heading, grid))
        for place, (heading, grid) in enumerate(self._sections):
            shown = place < len(facts.sections)
            heading.setVisible(shown and bool(facts.sections[place][0]))
            grid.setVisible(shown)
            if shown:
                heading.setText(facts.sections[place][0])
                grid.set_facts(facts.sections[place][1])

    def dress(self) -> None:
        """The state in its colour."""
        super().dress()
        state = self._facts.state if self._facts is not None else ""
        self._icon.setVisible(bool(state))
        self._state.setVisible(bool(state))
        if state:
            style = state_style(state)
            colour = current_theme().colour(style.token)
            self._icon.setPixmap(icon_pixmap(style.icon, colour, 16, self.devicePixelRatioF()))
            self._state.setText(style.word)
            self._state.setStyleSheet(f"color: {colour};")

    def facts(self) -> InspectorFacts | None:
        """What is shown."""
        return self._facts
