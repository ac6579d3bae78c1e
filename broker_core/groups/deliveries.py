"""Who of a group was given which offsets of one partition, and whether an offset is given for the first time.

What a client fetches again is not what the broker delivers again. A client fetches ahead, and drops what it has fetched
at a seek, at a pause, or where it loses the partition: it is *fetched again*, by it or by who has the partition then.
It is *delivered again* where somebody had acknowledged it, or where its reader has gone without acknowledging it: that
one may have handled it.
"""

from __future__ import annotations

from collections.abc import Callable

from broker_core.events import is_by_hand

_AGAIN = 2  # the attempt; the third is not told from the second
Part = tuple[int, int, int | None]  # from an offset up to another, as which attempt; None is fetched again


class Deliveries:
    """Of one group and partition. `reader` is a member id or a reader by hand."""

    __slots__ = ("_acknowledged", "_end", "_runs")

    def __init__(self, acknowledged: int | None) -> None:
        """The offset before which everything was acknowledged; None where nothing was."""
        self._acknowledged = acknowledged
        self._end = 0  # of the furthest delivery
        self._runs: list[tuple[int, int, str]] = []  # what is not acknowledged, by offset, and who got it last

    def acknowledge(self, offset: int) -> None:
        """Everything before `offset` is acknowledged, once and for all: going back is a delivery again."""
        if self._acknowledged is None or offset > self._acknowledged:
            self._acknowledged = offset
            self._runs = _without(self._runs, 0, offset)

    def take(self, start: int, end: int, reader: str, is_gone: Callable[[str], bool]) -> list[Part]:
        """Offsets from `start` to `end` are given to `reader`. `is_gone(reader)` tells who can acknowledge no more."""
        done = self._acknowledged or 0
        if start >= self._end and start >= done:
            self._add(start, end, reader)
            self._end = end
            return [(start, end, 1)]
        parts: list[Part] = []
        at = start
        if at < done:
            at = min(end, done)
            parts.append((start, at, _AGAIN))
        for first, stop, before in [run for run in self._runs if run[0] < end and run[1] > at]:
            if first > at:
                _join(parts, at, first, 1)
            again = before != reader and self._was_lost(before, is_gone)
            _join(parts, max(at, first), min(stop, end), _AGAIN if again else None)
            at = min(stop, end)
        if at < end:
            _join(parts, at, end, 1)
        if end > done:
            start = max(start, done)
            self._runs = _without(self._runs, start, end)
            self._add(start, end, reader)
            self._end = max(self._end, end)
        return parts

    def _was_lost(self, reader: str, is_gone: Callable[[str], bool]) -> bool:
        """Whether `reader` has gone. One by hand that acknowledges nothing keeps its offsets itself."""
        return is_gone(reader) and (self._acknowledged is not None or not is_by_hand(reader))

    def _add(self, start: int, end: int, reader: str) -> None:
        runs = self._runs
        if runs and runs[-1][1] == start and runs[-1][2] == reader:
            runs[-1] = (runs[-1][0], end, reader)
            return
        runs.append((start, end, reader))
        if len(runs) > 1 and runs[-2][0] > start:
            runs.sort()


def _join(parts: list[Part], start: int, end: int, attempt: int | None) -> None:
    if parts and parts[-1][2] == attempt:
        parts[-1] = (parts[-1][0], end, attempt)
    else:
        parts.append((start, end, attempt))


def _without(runs: list[tuple[int, int, str]], start: int, end: int) -> list[tuple[int, int, str]]:
    """The runs without the offsets from `start` to `end`."""
    return [
        (low, high, reader)
        for first, stop, reader in runs
        for low, high in ((first, min(stop, start)), (max(first, end), stop))
        if low < high
    ]
