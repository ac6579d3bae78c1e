from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from operator import attrgetter
from typing import Any

import msgspec

from app.presenters.columns import KEY_CHARS, Column, key_column, number_column, time_column
from app.presenters.owners import Owners
from app.presenters.panel_presenter import Sources, TablePresenter, overfull_words
from app.presenters.table import SnapshotModel
from app.sessions.browsing.beyond_snapshot import LeaseSweep
from app.sessions.history.life import Place
from broker_core.filters import Field
from broker_core.snapshots import LeaseView, QueueView, Snapshot
from widgets.formats import NOT_APPLICABLE, Times, messages, plain_text
from widgets.i18n import localized, tr
from widgets.panels.panel import declared
from widgets.panels.table_panel import TablePanel
from widgets.roles import Role

NEVER_NS = 1 << 62
# As many leases as a snapshot may hold of all queues together without being called many.
SNAPSHOT_ROWS = 5_000


class GroupHold(msgspec.Struct, frozen=True):
    """Messages delivered to the owner of a partition and not yet committed: `count` messages from `offset` up to `end`.

    Named as in `LeaseView`; it has no deadline.
    """

    queue: str
    topic: str
    partition: int
    offset: int
    end: int
    count: int
    holder: str
    key: None = None
    acquired_ns: None = None
    deadline_ns: int = NEVER_NS
    attempt: int = 0
    max_attempts: int = 0


Row = LeaseView | GroupHold


def group_holds(snapshot: Snapshot) -> list[GroupHold]:
    found = []
    for group in snapshot.groups:
        for at in group.offsets:
            if at.in_flight and at.in_flight_from is not None:
                end = max(at.in_flight_from + at.in_flight, at.position or 0)
                found.append(
                    GroupHold(group.name, at.topic, at.partition, at.in_flight_from, end, at.in_flight, at.owner)
                )
    return found


def attempt_words(lease: LeaseView) -> str:
    """The attempt, as "2 of 5", or "2" if the limit is not known."""
    if not lease.has_limits:
        return str(lease.attempt)
    return tr("{attempt} of {max_attempts}", attempt=lease.attempt, max_attempts=lease.max_attempts or "∞")


def in_flight_words(snapshot: Snapshot) -> str:
    """How many messages are in flight; of what a group holds of a compacted topic, some may be removed."""
    held = (at for group in snapshot.groups for at in group.offsets if at.in_flight)
    at_most = any(at.topic in snapshot.compacted for at in held)
    words = tr("{count:,} in flight", count=in_flight_of(snapshot))
    return tr("at most {messages}", messages=words) if at_most else words


def in_flight_of(snapshot: Snapshot) -> int:
    return sum(queue.in_flight for queue in snapshot.queues) + sum(
        at.in_flight for group in snapshot.groups for at in group.offsets
    )


def _key(row: Row) -> tuple[str, ...] | tuple[str, int, int]:
    if isinstance(row, GroupHold):
        return (row.queue, row.topic, str(row.partition))
    return (row.queue, row.partition, row.offset)


def _offsets(row: Row) -> str:
    if isinstance(row, GroupHold) and row.count > 1:
        return tr("{first:,} to {last:,}", first=row.offset, last=row.end - 1)
    return localized(f"{row.offset:,}")


def _largest(sources: tuple[Sequence[Row], ...]) -> Sequence[Row]:
    return max(sources, key=len, default=())


_MORE = (
    (Field("inflight", "flag", "In flight, like all messages in this list."), lambda _row: True),
    (Field("redelivered", "flag", "Delivered before."), lambda row: row.attempt > 1),
    (
        Field("last_attempt", "flag", "Dead-lettered if this attempt fails."),
        lambda row: row.attempt >= row.max_attempts > 0,
    ),
)


