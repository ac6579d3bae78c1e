"""Messages under a lease, with the time that each has left."""

from __future__ import annotations

from PySide6.QtCore import QAbstractItemModel
from PySide6.QtWidgets import QWidget

from widgets.panels.table_panel import ColumnLook, TablePanel

LOOKS = (
    ColumnLook("text", 110, 2),
    ColumnLook("number", 74),
    ColumnLook("number", 84),
    ColumnLook("mono", 130, 3),
    ColumnLook("chip", 130, 2),
    ColumnLook("number", 84),
    ColumnLook("number", 180, spare=1),
    ColumnLook("countdown", 170, 2),
)


class InFlightPanel(TablePanel):
    """Columns: queue, priority, offset, key, holder, attempt, acquired, time left."""

    def __init__(self, model: QAbstractItemModel, parent: QWidget | None = None) -> None:
        super().__init__(
            model,
            LOOKS,
            "In flight",
            "clock",
            (
                "No message is under a lease.",
                "A message appears here while a worker of a queue holds it, until it is acknowledged or the lease "
                "expires. Run the scenario (F5) or step (F4).",
            ),
            filter_hint="Filter by queue, key or holder",
            parent=parent,
        )
