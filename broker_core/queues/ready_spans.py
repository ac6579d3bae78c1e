"""Ready spans, by priority and then by offset."""

from __future__ import annotations

import heapq
from collections.abc import Iterator

from broker_core.queues.spans import Span


class ReadySpans:
    """A heap for each of `priorities`. Spans without members are skipped."""

    __slots__ = ("_heaps", "_serial")

    def __init__(self, priorities: int) -> None:
        self._heaps: list[list[tuple[int, int, Span]]] = [[] for _ in range(priorities)]
        self._serial = 0

    def __len__(self) -> int:
        """The number of priorities."""
        return len(self._heaps)

    def __iter__(self) -> Iterator[Span]:
        """All spans in the order of delivery."""
        return (span for heap in self._heaps for _, _, span in sorted(heap) if span.open)

    def push(self, span: Span) -> None:
        """Add `span`."""
        self._serial += 1
        heapq.heappush(self._heaps[span.priority], (span.offset, self._serial, span))

    def first(self, priority: int) -> Span | None:
        """The span of `priority` with the lowest offset."""
        heap = self._heaps[priority]
        while heap and not heap[0][2].open:
            heapq.heappop(heap)
        return heap[0][2] if heap else None

    def pop(self, priority: int) -> None:
        """Remove the first span of `priority`."""
        heapq.heappop(self._heaps[priority])

    def filled(self) -> list[int]:
        """The priorities that have spans, the most urgent first."""
        return [priority for priority in range(len(self._heaps)) if self.first(priority) is not None]
