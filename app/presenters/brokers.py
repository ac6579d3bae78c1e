"""The brokers of a cluster, and where its partitions are."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import NamedTuple

from app.presenters.columns import Column, facts_of, number_column, state_column, text_column, time_column
from app.presenters.panel_presenter import PanelPresenter, Sources
from app.presenters.table import TableModel
from broker_core.snapshots import LEADERLESS, UNDER, NodeView, PartitionView, Snapshot, replication
from widgets.formats import Times, byte_size
from widgets.i18n import mark, tr
from widgets.panels.panel import declared
from widgets.panels.table_panel import TablePanel

GONE, ONLINE, CONTROLLER = mark("Gone"), mark("Online"), mark("Controller")


class BrokerRow(NamedTuple):
    """A node, with the number of partitions that it leads, is in sync of, and is a replica of."""

    view: NodeView
    leads: int
    in_sync: int
    replicas: int

    @property
    def state(self) -> str:
        if self.view.gone_ns is not None:
            return GONE
        return CONTROLLER if self.view.is_controller else ONLINE


def _disk_words(row: BrokerRow) -> str:
    if row.view.disk is None:
        return tr("not known")
    free, whole = map(byte_size, row.view.disk)
    return tr("{free} of {all} free", free=free, all=whole)


def broker_columns(times: Times) -> tuple[Column[BrokerRow], ...]:
    return (
        number_column("Node", lambda row: row.view.node, (56,), shown=str),
        state_column("State", lambda row: row.state, (104,)),
        number_column("Leads", lambda row: row.leads, (64,), about="Partitions that it leads."),
        number_column("In sync", lambda row: row.in_sync, (70,), about="Partitions of which it is in sync."),
        number_column("Replicas", lambda row: row.replicas, (78,), about="Partitions of which it has a replica."),
        Column("Address", lambda row: row.view.address or tr("not known"), (124, 3)),
        Column("Rack", lambda row: row.view.rack, (70, 1, 1)),
        text_column("Disk", _disk_words, (130, 1, 2), about="What is free of the volumes of its logs."),
        time_column("Gone since", lambda row: row.view.gone_ns, times, (84,)),
        text_column("Why", lambda row: row.view.why, (130, 4)),
    )


_COLUMNS = broker_columns(Times())  # of the inspector, which shows no wall times


def broker_rows(snapshot: Snapshot) -> list[BrokerRow]:
    parts = [part for topic in snapshot.topics for part in topic.partitions]
    leads = Counter(part.leader for part in parts)
    in_sync = Counter(chain.from_iterable(part.in_sync for part in parts))
    replicas = Counter(chain.from_iterable(part.replicas for part in parts))
    return [BrokerRow(each, leads[each.node], in_sync[each.node], replicas[each.node]) for each in snapshot.nodes]


def broker_facts(row: BrokerRow) -> tuple[tuple[str, str], ...]:
    return facts_of(_COLUMNS, row, "Address", "Rack", "Leads", "In sync", "Replicas", "Disk", "Gone since", "Why")


def placed_words(part: PartitionView, min_in_sync: int) -> str:
    """The leader, replicas and in-sync replicas of a partition; "" if they are not known."""
    if part.leader is None:
        return ""
    leader = tr("no leader") if part.leader < 0 else tr("leader {node}", node=part.leader)
    of = tr(", at least {count} wanted", count=min_in_sync) if min_in_sync else ""
    replicas, in_sync = (", ".join(map(str, nodes)) or "-" for nodes in (part.replicas, part.in_sync))
    return tr(
        "{leader}; replicas {replicas}; in sync {in_sync}{of}", leader=leader, replicas=replicas, in_sync=in_sync, of=of
    )


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
