"""All leases of a busy queue, beyond those that a snapshot holds: read in sweeps, a page at a time."""

from __future__ import annotations

import time
from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from app.sessions.queries import Answers, Asked
from broker_core.operations.browse import LeasesPage, ListLeases
from broker_core.snapshots import LeaseView, QueueView, Snapshot

SWEEP_S = 2.0


class _Swept:
    """The leases of one queue: those of the last whole sweep, and of the one under way."""

    def __init__(self) -> None:
        self.rows: tuple[LeaseView, ...] = ()
        self.found: list[LeaseView] = []
        self.busy = False
        self.swept_s = -SWEEP_S


class LeaseSweep(QObject):
    """`changed` when a sweep is whole. Nothing is asked for queues that a snapshot holds whole."""

    changed = Signal()

    def __init__(self, asked: Asked, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._answers = Answers(asked, self)
        self._queues: dict[str, _Swept] = {}

    def restart(self) -> None:
        self._answers.drop()
        self._queues.clear()

    def rows(self, queue: QueueView) -> Sequence[LeaseView]:
        """The leases of a queue: as the snapshot has them if it has all, else as of the last sweep."""
        swept = self._queues.get(queue.name)
        if queue.in_flight <= len(queue.leases) or swept is None or len(swept.rows) < len(queue.leases):
            return queue.leases
        return swept.rows

    def update(self, snapshot: Snapshot) -> None:
        for queue in snapshot.queues:
            if queue.in_flight <= len(queue.leases):
                self._queues.pop(queue.name, None)
                continue
            swept = self._queues.setdefault(queue.name, _Swept())
            if not swept.busy and time.perf_counter() - swept.swept_s >= SWEEP_S:
                swept.busy, swept.found = True, []
                self._ask(queue.name, swept, 0, 0)

    def _ask(self, name: str, swept: _Swept, level: int, offset: int) -> None:
        def answered(page: LeasesPage) -> None:
            swept.found += page.leases
            if page.level >= 0:
                self._ask(name, swept, page.level, page.offset)
                return
            swept.busy, swept.swept_s = False, time.perf_counter()
            swept.rows = tuple(swept.found)
            self.changed.emit()

        def failed(_sentence: str) -> None:
            swept.busy, swept.swept_s = False, time.perf_counter()

        self._answers.ask(ListLeases(queue=name, level=level, offset=offset), answered, failed)
