from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import pyarrow.compute as pc

from app.sessions.history.life import Place
from app.sessions.history.past import Past
from broker_core.broker.partition_owners import GroupPlace
from broker_core.events import FETCHED_AGAIN, Event, EventKind
from broker_core.recording import schema
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
    def place(self) -> Place:
        return Place(self.delivered.topic, self.delivered.partition or 0, self.offset)

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
            older = recorded.events(_around(again) & before, schema.FOLDERS)
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
