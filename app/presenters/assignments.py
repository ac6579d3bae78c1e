from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from app.presenters.columns import Column, number_column, state_column, time_column
from app.presenters.owners import Owners
from app.presenters.panel_presenter import Sources, TablePresenter
from app.presenters.table import SnapshotModel, TableModel
from broker_core.recording.ownership import Ownership, Span
from broker_core.snapshots import GroupView, Snapshot, TopicView
from widgets.formats import Times, session_time
from widgets.i18n import tr
from widgets.panels.assignments import AssignmentsPanel
from widgets.panels.cell_painter import OwnedTime
from widgets.roles import Role

TOLD = 12  # spans in a tool tip, the last ones


class OwnershipRow(NamedTuple):
    """A partition with all of its spans up to `time_ns`."""

    topic: str
    partition: int
    spans: tuple[Span, ...]
    time_ns: int
    since_ns: int | None

    @property
    def owner(self) -> str:
        return self.spans[-1].owner if self.spans and self.spans[-1].end_ns is None else ""

    @property
    def owners(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(span.owner for span in self.spans))


class OwnershipModel(TableModel[OwnershipRow]):
    def __init__(self, owners: Owners, times: Times) -> None:
        self._owners = owners
        self._ownership = Ownership()
        columns: tuple[Column[OwnershipRow], ...] = (
            Column("Topic", lambda row: row.topic, (110, 1)),
            number_column("Partition", lambda row: row.partition, (84,), shown=str),
            owners.owner_column("Owner", lambda row: row.owner, (140, 1), nobody=tr("nobody")),
            time_column("Since (session time)", lambda row: row.since_ns, times, (140, 0, 1), field="since"),
            number_column(
                "Owners",
                lambda row: len(row.owners),
                (76, 0, 2),
                about="How many members have owned this partition so far.",
            ),
            Column(
                "Over time",
                lambda row: " ".join(row.owners),
                (260, 8),
                "owners",
                hint=lambda row: told(row.spans),
                roles={Role.OWNED_TIMES: self._owned_times},
                about="Its owners from the beginning of the session to the moment shown; gaps are times without an "
                "owner.",
                field="owned_by",
            ),
        )
        super().__init__(columns, key=lambda row: (row.topic, row.partition))

    def attach(self, ownership: Ownership) -> None:
        self._ownership = ownership
        self.set_rows(())

    def update(self, snapshot: Snapshot, group: str) -> None:
        ownership, at = self._ownership, (snapshot.time_ns, snapshot.events)
        spans = {place: ownership.spans(place, *at) for place in ownership.places(group)}
        self.set_rows(
            tuple(
                OwnershipRow(*place[1:], found, at[0], ownership.since_ns(place, found[-1].owner, *at))
                for place, found in spans.items()
                if found
            )
        )

    def _owned_times(self, row: OwnershipRow) -> tuple[OwnedTime, ...]:
        whole = max(1, row.time_ns)
        return tuple(
            OwnedTime(
                span.start_ns / whole,
                read_until_ns(span, row.time_ns) / whole,
                self._owners.hue(span.owner),
                self._owners.letter(span.owner),
            )
            for span in row.spans
        )


def read_until_ns(span: Span, now_ns: int) -> int:
    """Up to when its owner has read; `now_ns` while it does."""
    if span.end_ns is None or span.reads_on:
        return now_ns
    return max(span.end_ns, span.last_late_read_ns or 0)


def told(spans: tuple[Span, ...]) -> str:
    lines = [f"{span.owner}: {span_text(span)}" for span in spans[-TOLD:]]
    if len(spans) > TOLD:
        lines.insert(0, tr("{count:,} owners before", count=len(spans) - TOLD))
    return "\n".join(lines)


