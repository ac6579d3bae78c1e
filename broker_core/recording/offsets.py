"""A set of offsets of one partition, kept as runs."""

from __future__ import annotations

from bisect import bisect_left, bisect_right


class Offsets:
    """Offsets, mostly in few runs: adding at the end costs nothing."""

    __slots__ = ("_ends", "_starts")

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []

    def add(self, start: int, end: int) -> None:
        """Those from `start` up to `end`, whether they are in it or not."""
        if start >= end:
            return
        if self._ends and start == self._ends[-1]:
            self._ends[-1] = end
            return
        first, last = bisect_left(self._ends, start), bisect_right(self._starts, end)
        if first < last:
            start, end = min(start, self._starts[first]), max(end, self._ends[last - 1])
        self._starts[first:last] = [start]
        self._ends[first:last] = [end]

    def remove(self, start: int, end: int) -> None:
        """Those from `start` up to `end` are in it no longer."""
        kept = [
            (low, high)
            for first, stop in zip(self._starts, self._ends, strict=True)
            for low, high in ((first, min(stop, start)), (max(first, end), stop))
            if low < high
        ]
        self._starts, self._ends = [low for low, _ in kept], [high for _, high in kept]

    def gaps(self, start: int, end: int) -> list[tuple[int, int]]:
        """(first, end) of those between that are not in it."""
        found = []
        at = start
        for number in range(bisect_right(self._ends, start), len(self._starts)):
            if self._starts[number] >= end:
                break
            if self._starts[number] > at:
                found.append((at, self._starts[number]))
            at = self._ends[number]
        if at < end:
            found.append((at, end))
        return found

    def between(self, start: int, end: int) -> int:
        """How many from `start` up to `end` are in it."""
        return max(0, end - start) - sum(stop - first for first, stop in self.gaps(start, end))
