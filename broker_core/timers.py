"""Timers without a clock, which fire in the order of (time, creation)."""

from __future__ import annotations

import heapq
from collections.abc import Callable

Action = Callable[[int], object]


class Timer:
    """A pending call."""

    __slots__ = ("action",)

    def __init__(self, action: Action) -> None:
        self.action: Action | None = action

    def cancel(self) -> None:
        self.action = None


class Timers:
    """A heap of timers. The driver of time calls `fire_next`."""

    def __init__(self) -> None:
        # (deadline, ticket, number, timer): with the number, timers with one ticket are never compared.
        self._heap: list[tuple[int, int, int, Timer]] = []
        self._order = 0
        self._made = 0

    def ticket(self) -> int:
        """A position in the order of creation, for a timer that is created later."""
        self._order += 1
        return self._order - 1

    def at(self, deadline_ns: int, action: Action, ticket: int | None = None) -> Timer:
        """Call `action(deadline_ns)` at `deadline_ns`. `ticket` is its position among timers of the same time."""
        timer = Timer(action)
        self._made += 1
        place = self.ticket() if ticket is None else ticket
        heapq.heappush(self._heap, (deadline_ns, place, self._made, timer))
        return timer

    def at_end_of_wait(self, deadline_ns: int, action: Action) -> Timer:
        """`at`, for the end of a request that waits. A host whose session time can be stopped ends it nonetheless."""
        return self.at(deadline_ns, action)

    def next_deadline_ns(self) -> int | None:
        heap = self._heap
        while heap and heap[0][3].action is None:
            heapq.heappop(heap)
        return heap[0][0] if heap else None

    def fire_next(self, now_ns: int) -> int | None:
        """Fire the earliest timer that is due at `now_ns`. Returns its deadline, None if none is due.

        The action gets its deadline as the time, even if it is fired late.
        """
        deadline_ns = self.next_deadline_ns()
        if deadline_ns is None or deadline_ns > now_ns:
            return None
        timer = heapq.heappop(self._heap)[3]
        action, timer.action = timer.action, None
        if action is not None:
            action(deadline_ns)
        return deadline_ns

    def __len__(self) -> int:
        return sum(entry[3].action is not None for entry in self._heap)
