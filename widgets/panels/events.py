from __future__ import annotations

from PySide6.QtCore import QAbstractItemModel, Qt, Signal
from PySide6.QtWidgets import QComboBox, QWidget

from widgets.controls import named, toggle_button
from widgets.i18n import mark, tr
from widgets.panels.panel import declared
from widgets.panels.table_panel import TablePanel

NONE_FOUND = (mark("No event of this kind."), mark("Choose Everything, or wait for one."))
CHOICES = (
    ("all", mark("Everything")),
    ("mine", mark("My actions")),
    ("rebalances", mark("Rebalances")),
    ("brokers", mark("Brokers, leaders, replicas")),
    ("failures", mark("Failures and faults")),
    ("alerts", mark("Alerts")),
    ("control", mark("Everything except messages")),
    ("messages", mark("Messages only")),
)


class EventsPanel(TablePanel):
    """`choiceChanged(choice)`; `currentChanged(seq)` on a click; `opened(seq)` on Enter or a double click."""

    info = declared("events")

    choiceChanged = Signal(str)

    def __init__(self, model: QAbstractItemModel, parent: QWidget | None = None) -> None:
        super().__init__(model, parent)
        self.table.setSortingEnabled(False)
        self.table.horizontalHeader().setSectionsClickable(False)
        self.choices = named(QComboBox(self), tr("Which events"))
        self.choices.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        for choice, words in CHOICES:
            self.choices.addItem(tr(words), choice)
        self.mine = toggle_button(tr("My actions"), self, tr("Only my own actions"))
        self.follow = toggle_button(tr("Follow"), self, tr("Scrolls to the newest event"))
        self.follow.setChecked(True)
        at = self.title_row.count() - 1
        for offset, part in enumerate((self.mine, self.choices)):
            self.title_row.insertWidget(at + offset, part)
        self.title_row.addWidget(self.follow)
        self.choices.currentIndexChanged.connect(lambda _place: self._on_choice())
        self.mine.clicked.connect(lambda on: self.choose("mine" if on else "all"))
        self.follow.clicked.connect(lambda on: self.table.scrollToBottom() if on else None)
        # Who has chosen a row wants to read it.
        self.currentChanged.connect(lambda key: self.follow.setChecked(self.follow.isChecked() and key is None))
        self.table.pressed.connect(lambda _index: self.follow.setChecked(False))
        self.table.verticalScrollBar().sliderMoved.connect(lambda _value: self._on_scrolled())
        self.table.verticalScrollBar().actionTriggered.connect(lambda _action: self._on_scrolled())

    def choice(self) -> str:
        return str(self.choices.currentData())

    def choose(self, choice: str) -> None:
        self.choices.setCurrentIndex(self.choices.findData(choice))

    def _on_choice(self) -> None:
        self.mine.setChecked(self.choice() == "mine")
        self.choiceChanged.emit(self.choice())

    def _on_scrolled(self) -> None:
        bar = self.table.verticalScrollBar()
        self.follow.setChecked(bar.sliderPosition() >= bar.maximum())

    def follows(self) -> bool:
        """Whether the newest event is to stay in sight: not while the pointer is over the rows."""
        return self.follow.isChecked() and not self.table.viewport().underMouse()

    def set_searching(self, searching: bool) -> None:
        if searching:
            self.set_empty_words(tr("Searching the events..."), "")
        else:
            self.set_empty_words(*(() if self.choice() == "all" else map(tr, NONE_FOUND)))
