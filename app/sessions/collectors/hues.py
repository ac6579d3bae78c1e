from __future__ import annotations

from threading import Lock

from broker_core.events import Event, EventKind

_FLOWS = frozenset({EventKind.TOPIC_CREATED, EventKind.QUEUE_CREATED})


class Numbers:
    """Numbers from 0 without end: a new name gets the next, and keeps it. Any thread may ask."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}
        self._lock = Lock()

    def of(self, name: str) -> int:
        number = self._known.get(name)
        if number is not None:
            return number
        with self._lock:
            return self._known.setdefault(name, len(self._known))

    def __contains__(self, name: str) -> bool:
        return name in self._known


class HueCollector:
    """Gives hues their numbers (see `resources.colours`); a name without an event gets one when it is asked for."""

    kinds = _FLOWS | {EventKind.MEMBER_JOINED, EventKind.CLIENT_STARTED}

    def __init__(self) -> None:
        self.flows = Numbers()
        self.readers = Numbers()

    def __call__(self, event: Event) -> None:
        if event.kind in _FLOWS:
            self.flows.of(event.topic)
        elif event.kind is EventKind.MEMBER_JOINED:
            self.flows.of(event.group)
            self.readers.of(event.client)
        elif event.kind is EventKind.CLIENT_STARTED and (event.detail or {}).get("role") != "producer":
            self.readers.of(event.client)
