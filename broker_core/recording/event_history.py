"""What the rules of the checker have in common: the events so far, and where each partition's log ends."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from broker_core.events import Event
from broker_core.recording.violation import Violation, shortest

Place = tuple[str, int]


class History:
    """The events so far. `_ends` is the next offset of each partition, `_deleted_to` the first that is still there."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._deleted_to: dict[Place, int] = defaultdict(int)
        self._ends: dict[Place, int] = defaultdict(int)

    @staticmethod
    def _offsets(event: Event) -> range:
        assert event.offset is not None
        return range(event.offset, event.offset + event.count)

    def _fail(
        self,
        promise: str,
        event: Event | None,
        topic: str = "",
        offset: int | None = None,
        history: Iterable[Event] | None = None,
    ) -> None:
        if history is None:
            history = shortest(self._events, event, topic or (event.topic if event else ""), offset)
        raise Violation(promise, history)
