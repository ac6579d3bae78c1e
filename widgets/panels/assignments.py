from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QAbstractItemModel, Signal
from PySide6.QtWidgets import QComboBox

from widgets.controls import named
from widgets.i18n import tr
from widgets.panels.panel import declared
from widgets.panels.two_tables import TwoTablesPanel
from widgets.row_table import RowTable


class AssignmentsPanel(TwoTablesPanel):
    """Columns: topic, partition, group, owner, since, state; the second table has the owners over time in one group.

    `groupChosen(name)` when that should be another group.
    """

    info = declared("assignments")

    groupChosen = Signal(str)

    def __init__(self, model: QAbstractItemModel, over_time: QAbstractItemModel) -> None:
        history = named(RowTable(over_time), tr("Ownership history"))
        tip = tr("The owners of each partition of a group over time.")
        super().__init__(model, history, tr("History"), tip)
        self.groups = named(QComboBox(self), tr("Group of the history"))
        self.groups.textActivated.connect(self.groupChosen)
        self.groups.hide()
        self.secondShown.connect(self.groups.setVisible)
        self.title_row.insertWidget(self.title_row.count() - 1, self.groups)

    def set_groups(self, names: Sequence[str], shown: str) -> None:
        if [self.groups.itemText(place) for place in range(self.groups.count())] != list(names):
            self.groups.clear()
            self.groups.addItems(list(names))
        self.groups.setCurrentText(shown)
