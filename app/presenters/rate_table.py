"""Rates and backlog of topics, producers, consumers and workers in one table."""

from __future__ import annotations

from collections.abc import Container
from typing import NamedTuple

from PySide6.QtCore import QObject

from app.presenters.backpressure import producer_state
from app.presenters.columns import Column, number_column
from app.presenters.lag_trend import counts_removed
from app.presenters.other_producers import other_producers
from app.presenters.rates import Rates
from app.presenters.table import TableModel
from app.sessions.history.series import of_actor, published, sent, stored_bytes
from broker_core.snapshots import ActorView, GroupView, QueueView, Snapshot, total_lag
from resources.units import per_second
from widgets.formats import at_most, byte_rate, count, duration
from widgets.i18n import tr
from widgets.roles import Role


class RateRow(NamedTuple):
    """One line. `behind` is how many messages wait for it, `behind_ns` for how long the oldest has; None for "n/a"."""

    kind: str
    name: str
    state: str
    per_s: float
    bytes_per_s: float | None
    behind: int | None
    behind_ns: int | None
    slowest: bool
    is_at_most: bool = False


def _behind(row: RateRow) -> str:
    if row.behind is None:
        return ""
    behind = at_most(count(row.behind), row.is_at_most)
    return tr("{count}, oldest {age}", count=behind, age=duration(row.behind_ns)) if row.behind_ns else behind


def _verdict(row: RateRow) -> str:
    return tr("slowest") if row.slowest else row.state


class RateTable(TableModel[RateRow]):
    """Topics, then producers, then readers, the furthest behind first."""

    def __init__(self, rates: Rates, parent: QObject | None = None) -> None:
        self._rates = rates
        columns: tuple[Column[RateRow], ...] = (
            Column("Name", lambda row: row.name, (112, 3)),
            Column("Kind", lambda row: tr(row.kind), (84, 1, 3)),
            number_column(
                "Messages/s",
                lambda row: row.per_s,
                (88,),
                shown=per_second,
                about="Published to a topic, published by a producer, delivered to a consumer or worker: "
                "the mean of 2 s.",
            ),
            number_column(
                "Bytes/s",
                lambda row: row.bytes_per_s,
                (76, 0, 1),
                shown=lambda found: "" if found is None else byte_rate(found),
            ),
            Column(
                "Behind",
                _behind,
                (104, 1),
                "number",
                sort=lambda row: (row.behind_ns or 0, row.behind or 0),
                about="Messages waiting for this consumer, and how long the oldest has waited.",
            ),
            Column(
                "State",
                _verdict,
                (122, 1, 2),
                roles={Role.WARN: lambda row: "lag_up" if row.slowest else ""},
                about="The consumer whose oldest message has waited longest is the slowest.",
            ),
        )
        super().__init__(columns, key=lambda row: (row.kind, row.name), parent=parent)

    def set_snapshot(self, snapshot: Snapshot) -> None:
        rows = [self._topic(topic.name, snapshot.time_ns) for topic in snapshot.topics]
        readers = [self._actor(snapshot, actor) for actor in snapshot.actors if actor.role != "producer"]
        readers.sort(key=lambda row: (-(row.behind_ns or 0), -(row.behind or 0), row.name))
        # A client with its first message has delayed nothing yet.
        if readers and readers[0].behind and readers[0].behind_ns:
            readers[0] = readers[0]._replace(slowest=True)
        rows += [self._actor(snapshot, actor) for actor in snapshot.actors if actor.role == "producer"]
        for other in other_producers(snapshot, self._rates):
            per_s = self._rates.of(sent(other.name), snapshot.time_ns)
            rows.append(RateRow("producer", other.name, other.state, per_s, None, None, None, False))
        self.set_rows(tuple(rows + readers))

    def _topic(self, name: str, now_ns: int) -> RateRow:
        per_s, bytes_per_s = (self._rates.of(key, now_ns) for key in (published(name), stored_bytes(name)))
        return RateRow("topic", name, "", per_s, bytes_per_s, None, None, False)

    def _actor(self, snapshot: Snapshot, actor: ActorView) -> RateRow:
        per_s = self._rates.of(of_actor(actor), snapshot.time_ns)
        behind, behind_ns, is_at_most = _behind_of(snapshot, actor)
        return RateRow(actor.role, actor.name, producer_state(actor), per_s, None, behind, behind_ns, False, is_at_most)


Behind = tuple[int | None, int | None, bool]


def _behind_of(snapshot: Snapshot, actor: ActorView) -> Behind:
    """How many messages wait for an actor, since when the oldest does in ns, and whether compaction may have removed
    some; None where nothing can be said.
    """
    if actor.role == "producer":
        return None, None, False
    group = next((one for one in snapshot.groups if one.name == actor.target), None)
    if group is not None:
        return _behind_in_group(group, actor.name, snapshot.compacted)
    queue = next((one for one in snapshot.queues if one.name == actor.target), None)
    return (None, None, False) if queue is None else _behind_in_queue(queue, actor.name, snapshot.time_ns)


def _behind_in_group(group: GroupView, client: str, compacted: Container[str]) -> Behind:
    owned = [one for one in group.offsets if one.owner == client]
    lag = total_lag(one.lag for one in owned)
    return lag, None if lag is None else max(one.lag_ns or 0 for one in owned), counts_removed(owned, compacted)


def _behind_in_queue(queue: QueueView, client: str, now_ns: int) -> Behind:
    held = [lease for lease in queue.leases if lease.holder == client]
    return len(held), max((now_ns - lease.acquired_ns for lease in held), default=None), False
