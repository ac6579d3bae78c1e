"""The last events, for those who observe the broker from elsewhere and come again and again."""

from __future__ import annotations

from collections import deque
from itertools import islice

from broker_core.events import Event, EventStream

MOST_EVENTS = 50_000  # about 20 MB


class RecentEvents:
    """Keeps events from the first look on: a broker that nobody observes keeps none."""

    def __init__(self, events: EventStream) -> None:
        self._events = events
        self._kept: deque[Event] | None = None

    def since(self, seen: int | None) -> tuple[list[Event], int]:
        """The events behind the first `seen`, and how many of them are not kept; None sees none."""
        if self._kept is None:
            self._kept = deque(maxlen=MOST_EVENTS)
            self._events.attach(self._kept.append)
        count, kept = self._events.count, self._kept
        new = 0 if seen is None else max(0, count - seen)
        events = list(islice(kept, max(0, len(kept) - new), None))
        return events, new - len(events)
