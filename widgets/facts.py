"""Facts: labels with their values, in a grid or in sections."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from widgets.boxes import vbox
from widgets.bytes_text import contained
from widgets.controls import LinkButton, plain_label, set_plain_tip
from widgets.theme import tabular_font

#: A label and a value, and the id of what it leads to, "" for nothing.
Fact = tuple[str, str] | tuple[str, str, str]
Facts = tuple[Fact, ...]
TitledFacts = tuple[str, Facts]


def with_values(*facts: Fact) -> Facts:
    """The facts that have a value."""
    return tuple(fact for fact in facts if fact[1])


def with_rows(*sections: TitledFacts) -> tuple[TitledFacts, ...]:
    """The sections that have facts."""
    return tuple(section for section in sections if section[1])


class FactsGrid(QWidget):
    """Two columns: labels in grey, values that can be selected and wrap, or lead on: `linkFollowed(target)`."""

    linkFollowed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(0)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnStretch(1, 1)
        self._rows: list[tuple[QLabel, QLabel, LinkButton]] = []

    def set_facts(self, facts: Sequence[Fact], tips: Sequence[str] = ()) -> None:
        """`tips` are tool tips of the values."""
        while len(self._rows) < len(facts):
            self._add_row()
        for place, (name, value, link) in enumerate(self._rows):
            shown = place < len(facts)
            target = facts[place][2] if shown and len(facts[place]) == 3 else ""  # type: ignore[misc]
            # A value without a label is a paragraph: it begins at the edge.
            named = shown and bool(facts[place][0])
            for label, visible in ((name, named), (value, shown and not target), (link, shown and bool(target))):
                if label.isHidden() == visible:
                    label.setVisible(visible)
            if not shown:
                continue
            for label, text in zip((name, value), facts[place][:2], strict=True):
                if label.text() != (shown_text := contained(text)):
                    label.setText(shown_text)
            if target:
                link.set_link(contained(facts[place][1]), target)
            else:
                set_plain_tip(value, tips[place] if place < len(tips) else "")

    def _add_row(self) -> None:
        name, value = plain_label(role="muted", parent=self), plain_label(parent=self, fill=True, selectable=True)
        name.setContentsMargins(0, 0, 12, 0)
        name.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        value.setFont(tabular_font())
        link = LinkButton(self)
        link.followed.connect(self.linkFollowed)
        # Hidden by word, else the layout shows them.
        for part in (name, value, link):
            part.hide()
        row = len(self._rows)
        self._grid.addWidget(name, row, 0)
        self._grid.addWidget(value, row, 1)
        self._grid.addWidget(link, row, 1, Qt.AlignmentFlag.AlignLeft)
        self._rows.append((name, value, link))


#: A title, facts, and for some of them tool tips of their values.
Section = tuple[str, Sequence[Fact]] | tuple[str, Sequence[Fact], Sequence[str]]


class SectionsView(QWidget):
    """Facts in sections, each under its title, if it has one. `linkFollowed(target)`."""

    linkFollowed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._column = vbox(on=self, margins=(0, 0, 0, 0), spacing=6)
        self.parts: list[tuple[QLabel, FactsGrid]] = []

    def set_sections(self, sections: Sequence[Section]) -> None:
        while len(self.parts) < len(sections):
            heading, grid = plain_label("", "section", self), FactsGrid(self)
            grid.linkFollowed.connect(self.linkFollowed)
            for part in (heading, grid):
                self._column.addWidget(part)
            self.parts.append((heading, grid))
        for place, (heading, grid) in enumerate(self.parts):
            title, facts, *tips = sections[place] if place < len(sections) else ("", ())
            heading.setVisible(bool(title))
            grid.setVisible(place < len(sections))
            heading.setText(title)
            grid.set_facts(facts, *tips)
