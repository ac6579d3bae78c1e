from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import pyarrow.compute as pc

from app.sessions.history.past import Past
from app.sessions.history.recorded import ALL
from broker_core.events import FETCHED_AGAIN, Event, EventKind

_RETURNS = frozenset({EventKind.NACKED, EventKind.LEASE_EXPIRED, EventKind.RELEASED})
_MOVES_BACK = frozenset({EventKind.OFFSETS_RESET, EventKind.REBALANCE_COMPLETED})
KINDS = frozenset({EventKind.DELIVERED}) | _RETURNS | _MOVES_BACK


class Redelivery(NamedTuple):
    """`messages` from `offset` on, which `delivered` gave to a reader once more, or which a client fetched once more.

    `before` is the delivery before that, None if it is no longer kept; `why` what lay between: the message came
    back, or the group's offsets were reset or its members changed; None if the reader itself went back. `times` is
    how often these messages were delivered to the reader by then.
    """

    offset: int
    messages: int
    delivered: Event
    before: Event | None
    why: Event | None
    times: int

    @property
    def is_fetched(self) -> bool:
        return self.delivered.attempt is None


def redeliveries(past: Past, until_ns: int) -> list[Redelivery]:
    """All up to `until_ns`, the newest first."""
    kept, recorded, before = past.kept(until_ns), past.recorded, past.before(until_ns)
    older: list[Event] = []
    if recorded is not None:
        once_more = (pc.field("attempt") > 1) | (pc.field("cause") == FETCHED_AGAIN)
        again = recorded.events((pc.field("kind") == EventKind.DELIVERED.value) & once_more & before)
        again += [event for event in kept if _is_again(event)]
        if again:
            older = recorded.events(_around(again) & before, ALL)
    return list(redeliveries_of([*older, *kept]))[::-1]


def redeliveries_of(events: Iterable[Event]) -> Iterator[Redelivery]:
    given: dict[tuple[str, str, int], _Runs] = {}
    returned: dict[tuple[str, str, int], _Runs] = {}
    moved: dict[str, Event] = {}
    for event in events:
        if event.kind in _MOVES_BACK:
            moved[event.group] = event
        if event.kind not in KINDS or event.partition is None or event.offset is None:
            continue
        place, end = (event.group, event.topic, event.partition), event.offset + event.count
        if event.kind in _RETURNS:
            returned.setdefault(place, _Runs()).put(event.offset, end, event, 0)
            continue
        runs, back = given.setdefault(place, _Runs()), returned.get(place, _Runs())
        for start, stop, before, times in runs.split(event.offset, end) if _is_again(event) else ():
            for low, high, why, _ in back.split(start, stop):
                cause = why or moved.get(event.group)
                if cause is not None and before is not None and cause.seq < before.seq:
                    cause = None
                yield Redelivery(low, high - low, event, before, cause, max(times + 1, event.attempt or 2))
        for start, stop, _, times in runs.split(event.offset, end):
            runs.put(start, stop, event, times + 1)


def _is_again(event: Event) -> bool:
    return event.kind is EventKind.DELIVERED and event.attempt != 1


def _around(again: list[Event]) -> pc.Expression:
    field = pc.field
    first = min(event.offset or 0 for event in again)
    last = max((event.offset or 0) + event.count for event in again)
    readers = field("group").isin(list({event.group for event in again}))
    messages = field("topic").isin(list({event.topic for event in again})) & (field("offset") < last)
    kinds = field("kind").isin([kind.value for kind in KINDS - _MOVES_BACK])
    moves = field("kind").isin([kind.value for kind in _MOVES_BACK])
    return readers & ((kinds & messages & (field("offset") + field("count") > first)) | moves)


class _Runs:
    """Runs of offsets that do not overlap, each with the last event about it, and how many there were."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._runs: list[tuple[int, int, Event, int]] = []

    def split(self, first: int, end: int) -> list[tuple[int, int, Event | None, int]]:
        """The offsets from `first` up to `end` in the runs that they are in; with None if they are in none."""
        found: list[tuple[int, int, Event | None, int]] = []
        at = first
        for start, stop, event, times in self._runs[slice(*self._touched(first, end))]:
            if start > at:
                found.append((at, start, None, 0))
            found.append((max(start, first), min(stop, end), event, times))
            at = min(stop, end)
        return found if at >= end else [*found, (at, end, None, 0)]

    def put(self, first: int, end: int, event: Event, times: int) -> None:
        low, high = self._touched(first, end)
        new = [(first, end, event, times)]
        if low < high:
            start, _, before, known = self._runs[low]
            if start < first:
                new.insert(0, (start, first, before, known))
            _, stop, before, known = self._runs[high - 1]
            if stop > end:
                new.append((end, stop, before, known))
        self._runs[low:high] = new
        self._starts[low:high] = [run[0] for run in new]

    def _touched(self, first: int, end: int) -> tuple[int, int]:
        """The runs from the one number up to the other overlap these offsets."""
        low = bisect_right(self._starts, first)
        if low and self._runs[low - 1][1] > first:
            low -= 1
        high = low
        while high < len(self._runs) and self._runs[high][0] < end:
            high += 1
        return low, high
