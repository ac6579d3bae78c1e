"""The owners of each partition of a group over time, as a matrix."""

from __future__ import annotations

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.presenters.owners import Owners
from broker_core.recording.ownership import Ownership, Place, Span
from broker_core.snapshots import Snapshot
from widgets.formats import session_time
from widgets.i18n import tr
from widgets.panels.cell_painter import as_plain
from widgets.roles import Role

Index = QModelIndex | QPersistentModelIndex


class OwnershipModel(QAbstractTableModel):
    """Partition by member of one group: since when each has owned it, or when it last did."""

    def __init__(self, owners: Owners, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._owners = owners
        self._ownership = Ownership()
        self._group = ""
        self._time_ns = 0
        self._places: list[Place] = []
        self._members: list[str] = []
        self._cells: dict[tuple[int, int], tuple[Span, ...]] = {}

    def attach(self, ownership: Ownership) -> None:
        """Another session begins."""
        self.beginResetModel()
        self._ownership, self._places, self._members, self._cells = ownership, [], [], {}
        self.endResetModel()

    def update(self, snapshot: Snapshot, group: str) -> None:
        """Show `group` as it had been up to the moment of `snapshot`."""
        self._group, self._time_ns = group, snapshot.time_ns
        places = self._ownership.places(group)
        spans = {place: self._ownership.spans(place, snapshot.time_ns, snapshot.events) for place in places}
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
        """The last span in words; all of them as the tool tip; the hue and letter of the present reader."""
        spans = self._cells.get((index.row(), index.column()), ())
        if not spans:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return span_text(spans[-1])
        if role == Qt.ItemDataRole.ToolTipRole:
            return as_plain("\n".join(span_text(span) for span in spans))
        reads = spans[-1].end_ns is None or spans[-1].reads_on
        if role == Role.HUE:
            return self._owners.hue(spans[-1].owner) if reads else None
        if role == Role.BADGE:
            return self._owners.letter(spans[-1].owner) if reads else None
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


def span_text(span: Span) -> str:
    """ "since 00:01.200", or "00:01.200 to 00:25.000" of what is over, with how long its owner read on."""
    start = session_time(span.start_ns)
    if span.end_ns is None:
        return tr("since {time}", time=start)
    end = session_time(span.end_ns)
    if span.reads_on:
        return tr("{start} to {end}, reads on until its next heartbeat", start=start, end=end)
    if span.read_until_ns is not None:
        return tr("{start} to {end}, read on until {time}", start=start, end=end, time=session_time(span.read_until_ns))
    return tr("{start} to {end}", start=start, end=end)
