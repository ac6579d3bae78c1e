"""A heap of spans by deadline, with lazy removal."""

from __future__ import annotations

import heapq

from broker_core.queues.spans import Span

Place = tuple[int, int]  # (time_ns, ticket): a due time, and the order among equal times

_STALE_KEPT = 64  # stale entries that are kept; above that, and above half, they are removed


class DueHeap:
    """Spans by (deadline, ticket). A span without members is stale: it is skipped, and removed now and then."""

    __slots__ = ("_heap", "_serial", "_stale")

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, int, Span]] = []
        self._serial = 0
        self._stale = 0

    def __len__(self) -> int:
        return len(self._heap)

    def push(self, span: Span) -> None:
        """Add `span`."""
        self._serial += 1
        heapq.heappush(self._heap, (span.deadline_ns, span.ticket, self._serial, span))

    def first(self) -> Span | None:
        """The span with the earliest deadline."""
        heap = self._heap
        while heap and not heap[0][3].open:
            heapq.heappop(heap)
            self._stale -= 1
        return heap[0][3] if heap else None

    def forget(self) -> None:
        """Note that a span has lost its last member."""
        self._stale += 1
        if self._stale > _STALE_KEPT and self._stale * 2 > len(self._heap):
            self._heap = [entry for entry in self._heap if entry[3].open]
            heapq.heapify(self._heap)
            self._stale = 0
