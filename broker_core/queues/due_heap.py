"""A heap of what ends at a certain time, from which nothing is ever searched for."""

from __future__ import annotations

import heapq

from broker_core.queues.spans import Span

Place = tuple[int, int]  # (time_ns, ticket): when something is due, and its turn among what is due then

_STALE_KEPT = 64  # entries of what is over already; when there are more, and more than half, they are swept out


class DueHeap:
    """Spans by (deadline, ticket). A span that has no members left is passed over, and swept out now and then."""

    __slots__ = ("_heap", "_serial", "_stale")

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, int, Span]] = []
        self._serial = 0
        self._stale = 0

    def __len__(self) -> int:
        return len(self._heap)

    def push(self, span: Span) -> None:
        """`span` is due at its deadline."""
        self._serial += 1
        heapq.heappush(self._heap, (span.deadline_ns, span.ticket, self._serial, span))

    def first(self) -> Span | None:
        """The span that is due first."""
        heap = self._heap
        while heap and not heap[0][3].open:
            heapq.heappop(heap)
            self._stale -= 1
        return heap[0][3] if heap else None

    def forget(self) -> None:
        """A span that was pushed has no members any more."""
        self._stale += 1
        if self._stale > _STALE_KEPT and self._stale * 2 > len(self._heap):
            self._heap = [entry for entry in self._heap if entry[3].open]
            heapq.heapify(self._heap)
            self._stale = 0
