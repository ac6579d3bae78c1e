"""Label and value pairs, as plain text; what has not changed is left alone."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QWidget

from widgets.panels.cell_painter import as_plain, tabular_font


def plain_label(text: str = "", role: str = "", parent: QWidget | None = None) -> QLabel:
    """A label that shows data as it is: never as markup. `role` is one of the style sheet."""
    label = QLabel(parent)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setText(text)
    if role:
        label.setProperty("role", role)
    return label


def set_plain_tip(widget: QWidget, text: str) -> None:
    """A tool tip that shows data as it is."""
    tip = as_plain(text)
    if widget.toolTip() != tip:
        widget.setToolTip(tip)


def let_wrap(label: QLabel) -> None:
    """The label takes the width that there is, and the height that its text needs at that width."""
    policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
    policy.setHeightForWidth(True)
    label.setWordWrap(True)
    label.setSizePolicy(policy)


class FactsGrid(QWidget):
    """Two columns: labels in grey, values that can be selected and wrap."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(0)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnStretch(1, 1)
        self._rows: list[tuple[QLabel, QLabel]] = []

    def set_facts(self, facts: Sequence[tuple[str, str]]) -> None:
        """Show (label, value) pairs."""
        while len(self._rows) < len(facts):
            self._add_row()
        for place, (name, value) in enumerate(self._rows):
            shown = place < len(facts)
            # A value without a label is a paragraph: it begins at the edge.
            named = shown and bool(facts[place][0])
            for label, visible in ((name, named), (value, shown)):
                if label.isHidden() == visible:
                    label.setVisible(visible)
            if shown:
                for label, text in zip((name, value), facts[place], strict=True):
                    if label.text() != text:
                        label.setText(text)

    def facts(self) -> list[tuple[str, str]]:
        """What is shown."""
        return [(name.text(), value.text()) for name, value in self._rows if not value.isHidden()]

    def _add_row(self) -> None:
        name, value = plain_label(role="muted", parent=self), plain_label(parent=self)
        name.setContentsMargins(0, 0, 12, 0)
        name.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        value.setFont(tabular_font())
        value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        let_wrap(value)
        # Hidden by word, else the layout shows them.
        name.hide()
        value.hide()
        row = len(self._rows)
        self._grid.addWidget(name, row, 0)
        self._grid.addWidget(value, row, 1)
        self._rows.append((name, value))
