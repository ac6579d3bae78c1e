from __future__ import annotations

from PySide6.QtCore import QAbstractItemModel, Signal
from PySide6.QtWidgets import QPushButton, QWidget

from widgets.facts import push_button, set_why_not
from widgets.i18n import mark, tr
from widgets.panels.panel import PanelInfo
from widgets.panels.table_panel import TablePanel

# What can be done, its word, and what it does.
ACTS = (
    ("ack", mark("Acknowledge"), mark("Acknowledged on behalf of the holder.")),
    ("nack", mark("Nack"), mark("Processing failed: retried according to the retry policy.")),
    ("dead", mark("Dead-letter"), mark("Dead-lettered at once.")),
    ("extend", mark("Extend"), mark("The lease is extended by its full length.")),
    ("release", mark("Release"), mark("Returned to the queue; the attempt does not count.")),
)


class InFlightPanel(TablePanel):
    """Columns: queue, priority, offset, key, holder, attempt, acquired, time left.

    `actWanted(act, keys)` with one of `ACTS` and the keys of the selected rows.
    """

    info = PanelInfo(
        "in_flight",
        "In flight",
        "clock",
        "Delivered messages that are not acknowledged.",
        "Messages of queues under a **lease**: delivered, and neither acknowledged nor released. When a "
        "lease expires, the message is delivered again with the next attempt. After the last attempt it "
        "goes to the dead letters.",
        "Ctrl+3",
        group="Groups",
        needs="deliveries",
        empty="No message is in flight.",
        how="A queue's message appears here while a worker holds it, until it is acknowledged or its lease expires; a "
        "group's message from its delivery until it is committed. {goes_on}",
        filter_hint="Filter: words, holder = builder-1, time_left < 2 s",
    )

    actWanted = Signal(str, list)

    def __init__(self, model: QAbstractItemModel, parent: QWidget | None = None) -> None:
        self.buttons: dict[str, QPushButton] = {}
        self._forbidden = ""
        super().__init__(model, multiple=True, parent=parent)
        for act, word, _about in ACTS:
            button = push_button(tr(word), self, pressed=lambda _on=False, act=act: self.do(act), by_tab=True)
            self.title_row.addWidget(button)
            self.buttons[act] = button
        self.selectionChanged.connect(lambda _count: self._show_actions())
        self._show_actions()

    def forbid(self, reason: str) -> None:
        if reason != self._forbidden:
            self._forbidden = reason
            self._show_actions()

    def why_not(self) -> str:
        return self._forbidden or ("" if self.selected_count() else tr("Select messages in flight first."))

    def _show_actions(self) -> None:
        why = self.why_not()
        for act, _word, about in ACTS:
            set_why_not(self.buttons[act], why, tr(about))

    def _on_rows(self, *_what: object) -> None:
        super()._on_rows(*_what)
        if self.buttons:
            self._show_actions()

    def do(self, act: str) -> None:
        if not self.why_not():
            self.actWanted.emit(act, self.selected_keys())
