"""Owners of partitions in each group, and their history, partition by member."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QAbstractItemModel, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHeaderView,
    QPushButton,
    QStackedWidget,
    QTableView,
    QWidget,
)

from widgets.facts import set_plain_tip
from widgets.i18n import mark, tr
from widgets.panels.cell_painter import ROW_HEIGHT, ChipDelegate
from widgets.panels.panel import PanelInfo
from widgets.panels.table_panel import ColumnLook, TablePanel
from widgets.theme import px

LOOKS = (
    ColumnLook("text", 130, 3),
    ColumnLook("number", 84),
    ColumnLook("text", 120, 2),
    ColumnLook("chip", 150, 3),
    ColumnLook("number", 160),
    ColumnLook("state", 190, 1),
)
CELL_WIDTH = 210


class AssignmentsPanel(TablePanel):
    """Columns: topic, partition, group, owner, since, state; or, with `history`, a matrix for one group.

    `groupChosen(name)` when the matrix should be that of another group.
    """

    info = PanelInfo(
        "assignments",
        mark("Assignments"),
        "assignments",
        mark("Owners of partitions in each group."),
        mark(
            "The owner of each partition in each group, and since when. A partition has **one owner** at a "
            "time in a group; a **rebalance** hands partitions over. Its card at the right shows the cause, "
            "what moved, what stayed, and how long reading paused."
        ),
        "Ctrl+1",
        group=mark("Groups"),
    )

    groupChosen = Signal(str)

    def __init__(
        self, model: QAbstractItemModel, matrix: QAbstractItemModel | None = None, parent: QWidget | None = None
    ) -> None:
        """`matrix` is the history of one group; without one there is only the table."""
        super().__init__(
            model,
            LOOKS,
            (
                tr("No topic has partitions yet."),
                tr(
                    "Each partition appears here with its owner in every group, "
                    "as soon as there is a topic that a group reads."
                ),
            ),
            filter_hint=tr("Filter by topic, group or owner"),
            parent=parent,
        )
        self.groups = QComboBox(self)
        self.groups.setAccessibleName(tr("Group of the history"))
        self.groups.activated.connect(lambda _place: self.groupChosen.emit(self.groups.currentText()))
        self.groups.hide()
        self.history_button = QPushButton(tr("History"), self)
        self.history_button.setCheckable(True)
        set_plain_tip(
            self.history_button, tr("Partition by member: the present owner and those before, with the times.")
        )
        self.history_button.toggled.connect(self._show_history)
        self.title_row.insertWidget(2, self.history_button)
        self.title_row.insertWidget(3, self.groups)
        self.history_button.setVisible(matrix is not None)
        self.matrix = QTableView(self)
        self.matrix.setModel(matrix)
        self.matrix.setAccessibleName(tr("Ownership history"))
        self.matrix.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.matrix.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.matrix.setItemDelegate(ChipDelegate(self.matrix))
        self.matrix.horizontalHeader().setDefaultSectionSize(px(CELL_WIDTH))
        self.matrix.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.matrix.verticalHeader().setDefaultSectionSize(px(ROW_HEIGHT))
        self._pages.addWidget(self.matrix)

    def body(self) -> QWidget:
        """The table, and the matrix in its place."""
        self._pages = QStackedWidget(self)
        self._pages.addWidget(self.table)
        return self._pages

    def set_groups(self, names: Sequence[str], shown: str) -> None:
        """The groups that there are, and the one whose history is shown."""
        if [self.groups.itemText(place) for place in range(self.groups.count())] != list(names):
            self.groups.clear()
            self.groups.addItems(list(names))
        self.groups.setCurrentText(shown)

    @property
    def history(self) -> bool:
        """True while the matrix is shown."""
        return self.history_button.isChecked()

    def _show_history(self, on: bool) -> None:
        self.groups.setVisible(on)
        if self.filter_field is not None:
            self.filter_field.setVisible(not on)
        self._pages.setCurrentWidget(self.matrix if on else self.table)
        self.groupChosen.emit(self.groups.currentText())
