from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import pyarrow.compute as pc

from app.sessions.history.past import ALL, Past
from broker_core.broker.deliveries import GroupPlace
from broker_core.events import FETCHED_AGAIN, Event, EventKind
from broker_core.recording.account import why_released
from broker_core.runs import Runs
from resources.account import ACKNOWLEDGED, LEASE_OVER, MOVED, NACKED, REASONS, RESET

_RETURNS = frozenset({EventKind.NACKED, EventKind.LEASE_EXPIRED, EventKind.RELEASED})
_REASONS = {
    EventKind.NACKED: NACKED,
    EventKind.LEASE_EXPIRED: LEASE_OVER,
    EventKind.OFFSETS_RESET: RESET,
    EventKind.REBALANCE_COMPLETED: MOVED,
}
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

    @property
    def reason(self) -> str:
        """A word of `REASONS`; "" for what was only fetched again. The broker says it of groups."""
        if self.is_fetched:
            return ""
        if self.delivered.cause in REASONS:
            return self.delivered.cause
        return ACKNOWLEDGED if self.why is None else _REASONS.get(self.why.kind) or why_released(self.why.cause)


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
    given: dict[GroupPlace, Runs[tuple[Event, int]]] = {}  # the last delivery, and how many there were
    returned: dict[GroupPlace, Runs[Event]] = {}
    moved: dict[str, Event] = {}
    for event in events:
        if event.kind in _MOVES_BACK:
            moved[event.group] = event
        if event.kind not in KINDS or event.partition is None or event.offset is None:
            continue
        place, end = (event.group, *event.place), event.offsets.stop
        if event.kind in _RETURNS:
            returned.setdefault(place, Runs()).put(event.offset, end, event)
            continue
        runs, back = given.setdefault(place, Runs()), returned.get(place, Runs())
        for start, stop, known in runs.split(event.offset, end):
            before, times = known or (None, 0)
            for low, high, why in back.split(start, stop) if _is_again(event) else ():
                cause = why or moved.get(event.group)
                if cause is not None and before is not None and cause.seq < before.seq:
                    cause = None
                yield Redelivery(low, high - low, event, before, cause, max(times + 1, event.attempt or 2))
            runs.put(start, stop, (event, times + 1))


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


# Its state; the last event counts.
FATES = frozenset(
    {
        EventKind.DELIVERED,
        EventKind.ACKNOWLEDGED,
        EventKind.NACKED,
        EventKind.RELEASED,
        EventKind.LEASE_EXPIRED,
        EventKind.DEAD_LETTERED,
        EventKind.PURGED,
        EventKind.EVICTED,
        EventKind.EXPIRED,
    }
)


class RedrivenMessage(NamedTuple):
    """One redrive of one message; `fate` is the last that happened to it since, None if nothing has."""

    redriven: Event
    fate: Event | None
    deliveries: int


def redriven_messages(past: Past, until_ns: int) -> list[RedrivenMessage]:
    """All redrives as they stood at `until_ns`, the newest first."""
    kept, recorded, before = past.kept(until_ns), past.recorded, past.before(until_ns)
    older: list[Event] = []
    if recorded is not None:
        older = recorded.events((pc.field("kind") == EventKind.REDRIVEN.value) & before)
    moves = older + [event for event in kept if event.kind is EventKind.REDRIVEN]
    if not moves:
        return []
    later: list[Event] = []
    if recorded is not None and older:
        wanted = (
            pc.field("kind").isin([kind.value for kind in FATES])
            & pc.field("topic").isin(list({event.to_topic for event in older}))
            & (pc.field("time_ns") >= older[0].time_ns)  # readers that wait are served before its event
            & before
        )
        later = recorded.events(wanted)
    return redriven_of(moves, [*later, *(event for event in kept if event.kind in FATES)])


def redriven_of(moves: Sequence[Event], events: Iterable[Event]) -> list[RedrivenMessage]:
    """Each move with its fate; `events` in their order. Of a subscription's message, only what its own readers did
    counts: others read the topic, too.
    """
    by_partition: dict[tuple[str, int | None], dict[int, int]] = {}
    for number, move in enumerate(moves):
        if move.to_offset is not None:
            by_partition.setdefault((move.to_topic, move.to_partition), {})[move.to_offset] = number
    offsets = {place: sorted(found) for place, found in by_partition.items()}
    fates: dict[int, Event] = {}
    deliveries: dict[int, int] = {}
    for event in events:
        place = (event.topic, event.partition)
        there = offsets.get(place)
        if there is None or event.offset is None:
            continue
        at = bisect_left(there, event.offset)
        while at < len(there) and there[at] < event.offset + event.count:
            number = by_partition[place][there[at]]
            if moves[number].group in {event.group, event.topic}:
                fates[number] = event
                deliveries[number] = deliveries.get(number, 0) + (event.kind is EventKind.DELIVERED)
            at += 1
    found = [RedrivenMessage(move, fates.get(number), deliveries.get(number, 0)) for number, move in enumerate(moves)]
    return found[::-1]
