"""Who owns which partition, in each group."""

from __future__ import annotations

from PySide6.QtCore import QAbstractItemModel
from PySide6.QtWidgets import QWidget

from widgets.panels.table_panel import ColumnLook, TablePanel

LOOKS = (
    ColumnLook("text", 130, 3),
    ColumnLook("number", 84),
    ColumnLook("text", 120, 2),
    ColumnLook("chip", 150, 3),
    ColumnLook("number", 160),
    ColumnLook("state", 190, 1),
)


class AssignmentsPanel(TablePanel):
    """Columns: topic, partition, group, owner, since, state."""

    def __init__(self, model: QAbstractItemModel, parent: QWidget | None = None) -> None:
        super().__init__(
            model,
            LOOKS,
            "Assignments",
            "assignments",
            (
                "No topic has partitions yet.",
                "Each partition appears here with its owner in every group. Run a scenario (F5), or drag a consumer "
                "from the bench into a group.",
            ),
            filter_hint="Filter by topic, group or owner",
            parent=parent,
        )