def span_text(span: Span) -> str:
    """ "since 00:01.200", or "00:01.200 to 00:25.000" of what is over, with how long its owner read on."""
    start = session_time(span.start_ns)
    if span.end_ns is None:
        return tr("since {time}", time=start)
    end = session_time(span.end_ns)
    if span.reads_on:
        return tr("{start} to {end}, reads on until its next heartbeat", start=start, end=end)
    if span.last_late_read_ns is not None:
        return tr(
            "{start} to {end}, read on until {time}", start=start, end=end, time=session_time(span.last_late_read_ns)
        )
    return tr("{start} to {end}", start=start, end=end)


class AssignmentRow(NamedTuple):
    """One partition in one group; `owner` and `group` are "" if there is none."""

    group: str
    topic: str
    partition: int
    owner: str
    since_ns: int | None
    state: str


class AssignmentsModel(SnapshotModel[AssignmentRow]):
    def __init__(self, owners: Owners, times: Times) -> None:
        self._ownership = Ownership()
        columns: tuple[Column[AssignmentRow], ...] = (
            Column("Topic", lambda row: row.topic, (130, 3)),
            number_column("Partition", lambda row: row.partition, (84,), shown=str),
            Column("Group", lambda row: row.group or tr("no group"), (120, 2)),
            owners.owner_column("Owner", lambda row: row.owner, (150, 3), nobody=tr("nobody")),
            time_column(
                "Since (session time)",
                lambda row: row.since_ns,
                times,
                (160,),
                field="since",
                about="When the owner got this partition; rebalances that left it there do not count. Wall time on "
                "hover.",
            ),
            state_column("State", lambda row: row.state, (190, 1), about="The state of the group."),
        )
        super().__init__(columns, key=lambda row: row[:3])

    def attach(self, ownership: Ownership) -> None:
        self._ownership = ownership

    def set_snapshot(self, snapshot: Snapshot) -> None:
        rows: list[AssignmentRow] = []
        read: set[str] = set()
        topics = {topic.name: topic for topic in snapshot.topics}
        for group in snapshot.groups:
            read.update(group.topics)
            rows.extend(self._of_group(group, topics, snapshot))
        for topic in snapshot.topics:
            if topic.name not in read:
                rows.extend(
                    AssignmentRow("", topic.name, part.partition, "", None, tr("Unread")) for part in topic.partitions
                )
        self.set_rows(tuple(sorted(rows, key=lambda row: (row.topic, row.partition, row.group))))

    def _of_group(self, group: GroupView, topics: Mapping[str, TopicView], at: Snapshot) -> list[AssignmentRow]:
        owned = group.owners
        places = {(offset.topic, offset.partition) for offset in group.offsets} | owned.keys()
        for name in group.topics:
            if name in topics:
                places |= {(name, part.partition) for part in topics[name].partitions}
        rows = []
        for topic_name, partition in places:
            owner, place = owned.get((topic_name, partition), ""), (group.name, topic_name, partition)
            since_ns = self._ownership.since_ns(place, owner, at.time_ns, at.events) if owner else None
            rows.append(AssignmentRow(group.name, topic_name, partition, owner, since_ns, group.state))
        return rows


class AssignmentsPresenter(TablePresenter[AssignmentsPanel]):
    panel_class = AssignmentsPanel

    def __init__(self, sources: Sources) -> None:
        self.model = AssignmentsModel(sources.owners, sources.times)
        self.ownership = OwnershipModel(sources.owners, sources.times)
        super().__init__(sources, self.model, self.ownership)
        self.panel.groupChosen.connect(lambda _name: self.show_again())
        self.panel.secondShown.connect(self._turn)

    def _turn(self, history: bool) -> None:
        self.filter_in(self.ownership if history else self.model)
        self.show_again()

    def restart(self) -> None:
        super().restart()
        for model in (self.model, self.ownership):
            model.attach(self._controller.collectors.ownership)

    def thing_of(self, key: Any) -> str:
        return f"lane:{key[-2]}/{key[-1]}"

    def show_around(self, snapshot: Snapshot) -> None:
        names = [group.name for group in snapshot.groups]
        shown = self.panel.groups.currentText()
        shown = shown if shown in names else (names[0] if names else "")
        self.panel.set_groups(names, shown)
        if self.panel.shows_second:
            self.ownership.update(snapshot, shown)
