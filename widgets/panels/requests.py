"""The last requests of Kafka programs."""

from __future__ import annotations

from PySide6.QtCore import QAbstractItemModel
from PySide6.QtWidgets import QWidget

from widgets.i18n import mark, tr
from widgets.panels.panel import PanelInfo
from widgets.panels.table_panel import ColumnLook, TablePanel

LOOKS = (
    ColumnLook("mono", 84),
    ColumnLook("text", 140, 3),
    ColumnLook("text", 150, 2),
    ColumnLook("number", 64, spare=3),
    ColumnLook("number", 100, spare=4),
    ColumnLook("number", 80, spare=2),
    ColumnLook("number", 80, spare=1),
    ColumnLook("number", 84),
    ColumnLook("text", 180, 4),
)


class RequestsPanel(TablePanel):
    """A row a request, the newest first; the note tells of the busiest APIs."""

    info = PanelInfo(
        "requests",
        mark("Requests"),
        "events",
        mark("What Kafka programs ask the broker, request by request."),
        mark(
            "Every request of a **Kafka program** that is connected: its API and version, its size, how long its reply "
            "took, and what went wrong. The last 2,000 are kept. Filter them by client, API or error."
        ),
        group=mark("System"),
    )

    def __init__(self, model: QAbstractItemModel, parent: QWidget | None = None) -> None:
        super().__init__(
            model,
            LOOKS,
            (
                tr("No Kafka program has asked for anything."),
                tr("Open Kafka in the panel Connections, then point bootstrap.servers of a program at it."),
            ),
            filter_hint=tr("Filter by client, API or error"),
            parent=parent,
        )
