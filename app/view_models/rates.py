"""Rates from counters that only grow: how many a second of session time."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable

WINDOW_NS = 1_000_000_000
_SAMPLE_NS = 50_000_000


class Rates:
    """Remembers counters for about a second of session time."""

    def __init__(self, window_ns: int = WINDOW_NS) -> None:
        self._window_ns = window_ns
        self._samples: dict[Hashable, deque[tuple[int, int]]] = {}

    def meet(self, name: Hashable, time_ns: int, counter: int) -> float:
        """The rate of a counter after one more look; 0 until there are two. A clock that runs back starts anew."""
        samples = self._samples.setdefault(name, deque())
        if samples and (time_ns < samples[-1][0] or counter < samples[-1][1]):
            samples.clear()
        if not samples or time_ns - samples[-1][0] >= _SAMPLE_NS:
            samples.append((time_ns, counter))
        # One sample beyond the window stays, so that the window is always covered.
        while len(samples) > 2 and samples[1][0] <= time_ns - self._window_ns:
            samples.popleft()
        first_ns, first = samples[0]
        last_ns, last = (time_ns, counter) if time_ns > first_ns else samples[-1]
        return (last - first) * 1e9 / (last_ns - first_ns) if last_ns > first_ns else 0.0
