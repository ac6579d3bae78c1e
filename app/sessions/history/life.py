from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import pyarrow.compute as pc

from app.sessions.history.past import Past
from broker_core.events import MESSAGE_KINDS, Event, EventKind
from widgets.i18n import tr

MAX_PLACES = 40


class Place(NamedTuple):
    topic: str
    partition: int
    offset: int

    def __str__(self) -> str:
        return tr("{topic}/{partition} at {offset:,}", topic=self.topic, partition=self.partition, offset=self.offset)

    @property
    def id(self) -> str:
        return f"message:{self.name}"

    @property
    def name(self) -> str:
        return f"{self.topic}/{self.partition}/{self.offset}"


class Life(NamedTuple):
    """The events of a message, in order, and all its places, the first one first.

    `whole` is False if events are missing, because they are no longer kept or the message has had too many places.
    """

    place: Place
    places: tuple[Place, ...]
    events: tuple[Event, ...]
    whole: bool = True


Find = Callable[[Sequence[Place]], Iterable[Event]]


def place_of(text: str) -> Place | None:
    """The place in "topic/partition/offset"; None if it is none. Names of topics hold no slash."""
    parts = text.rsplit("/", 2)
    if len(parts) != 3 or not parts[0] or not parts[1].isdecimal() or not parts[2].isdecimal():
        return None
    return Place(parts[0], int(parts[1]), int(parts[2]))


def touching(events: Iterable[Event], places: Iterable[Place]) -> list[Event]:
    """The events that tell about the message in any of these places, or how it came there."""
    wanted = list(places)
    found = []
    for event in events:
        offset, arrives = event.offset, event.to_offset
        for topic, partition, at in wanted:
            # The rarest first: nearly every event is turned away by its numbers.
            here = offset is not None and offset <= at < offset + event.count
            here = here and event.partition == partition and event.topic == topic and event.kind in MESSAGE_KINDS
            if here or (arrives == at and event.to_topic == topic and event.to_partition == partition):
                found.append(event)
                break
    return found


def life_in(past: Past, place: Place) -> Life:
    def find(places: Sequence[Place]) -> list[Event]:
        found = touching(past.ring.since(0), places)
        if past.recorded is None:
            return found
        wanted = functools.reduce(operator.or_, map(_touching, places)) & (pc.field("seq") < past.ring_from)
        return past.recorded.events(wanted) + found

    found = life_of(place, find)
    return found if past.whole else found._replace(whole=False)


def _touching(place: Place) -> pc.Expression:
    field = pc.field
    here = (
        (field("topic") == place.topic)
        & (field("partition") == place.partition)
        & (field("offset") <= place.offset)
        & (field("offset") + field("count") > place.offset)
    )
    arrives = (
        (field("to_topic") == place.topic)
        & (field("to_partition") == place.partition)
        & (field("to_offset") == place.offset)
    )
    return here | arrives


def life_of(place: Place, find: Find) -> Life:
    """Follow a message from place to place; `find(places)` gives the events that touch any of these."""
    events: dict[int, Event] = {}
    places: dict[Place, None] = {place: None}
    todo = [place]
    while todo and len(places) <= MAX_PLACES:
        found = list(find(todo))
        todo = []
        for event in found:
            events[event.seq] = event
            for other in _neighbours(event):
                if other not in places and touching((event,), places):
                    places[other] = None
                    todo.append(other)
    ordered = tuple(event for _, event in sorted(events.items()))
    return Life(place, _in_order(places, ordered), ordered, whole=not todo)


def _neighbours(event: Event) -> Iterable[Place]:
    if event.kind not in {EventKind.DEAD_LETTERED, EventKind.REDRIVEN}:
        return
    if event.partition is not None and event.offset is not None:
        yield Place(event.topic, event.partition, event.offset)
    if event.to_topic and event.to_partition is not None and event.to_offset is not None:
        yield Place(event.to_topic, event.to_partition, event.to_offset)


def _in_order(places: Iterable[Place], events: Sequence[Event]) -> tuple[Place, ...]:
    first_seen: dict[Place, int] = {}
    for event in events:
        for place in places:
            if place not in first_seen and touching((event,), (place,)):
                arrives = event.to_offset == place.offset and event.to_topic == place.topic
                first_seen[place] = 2 * event.seq + (1 if arrives else 0)
    return tuple(sorted(places, key=lambda place: first_seen.get(place, -1)))
