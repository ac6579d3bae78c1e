from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import takewhile
from typing import NamedTuple

import pyarrow.compute as pc

from app.sessions.history.recorded import ALL, Recorded, folders_of
from app.sessions.history.ring import EventRing
from broker_core.events import Event, EventKind


class Past(NamedTuple):
    """The last events of a session, and the recording that has those before number `first`; None if there is none, or
    the ring has all.
    """

    ring: EventRing
    recorded: Recorded | None = None
    first: int = 0

    @classmethod
    def of(cls, ring: EventRing, recorded: Recorded | None) -> Past:
        first = ring.first_seq
        has_more = first > 0 or ring.end_seq == 0
        return cls(ring, recorded if has_more else None, first if ring.end_seq else 1 << 62)

    @property
    def whole(self) -> bool:
        return self.recorded is not None or self.ring.first_seq == 0

    def kept(self, until_ns: int) -> list[Event]:
        return list(takewhile(lambda event: event.time_ns <= until_ns, self.ring.since(0)))

    def before(self, until_ns: int) -> pc.Expression:
        """Which events of the recording are older than the ring's, up to a moment."""
        return (pc.field("seq") < self.first) & (pc.field("time_ns") <= until_ns)

    def between(self, first_seq: int, end_seq: int, kinds: Collection[EventKind] | None = None) -> list[Event]:
        """The events from `first_seq` up to `end_seq`, without that one; of the recording's, those of some `kinds`."""
        found: list[Event] = []
        if self.recorded is not None and first_seq < self.first:
            seq = pc.field("seq")
            wanted = (seq >= first_seq) & (seq < min(end_seq, self.first))
            folders: Sequence[str] = ALL
            if kinds is not None:
                wanted &= pc.field("kind").isin([kind.value for kind in kinds])
                folders = folders_of(kinds)
            found = self.recorded.events(wanted, folders)
        return found + self.ring.between(first_seq, end_seq)

    def search(
        self, first_seq: int, end_seq: int, kinds: Collection[EventKind] | None, test: Callable[[Event], bool]
    ) -> tuple[int, list[Event]]:
        """The events from `first_seq` up to `end_seq` that pass `test`, and the number that was reached.

        If only some `kinds` are wanted, others are not even read.
        """
        ring = self.ring
        reached = min(end_seq, max(ring.end_seq, first_seq)) if ring.end_seq else end_seq
        return reached, [event for event in self.between(first_seq, reached, kinds) if test(event)]
