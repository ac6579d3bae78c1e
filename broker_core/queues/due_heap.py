from __future__ import annotations

import heapq
from collections.abc import Callable

from broker_core.queues.spans import LeaseSpan
from broker_core.timers import Timer, Timers

Due = tuple[int, int]  # (time_ns, ticket): a due time, and the order among equal times

_STALE_KEPT = 64  # stale entries that are kept; above that, and above half, they are removed


class DueHeap:
    """Spans by (deadline, ticket). A span without members is stale: it is skipped, and removed now and then."""

    __slots__ = ("_heap", "_serial", "_stale")

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, int, LeaseSpan]] = []
        self._serial = 0
        self._stale = 0

    def __len__(self) -> int:
        return len(self._heap)

    def push(self, span: LeaseSpan) -> None:
        self._serial += 1
        heapq.heappush(self._heap, (span.lease.deadline_ns, span.ticket, self._serial, span))

    def first(self) -> LeaseSpan | None:
        heap = self._heap
        while heap and not heap[0][3].open:
            heapq.heappop(heap)
            self._stale -= 1
        return heap[0][3] if heap else None

    def count_stale(self) -> None:
        self._stale += 1
        if self._stale > _STALE_KEPT and self._stale * 2 > len(self._heap):
            self._heap = [entry for entry in self._heap if entry[3].open]
            heapq.heapify(self._heap)
            self._stale = 0


class DueTimer:
    """A timer that fires at the earliest of the times for which it was armed."""

    def __init__(self, timers: Timers, fire: Callable[[int, Due], object]) -> None:
        """`fire(time_ns, due)` is called when due, and has to arm the timer again."""
        self._timers = timers
        self._fire = fire
        self._due: Due | None = None
        self._timer: Timer | None = None

    def due_in(self, wait_ns: int, now_ns: int) -> Due:
        """A new due time, `wait_ns` from now, after all earlier ones of the same time; the timer is armed for it."""
        due = (now_ns + wait_ns, self._timers.ticket())
        self.arm(due)
        return due

    def arm(self, due: Due | None) -> None:
        if due is None or (self._due is not None and self._due <= due):
            return
        if self._timer is not None:
            self._timer.cancel()
        self._due = due
        self._timer = self._timers.at(due[0], self._fired, due[1])

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._due = self._timer = None

    def _fired(self, time_ns: int) -> None:
        due, self._due, self._timer = self._due, None, None
        if due is not None:
            self._fire(time_ns, due)
