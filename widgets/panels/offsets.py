"""How far each group has come in each partition."""

from __future__ import annotations

from PySide6.QtCore import QAbstractItemModel
from PySide6.QtWidgets import QWidget

from widgets.panels.table_panel import ColumnLook, TablePanel

LOOKS = (
    ColumnLook("text", 96, 2),
    ColumnLook("text", 96, 3),
    ColumnLook("number", 80),
    ColumnLook("chip", 124, 2),
    ColumnLook("number", 76, spare=2),
    ColumnLook("number", 80),
    ColumnLook("number", 80),
    ColumnLook("number", 92),
    ColumnLook("number", 118),
    ColumnLook("number", 70),
    ColumnLook("state", 104),
)


class OffsetsPanel(TablePanel):
    """Columns: group, topic, partition, owner, start, end, position, committed, lag (messages), lag (s), trend."""

    def __init__(self, model: QAbstractItemModel, parent: QWidget | None = None) -> None:
        super().__init__(
            model,
            LOOKS,
            "Offsets",
            "offsets",
            (
                "No group reads anything yet.",
                "Offsets and lag appear here once a group has partitions. Drag a consumer into a group, or use "
                "Move to group... (Ctrl+M).",
            ),
            filter_hint="Filter by group, topic or owner",
            parent=parent,
        )
