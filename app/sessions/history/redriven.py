from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import pyarrow.compute as pc

from app.sessions.history.life import Place
from app.sessions.history.past import Past
from broker_core.events import Event, EventKind

# Of a redriven message; the last event counts.
_FATES = frozenset(
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

    @property
    def place(self) -> Place:
        """Where the redrive appended it."""
        return Place(self.redriven.to_topic, self.redriven.to_partition or 0, self.redriven.to_offset or 0)


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
            pc.field("kind").isin([kind.value for kind in _FATES])
            & pc.field("topic").isin(list({event.to_topic for event in older}))
            & (pc.field("time_ns") >= older[0].time_ns)  # readers that wait are served before its event
            & before
        )
        later = recorded.events(wanted)
    return redriven_of(moves, [*later, *(event for event in kept if event.kind in _FATES)])


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
