from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QStatusBar, QWidget

from widgets.bytes_text import contained
from widgets.controls import plain_label, push_button, set_plain_tip
from widgets.i18n import mark, tr
from widgets.line_label import LineLabel
from widgets.theme import px, tabular_font

MOST_UNDO = 200  # of the words that the button names its action with

_FIELDS = (
    ("seed", mark("The same seed and scenario give the same session.")),
    ("rate", mark("Messages published in each session second.")),
    ("in_flight", mark("Messages under a lease, and messages delivered to a group but not yet committed.")),
    ("recording", mark("Size of the session folder.")),
    ("frame", mark("The cost of drawing this window.")),
)


@dataclass(frozen=True, slots=True)
class StatusFacts:
    """Texts with their units; "" hides one."""

    seed: str = ""
    rate: str = ""
    rate_tip: str = ""
    in_flight: str = ""
    recording: str = ""
    frame: str = ""
    frame_tip: str = ""


class StatusBar(QStatusBar):
    """Facts on the left, the last message on the right, with a button to undo the last action, which names it where the
    message is of something else. `undoWanted()` on a click on that.
    """

    undoWanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizeGripEnabled(False)
        self.setContentsMargins(0, 0, 8, 0)
        self.labels = {name: plain_label("", "", self) for name, _tip in _FIELDS}
        for name, tip in _FIELDS:
            label = self.labels[name]
            label.setFont(tabular_font(12))
            label.setToolTip(tr(tip))
            label.hide()
            self.addWidget(label)
        self.last_action = LineLabel(self, elide=Qt.TextElideMode.ElideMiddle)
        self.addWidget(self.last_action, 1)
        self.undo_button = push_button(tr("Undo"), self, pressed=self.undoWanted, by_tab=True, role="link", hidden=True)
        self.addWidget(self.undo_button)
        self._undoes = ""

    def set_facts(self, facts: StatusFacts) -> None:
        for name, _tip in _FIELDS:
            label, text = self.labels[name], getattr(facts, name)
            if label.minimumHeight() != label.fontMetrics().height():  # type has another size now
                label.setMinimumWidth(0)
                label.clear()
            if label.text() != text:
                label.setText(text)
                label.setVisible(bool(text))
            # A label only grows: its neighbours stand still while figures change, and nothing is laid out anew.
            label.setFixedSize(label.sizeHint().width(), label.fontMetrics().height())
        for name, tip in (("rate", facts.rate_tip), ("frame", facts.frame_tip)):
            if tip:
                set_plain_tip(self.labels[name], tip)

    def offer_undo(self, what: str, why_not: str = "") -> None:
        if what != self._undoes:
            self._undoes = what
            self.undo_button.setText(tr("Undo"))
        self.undo_button.setVisible(bool(what))
        self.undo_button.setEnabled(not why_not)
        can = tr("Undo: {what} (Ctrl+Z)", what=what)
        set_plain_tip(self.undo_button, tr("Not available: {reason}", reason=why_not) if why_not else can)
        self.undo_button.setAccessibleName(tr("Undo: {what}", what=what))

    def show_message(self, text: str) -> None:
        if self._undoes:
            words = self.fontMetrics().elidedText(self._undoes, Qt.TextElideMode.ElideMiddle, px(MOST_UNDO))
            self.undo_button.setText(tr("Undo: {what}", what=words).replace("&", "&&"))
        self.last_action.set_text(contained(text))
        set_plain_tip(self.last_action, text)
