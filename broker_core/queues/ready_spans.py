"""The ready messages of a lease table that were delivered before or have a priority, the lowest offsets first."""

from __future__ import annotations

import heapq
from collections.abc import Iterator

from broker_core.queues.spans import LeaseSpan


class ReadySpans:
    """A heap for each of `priorities`. Spans without members are skipped."""

    __slots__ = ("_heaps", "_serial")

    def __init__(self, priorities: int) -> None:
        self._heaps: list[list[tuple[int, int, LeaseSpan]]] = [[] for _ in range(priorities)]
        self._serial = 0

    def __len__(self) -> int:
        return len(self._heaps)

    def __iter__(self) -> Iterator[LeaseSpan]:
        return (span for heap in self._heaps for _, _, span in sorted(heap) if span.open)

    def push(self, span: LeaseSpan) -> None:
        self._serial += 1
        heapq.heappush(self._heaps[span.lease.priority], (span.offset, self._serial, span))

    def first(self, priority: int) -> LeaseSpan | None:
        heap = self._heaps[priority]
        while heap and not heap[0][2].open:
            heapq.heappop(heap)
        return heap[0][2] if heap else None

    def pop(self, priority: int) -> None:
        heapq.heappop(self._heaps[priority])

    def filled(self) -> list[int]:
        return [priority for priority in range(len(self._heaps)) if self.first(priority) is not None]
