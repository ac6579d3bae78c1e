"""Timers that are asked for and fire as calls, in the order of (time, creation)."""

from __future__ import annotations

import heapq
from collections.abc import Callable

Action = Callable[[int], object]


class Timer:
    """One pending call; `cancel` it when it is no longer wanted."""

    __slots__ = ("action",)

    def __init__(self, action: Action) -> None:
        self.action: Action | None = action

    def cancel(self) -> None:
        """It will not fire."""
        self.action = None


class Timers:
    """A heap of deadlines. It has no clock: `fire_next` is called by whoever drives time."""

    def __init__(self) -> None:
        # (deadline, place in line, number, timer): the number keeps two timers with one ticket from being compared.
        self._heap: list[tuple[int, int, int, Timer]] = []
        self._order = 0
        self._made = 0

    def ticket(self) -> int:
        """A place in the order of creation, for a timer that is only armed later (one timer for many deadlines)."""
        self._order += 1
        return self._order - 1

    def at(self, deadline_ns: int, action: Action, ticket: int | None = None) -> Timer:
        """Call `action(deadline_ns)` when time reaches `deadline_ns`; `ticket` says which place in line it has kept."""
        timer = Timer(action)
        self._made += 1
        place = self.ticket() if ticket is None else ticket
        heapq.heappush(self._heap, (deadline_ns, place, self._made, timer))
        return timer

    def next_deadline_ns(self) -> int | None:
        """The earliest pending deadline, or None."""
        heap = self._heap
        while heap and heap[0][3].action is None:
            heapq.heappop(heap)
        return heap[0][0] if heap else None

    def fire_next(self, now_ns: int) -> int | None:
        """Fire the earliest timer that is due at `now_ns`; the deadline it had, or None where nothing is due.

        The action gets its own deadline as the time, so that work done late still happens at the right moment.
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
