"""Runs of offsets, each with a value."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import Generic, TypeVar

V = TypeVar("V")


class Runs(Generic[V]):
    """Runs that do not overlap, in order; neighbours of equal value are one. Adding at the end costs nothing."""

    __slots__ = ("_ends", "_starts", "_values")

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._values: list[V] = []

    def __len__(self) -> int:
        return len(self._starts)

    def __iter__(self) -> Iterator[tuple[int, int, V]]:
        """(first, end, value) of each run."""
        return zip(self._starts, self._ends, self._values, strict=True)

    def copy(self) -> Runs[V]:
        found: Runs[V] = Runs()
        found._starts, found._ends, found._values = [*self._starts], [*self._ends], [*self._values]
        return found

    @property
    def end(self) -> int:
        """The offset after the last run; 0 without runs."""
        return self._ends[-1] if self._ends else 0

    def put(self, first: int, end: int, value: V) -> None:
        """The offsets from `first` up to `end` have `value` from now on."""
        starts, ends, values = self._starts, self._ends, self._values
        if first >= end:
            return
        if not ends or first >= ends[-1]:
            if ends and first == ends[-1] and values[-1] == value:
                ends[-1] = end
            else:
                starts.append(first)
                ends.append(end)
                values.append(value)
            return
        low = bisect_right(ends, first)
        if low and ends[low - 1] == first == starts[low] and values[low - 1] == value and self._moves(low, end):
            return
        high = bisect_left(starts, end)
        new = [(first, end, value)]
        if low < high:
            if starts[low] < first:
                new.insert(0, (starts[low], first, values[low]))
            if ends[high - 1] > end:
                new.append((end, ends[high - 1], values[high - 1]))
        if low and ends[low - 1] == new[0][0]:
            low -= 1
            new.insert(0, (starts[low], ends[low], values[low]))
        if high < len(starts) and starts[high] == new[-1][1]:
            new.append((starts[high], ends[high], values[high]))
            high += 1
        joined = _joined(new)
        starts[low:high] = [run[0] for run in joined]
        ends[low:high] = [run[1] for run in joined]
        values[low:high] = [run[2] for run in joined]

    def _moves(self, low: int, end: int) -> bool:
        """The run before takes offsets up to `end` from it, as when a group commits one message after the other."""
        starts, ends = self._starts, self._ends
        if end < ends[low]:
            ends[low - 1] = starts[low] = end
            return True
        if end > ends[low] or low < len(starts) - 1:
            return False
        ends[low - 1] = end
        del starts[low], ends[low], self._values[low]
        return True

    def remove(self, first: int, end: int) -> None:
        """The offsets from `first` up to `end` have no value any more."""
        kept = [
            (low, high, value)
            for start, stop, value in self
            for low, high in ((start, min(stop, first)), (max(start, end), stop))
            if low < high
        ]
        self._starts, self._ends = [run[0] for run in kept], [run[1] for run in kept]
        self._values = [run[2] for run in kept]

    def around(self, first: int, end: int) -> V | None:
        """The value of the run that all offsets from `first` up to `end` are in; None if there is none."""
        number = bisect_right(self._ends, first)
        inside = number < len(self._starts) and self._starts[number] <= first and end <= self._ends[number]
        return self._values[number] if inside else None

    def split(self, first: int, end: int) -> list[tuple[int, int, V | None]]:
        """The offsets from `first` up to `end` by the runs that they are in; with None where they are in none."""
        found: list[tuple[int, int, V | None]] = []
        at = first
        for number in range(bisect_right(self._ends, first), len(self._starts)):
            start = self._starts[number]
            if start >= end:
                break
            if start > at:
                found.append((at, start, None))
                at = start
            stop = min(self._ends[number], end)
            found.append((at, stop, self._values[number]))
            at = stop
        if at < end:
            found.append((at, end, None))
        return found

    def gaps(self, first: int, end: int) -> list[tuple[int, int]]:
        """(first, end) of the offsets between that are in no run."""
        return [(low, high) for low, high, value in self.split(first, end) if value is None]

    def between(self, first: int, end: int) -> int:
        """How many of the offsets from `first` up to `end` are in a run."""
        return sum(high - low for low, high, value in self.split(first, end) if value is not None)


def _joined(runs: list[tuple[int, int, V]]) -> list[tuple[int, int, V]]:
    """Neighbours of equal value are one."""
    joined = [runs[0]]
    for start, stop, each in runs[1:]:
        before = joined[-1]
        if before[1] == start and before[2] == each:
            joined[-1] = (before[0], stop, each)
        else:
            joined.append((start, stop, each))
    return joined
