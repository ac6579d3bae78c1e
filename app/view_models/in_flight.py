"""Messages under a lease: who holds them, and for how long yet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from operator import attrgetter

from PySide6.QtCore import QObject

from app.view_models.columns import Column
from app.view_models.formats import Times, plain_text, session_time
from app.view_models.owners import Owners
from app.view_models.table import TableModel
from broker_core.snapshots import LeaseView, QueueView, Snapshot
from filter_language import Field
from widgets.roles import Role
from widgets.words import tr

KEY_CHARS = 40  # As many leases as a snapshot may hold of all queues together without being called many.
SNAPSHOT_ROWS = 5_000


def _largest(sources: tuple[Sequence[LeaseView], ...]) -> Sequence[LeaseView]:
    return max(sources, key=len, default=())


_MORE = (
    (Field("inflight", "flag", "Held by somebody, as all here."), lambda _row: True),
    (Field("redelivered", "flag", "Delivered before."), lambda row: row.attempt > 1),
    (
        Field("last_attempt", "flag", "Goes to the dead letters if it fails now."),
        lambda row: row.attempt >= row.max_attempts,
    ),
)


class InFlightModel(TableModel[LeaseView]):
    """Leases, the one that ends first on top; `source` gives those of a queue: a snapshot holds the first ones only.

    Time left comes from the clock: a lease that stays costs nothing."""

    def __init__(self, owners: Owners, times: Times, parent: QObject | None = None) -> None:
        self._now_ns = 0
        self.whole = 0
        self._sources: tuple[Sequence[LeaseView], ...] = ()
        self.source: Callable[[QueueView], Sequence[LeaseView]] = attrgetter("leases")

        def key_text(row: LeaseView) -> str:
            return "" if row.key is None else plain_text(row.key, KEY_CHARS)

        columns = (
            Column[LeaseView]("Queue", lambda row: row.queue),
            Column[LeaseView](
                "Priority",
                lambda row: str(row.partition),
                lambda row: row.partition,
                numeric=True,
                about=tr("0 is the most urgent."),
            ),
            Column[LeaseView]("Offset", lambda row: f"{row.offset:,}", lambda row: row.offset, numeric=True),
            Column[LeaseView]("Key", key_text, hint=lambda row: "" if row.key is None else plain_text(row.key, 400)),
            Column[LeaseView](
                "Holder",
                lambda row: row.holder,
                roles={
                    Role.HUE: lambda row: owners.hue(row.holder) if row.holder else None,
                    Role.BADGE: lambda row: owners.letter(row.holder) or None,
                },
            ),
            Column[LeaseView](
                "Attempt",
                lambda row: tr("{attempt} of {max_attempts}", attempt=row.attempt, max_attempts=row.max_attempts),
                lambda row: row.attempt,
                numeric=True,
                roles={Role.WARN: lambda row: "failure" if row.attempt >= row.max_attempts > 1 else ""},
                about=tr("Deliveries of this message so far; after the last one it goes to the dead letters."),
            ),
            Column[LeaseView](
                "Acquired (session time)",
                lambda row: session_time(row.acquired_ns),
                lambda row: row.acquired_ns,
                numeric=True,
                hint=lambda row: times.hint(row.acquired_ns),
                kind="time",
            ),
            Column[LeaseView](
                "Time left (s)",
                self._left_text,
                lambda row: row.deadline_ns,
                kind="duration",
                value=self._left_ns,
                numeric=True,
                hint=lambda row: tr("The lease ends at:") + f"\n{times.hint(row.deadline_ns)}",
                roles={Role.COUNTDOWN: self._left_share},
                about=tr("Until the lease expires and the message is delivered again."),
                live=True,
            ),
        )
        super().__init__(columns, key=attrgetter("queue", "partition", "offset"), parent=parent, more=_MORE)

    def _left_ns(self, row: LeaseView) -> int:
        return max(0, row.deadline_ns - self._now_ns)

    def _left_text(self, row: LeaseView) -> str:
        return f"{self._left_ns(row) / 1e9:.1f}"

    def _left_share(self, row: LeaseView) -> float:
        whole_ns = row.deadline_ns - row.acquired_ns
        return min(1.0, self._left_ns(row) / whole_ns) if whole_ns > 0 else 0.0

    def set_snapshot(self, snapshot: Snapshot) -> None:
        """Show the leases of a snapshot; `whole` counts those in flight, listed or not."""
        moved = snapshot.time_ns != self._now_ns
        self._now_ns = snapshot.time_ns
        self.whole = sum(queue.in_flight for queue in snapshot.queues)
        sources = tuple(self.source(queue) for queue in snapshot.queues)
        same = len(sources) == len(self._sources) and all(
            a is b or (len(a) <= SNAPSHOT_ROWS and a == b) for a, b in zip(sources, self._sources, strict=True)
        )
        # To sort what a sweep has found takes a while: its rows change only with the next one.
        if not same and (len(self.rows) <= SNAPSHOT_ROWS or _largest(sources) is not _largest(self._sources)):
            self._sources = sources
            leases = list(chain.from_iterable(sources))
            leases.sort(key=attrgetter("deadline_ns", "queue", "partition", "offset"))
            self.set_rows(tuple(leases))
        if moved:
            self.touch_live()
