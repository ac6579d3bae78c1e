"""Who owned each partition and since when, gathered from the event stream: any moment can be read from it."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.view_models.formats import session_time
from app.view_models.owners import Owners
from broker_core.events import Event, EventKind
from broker_core.snapshots import Snapshot
from widgets.panels.cell_painter import as_plain
from widgets.roles import Role
from widgets.words import tr

KEPT = 200  # spans of one partition
Place = tuple[str, str, int]  # group, topic, partition
Index = QModelIndex | QPersistentModelIndex


class Span(NamedTuple):
    """A partition was `owner`'s from `start_ns` up to `end_ns`, None while it is."""

    owner: str
    start_ns: int
    end_ns: int | None


class OwnershipFeed:
    """A sink of the event stream. A partition that its owner keeps through a rebalance keeps its time as well."""

    def __init__(self) -> None:
        self._spans: dict[Place, deque[Span]] = {}
        self._revoked_ns: dict[Place, int] = {}

    def __call__(self, event: Event) -> None:
        """Take one event."""
        if event.kind is EventKind.PARTITIONS_REVOKED:
            for topic, partition in (event.detail or {}).get("partitions", ()):
                self._revoked_ns[event.group, str(topic), int(partition)] = event.time_ns
        elif event.kind is EventKind.REBALANCE_COMPLETED:
            self._completed(event)

    def _completed(self, event: Event) -> None:
        after = {
            (event.group, str(topic), int(partition)): str(client)
            for topic, partition, client in (event.detail or {}).get("after", ())
        }
        for place in [place for place in self._spans if place[0] == event.group and place not in after]:
            self._end(place, event.time_ns)
        for place, owner in after.items():
            spans = self._spans.get(place)
            last = spans[-1] if spans else None
            if last is not None and last.owner == owner and last.end_ns is None:
                continue
            self._end(place, event.time_ns)
            self._spans.setdefault(place, deque(maxlen=KEPT)).append(Span(owner, event.time_ns, None))
        self._revoked_ns = {place: at_ns for place, at_ns in self._revoked_ns.items() if place[0] != event.group}

    def _end(self, place: Place, time_ns: int) -> None:
        spans = self._spans.get(place)
        if spans and spans[-1].end_ns is None:
            spans[-1] = spans[-1]._replace(end_ns=self._revoked_ns.get(place, time_ns))

    def spans(self, place: Place, time_ns: int) -> tuple[Span, ...]:
        """Every span that had begun by `time_ns`; one that ended later had no end yet then."""
        return tuple(
            span if span.end_ns is None or span.end_ns <= time_ns else span._replace(end_ns=None)
            for span in tuple(self._spans.get(place, ()))
            if span.start_ns <= time_ns
        )

    def since_ns(self, place: Place, owner: str, time_ns: int) -> int | None:
        """Since when `owner` has had the partition at `time_ns`; None where that is not known."""
        spans = self.spans(place, time_ns)
        return spans[-1].start_ns if spans and spans[-1].owner == owner and spans[-1].end_ns is None else None

    def places(self, group: str) -> list[Place]:
        """The partitions that the group ever owned, in order."""
        return sorted(place for place in tuple(self._spans) if place[0] == group)


class OwnershipModel(QAbstractTableModel):
    """Partition by member of one group: since when each has owned it, or when it last did."""

    def __init__(self, owners: Owners, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._owners = owners
        self._feed = OwnershipFeed()
        self._group = ""
        self._time_ns = 0
        self._places: list[Place] = []
        self._members: list[str] = []
        self._cells: dict[tuple[int, int], tuple[Span, ...]] = {}

    def follow(self, feed: OwnershipFeed) -> None:
        """Another session begins."""
        self.beginResetModel()
        self._feed, self._places, self._members, self._cells = feed, [], [], {}
        self.endResetModel()

    def meet(self, snapshot: Snapshot, group: str) -> None:
        """Show `group` as it had been up to the moment of `snapshot`."""
        self._group, self._time_ns = group, snapshot.time_ns
        places = self._feed.places(group)
        spans = {place: self._feed.spans(place, snapshot.time_ns) for place in places}
        members = sorted({span.owner for each in spans.values() for span in each})
        cells = {
            (row, members.index(owner)): tuple(span for span in spans[place] if span.owner == owner)
            for row, place in enumerate(places)
            for owner in {span.owner for span in spans[place]}
        }
        if (places, members) != (self._places, self._members):
            self.beginResetModel()
            self._places, self._members, self._cells = places, members, cells
            self.endResetModel()
        elif cells != self._cells:
            self._cells = cells
            last = self.index(len(places) - 1, len(members) - 1)
            self.dataChanged.emit(self.index(0, 0), last)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - as Qt has it
        """Partitions."""
        return 0 if parent.isValid() else len(self._places)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Members."""
        return 0 if parent.isValid() else len(self._members)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """The last span in words; all of them as the tool tip; whether it is the owner now, for the look."""
        spans = self._cells.get((index.row(), index.column()), ())
        if not spans:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return told(spans[-1])
        if role == Qt.ItemDataRole.ToolTipRole:
            return as_plain("\n".join(told(span) for span in spans))
        if role == Role.HUE:
            return self._owners.hue(spans[-1].owner) if spans[-1].end_ns is None else None
        if role == Role.BADGE:
            return self._owners.letter(spans[-1].owner) if spans[-1].end_ns is None else None
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Members above, partitions beside."""
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        if orientation is Qt.Orientation.Horizontal:
            return self._members[section] if section < len(self._members) else None
        if section < len(self._places):
            _, topic, partition = self._places[section]
            return f"{topic}/{partition}"
        return None


def told(span: Span) -> str:
    """ "since 00:01.200", or "00:01.200 - 00:25.000" of what is over."""
    start = session_time(span.start_ns)
    if span.end_ns is None:
        return tr("since {time}", time=start)
    return tr("{start} to {end}", start=start, end=session_time(span.end_ns))
