"""The last requests of Kafka programs."""

from __future__ import annotations

from widgets.panels.panel import PanelInfo
from widgets.panels.table_panel import TablePanel


class RequestsPanel(TablePanel):
    """A row a request, the newest first; the note tells of the busiest APIs."""

    info = PanelInfo(
        "requests",
        "Requests",
        "events",
        "What Kafka programs ask the broker, request by request.",
        "Every request of a **Kafka program** that is connected: its API and version, its size, how long its reply "
        "took, and what went wrong. The last 2,000 are kept. Filter them by client, API or error.",
        group="System",
        empty="No Kafka program has asked for anything.",
        how="Open Kafka in the panel Connections, then point bootstrap.servers of a program at it.",
        filter_hint="Filter by client, API or error",
    )
