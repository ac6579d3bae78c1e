from __future__ import annotations

from collections import Counter

from app.presenters.panel_presenter import PanelPresenter, Sources
from app.presenters.placement import broker_columns, broker_rows
from app.presenters.table import TableModel
from broker_core.snapshots import LEADERLESS, UNDER, Snapshot, replication
from widgets.i18n import tr
from widgets.panels.panel import declared
from widgets.panels.table_panel import TablePanel


class BrokersPanel(TablePanel):
    """A row a node; the note counts the partitions that are not as they should be."""

    info = declared("brokers")


class BrokersPresenter(PanelPresenter[BrokersPanel]):
    panel_class = BrokersPanel
    counts_all = True

    def __init__(self, sources: Sources) -> None:
        self.model = TableModel(broker_columns(sources.times), key=lambda row: row.view.node)
        super().__init__(sources, self.model)

    def thing_of(self, key: int) -> str:
        return f"node:{key}"

    def tab_count(self, snapshot: Snapshot) -> int:
        return len(snapshot.nodes)

    def show(self, snapshot: Snapshot) -> None:
        self.model.set_rows(broker_rows(snapshot))
        gone = snapshot.nodes_gone
        words = Counter(
            replication(part, topic.min_in_sync, gone) for topic in snapshot.topics for part in topic.partitions
        )
        counts = {"leaderless": words[LEADERLESS], "under": sum(words[word] for word in UNDER)}
        note = tr("Partitions: {leaderless:,} leaderless, {under:,} under-replicated", **counts)
        if gone:
            note = tr(
                "Gone: {nodes}. {note}",
                nodes=", ".join(tr("node {node}", node=node) for node in sorted(gone)),
                note=note,
            )
        self.panel.set_note(note if snapshot.nodes else "")
