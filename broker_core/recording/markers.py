"""Where transactions have ended: markers take an offset of a partition, and are no message."""

from __future__ import annotations

from bisect import bisect_left

from broker_core.events import Event

Place = tuple[str, int]


def markers_of(event: Event) -> list[tuple[Place, int]]:
    """(partition, offset) of each marker that a `transaction_ended` tells of."""
    rows = (event.detail or {}).get("markers", ())
    return [((str(topic), int(partition)), int(offset)) for topic, partition, offset in rows]


class Markers:
    """The markers of the events so far."""

    def __init__(self) -> None:
        self._offsets: dict[Place, list[int]] = {}

    def add(self, event: Event) -> None:
        """Take a `transaction_ended`."""
        for place, offset in markers_of(event):
            self._offsets.setdefault(place, []).append(offset)

    def between(self, place: Place, offset: int, end_offset: int) -> int:
        """How many of these offsets are those of markers."""
        known = self._offsets.get(place)
        return max(0, bisect_left(known, end_offset) - bisect_left(known, offset)) if known else 0
