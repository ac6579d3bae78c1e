"""The status bar: seed, rates, recording, the cost of a frame, and the last action."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtWidgets import QSizePolicy, QStatusBar, QWidget

from widgets.facts import plain_label
from widgets.panels.cell_painter import tabular_font
from widgets.toolbar import ElidedLabel

_FIELDS = (
    ("seed", "The same seed and scenario give the same session."),
    ("rate", "Messages published in each session second."),
    ("in_flight", "Messages under a lease."),
    ("recording", "Size of the session folder."),
    ("frame", "Time that the window spent on its last picture."),
)


@dataclass(frozen=True, slots=True)
class StatusFacts:
    """Texts with their units; "" hides one."""

    seed: str = ""
    rate: str = ""
    in_flight: str = ""
    recording: str = ""
    frame: str = ""


class StatusBar(QStatusBar):
    """Facts on the left, the last action on the right."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizeGripEnabled(False)
        self.labels = {name: plain_label("", "", self) for name, _tip in _FIELDS}
        for name, tip in _FIELDS:
            label = self.labels[name]
            label.setFont(tabular_font(12))
            label.setToolTip(tip)
            label.hide()
            self.addWidget(label)
        self.last_action = ElidedLabel("", self)
        self.last_action.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.addWidget(self.last_action, 1)

    def set_facts(self, facts: StatusFacts) -> None:
        """Show facts; a label is touched only where its text changes."""
        for name, _tip in _FIELDS:
            label, text = self.labels[name], getattr(facts, name)
            if label.text() != text:
                label.setText(text)
                label.setVisible(bool(text))
                # A label only grows, so that its neighbours stand still while figures change.
                label.setMinimumWidth(max(label.minimumWidth(), label.sizeHint().width()))

    def say(self, text: str) -> None:
        """The last action, or one sentence of an error."""
        self.last_action.set_whole(text)