class InFlightModel(SnapshotModel[Row]):
    """Leases, the one that ends first on top; `of_queue` gives those of a queue: a snapshot holds the first ones only.

    Time left comes from the clock: a lease that stays costs nothing."""

    def __init__(
        self, owners: Owners, times: Times, of_queue: Callable[[QueueView], Sequence[LeaseView]] = attrgetter("leases")
    ) -> None:
        self._of_queue = of_queue
        self._now_ns = 0
        self.whole = self.listed = 0
        self._sources: tuple[Sequence[Row], ...] = ()

        def key_text(row: Row) -> str:
            if isinstance(row, GroupHold):
                return messages(row.count)
            return "" if row.key is None else plain_text(row.key, KEY_CHARS)

        def place(row: Row) -> str:
            return f"{row.queue}, {row.topic}/{row.partition}" if isinstance(row, GroupHold) else row.queue

        columns: tuple[Column[Row], ...] = (
            Column("Queue", place, (110, 2), about="Or the group, with the partition it reads."),
            number_column(
                "Priority",
                lambda row: None if isinstance(row, GroupHold) else row.partition,
                (74,),
                about="0 is the most urgent; a group has none.",
            ),
            number_column("Offset", lambda row: row.offset, (112,), text=_offsets),
            key_column(lambda row: row.key, (130, 3), text=key_text, value=key_text),
            owners.owner_column("Holder", lambda row: row.holder, (130, 2)),
            number_column(
                "Attempt",
                lambda row: row.attempt,
                (84,),
                text=lambda row: NOT_APPLICABLE if isinstance(row, GroupHold) else attempt_words(row),
                roles={Role.WARN: lambda row: "failure" if row.attempt >= row.max_attempts > 1 else ""},
                about="Deliveries of this message so far; after the last attempt it becomes a dead letter.",
            ),
            time_column(
                "Acquired (session time)",
                lambda row: row.acquired_ns,
                times,
                (180, 0, 1),
                field="acquired",
                absent=NOT_APPLICABLE,
            ),
            Column(
                "Time left (s)",
                self._left_text,
                (170, 2),
                "countdown",
                sort=lambda row: row.deadline_ns,
                kind="duration",
                value=self._left_ns,
                hint=lambda row: (
                    tr("Until it is committed; a group has no leases.")
                    if isinstance(row, GroupHold)
                    else NOT_APPLICABLE
                    if not row.has_limits
                    else tr("The lease ends at:") + f"\n{times.hint(row.deadline_ns)}"
                ),
                roles={Role.COUNTDOWN: self._left_share},
                about="Until the lease expires and the message is delivered again.",
                live=True,
            ),
        )
        super().__init__(columns, key=_key, more=_MORE)

    def _left_ns(self, row: Row) -> int | None:
        known = isinstance(row, LeaseView) and row.has_limits
        return max(0, row.deadline_ns - self._now_ns) if known else None

    def _left_text(self, row: Row) -> str:
        left_ns = self._left_ns(row)
        return NOT_APPLICABLE if left_ns is None else localized(f"{left_ns / 1e9:.1f}")

    def _left_share(self, row: Row) -> float | None:
        if isinstance(row, GroupHold) or not row.has_limits:
            return None
        return min(1.0, max(0, row.deadline_ns - self._now_ns) / (row.deadline_ns - row.acquired_ns))

    def set_snapshot(self, snapshot: Snapshot) -> None:
        """Show what is in flight; `whole` counts all of it in messages, `listed` what the rows hold."""
        moved = snapshot.time_ns != self._now_ns
        self._now_ns = snapshot.time_ns
        self.whole = in_flight_of(snapshot)
        held = group_holds(snapshot)
        sources: tuple[Sequence[Row], ...] = (*map(self._of_queue, snapshot.queues), held)
        same = len(sources) == len(self._sources) and all(
            a is b or (len(a) <= SNAPSHOT_ROWS and a == b) for a, b in zip(sources, self._sources, strict=True)
        )
        # To sort what a sweep has found takes a while: its rows change only with the next one.
        if not same and (len(self.rows) <= SNAPSHOT_ROWS or _largest(sources) is not _largest(self._sources)):
            self._sources = sources
            rows = list(chain.from_iterable(sources))
            rows.sort(key=attrgetter("deadline_ns", "queue", "partition", "offset"))
            self.listed = len(rows) - len(held) + sum(row.count for row in held)
            self.set_rows(tuple(rows))
        if moved:
            self.touch_live()

    def restart(self) -> None:
        self._sources = ()
        self.set_rows(())


class InFlightPanel(TablePanel):
    info = declared("in_flight")
    multiple = True


class InFlightPresenter(TablePresenter[InFlightPanel]):
    panel_class = InFlightPanel

    def __init__(self, sources: Sources) -> None:
        self._sweep = LeaseSweep(sources.controller)
        self.model = InFlightModel(sources.owners, sources.times, self._sweep.rows)
        super().__init__(sources, self.model)
        self._sweep.setParent(self)
        self._sweep.changed.connect(self.show_again)

    def restart(self) -> None:
        super().restart()
        self._sweep.restart()
        self.model.restart()

    def thing_of(self, key: Any) -> str:
        queue, second, third = key
        if isinstance(second, str):
            return f"lane:{second}/{third}"
        scenario = self._controller.source.scenario
        topic = queue if scenario is None else scenario.subscriptions.get(queue, queue)
        return Place(topic, second, third).id

    def show_around(self, snapshot: Snapshot) -> None:
        if self._controller.live:
            self._sweep.update(snapshot)
        self.panel.set_note(overfull_words(self.model.listed, self.model.whole, tr("messages in flight")))
        self.panel.set_messages(self.model.listed)
