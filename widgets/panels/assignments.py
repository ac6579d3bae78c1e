from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QAbstractItemModel, Qt, Signal
from PySide6.QtWidgets import QComboBox, QPushButton, QStackedWidget, QWidget

from widgets.facts import named, set_plain_tip
from widgets.i18n import tr
from widgets.panels.panel import declared
from widgets.panels.table_panel import RowTable, TablePanel


class AssignmentsPanel(TablePanel):
    """Columns: topic, partition, group, owner, since, state; or, with `history`, the owners over time in one group.

    `groupChosen(name)` when the history should be that of another group; `historyShown(on)` when it comes or goes, with
    no filter in force.
    """

    info = declared("assignments")

    groupChosen = Signal(str)
    historyShown = Signal(bool)

    def __init__(self, model: QAbstractItemModel, over_time: QAbstractItemModel, parent: QWidget | None = None) -> None:
        self.over_time = named(RowTable(over_time), tr("Ownership history"))
        super().__init__(model, parent)
        self.groups = named(QComboBox(self), tr("Group of the history"))
        self.groups.activated.connect(lambda _place: self.groupChosen.emit(self.groups.currentText()))
        self.groups.hide()
        self.history_button = QPushButton(tr("History"), self)
        self.history_button.setCheckable(True)
        set_plain_tip(self.history_button, tr("The owners of each partition of a group over time."))
        self.history_button.toggled.connect(self._show_history)
        self.title_row.insertWidget(2, self.history_button)
        self.title_row.insertWidget(3, self.groups)
        self._pages.addWidget(self.over_time)
        for signal in (over_time.rowsInserted, over_time.rowsRemoved, over_time.layoutChanged):
            signal.connect(self._on_rows)

    def body(self) -> QWidget:
        self._pages = QStackedWidget(self)
        self._pages.addWidget(self.table)
        return self._pages

    def focus_body(self) -> None:
        if self.over_time.isVisible():
            self.over_time.setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            super().focus_body()

    def set_groups(self, names: Sequence[str], shown: str) -> None:
        if [self.groups.itemText(place) for place in range(self.groups.count())] != list(names):
            self.groups.clear()
            self.groups.addItems(list(names))
        self.groups.setCurrentText(shown)

    @property
    def history(self) -> bool:
        return self.history_button.isChecked()

    def _show_history(self, on: bool) -> None:
        self.clear_filter()
        self.groups.setVisible(on)
        self._pages.setCurrentIndex(int(on))
        self.historyShown.emit(on)
        self.groupChosen.emit(self.groups.currentText())
        self._on_rows()

    def _on_rows(self, *what: object) -> None:
        if self._pages.currentWidget() is not self.over_time:
            super()._on_rows(*what)
            return
        shown = self.over_time.model().rowCount()
        self.set_count(f"{shown:,}")
        self.show_body(shown > 0)
