from __future__ import annotations

from collections.abc import Iterator

from broker_core.events import Event

CHUNK = 4_096
MAX_EVENTS = 200_000


class EventRing:
    """A sink of the event stream: called by the engine's thread, read by any other, and bounded.

    Events are found by `seq`, which has no gaps. What is dropped is dropped a chunk at a time, the oldest first.
    """

    def __init__(self, max_events: int = MAX_EVENTS) -> None:
        self._most = max(2, -(-max_events // CHUNK) + 1)
        # Replaced as a whole, or appended to: a reader holds a consistent one.
        self._kept: tuple[int, tuple[list[Event], ...]] = (0, ())

    def frozen(self) -> EventRing:
        """A ring with the events of this one, from which none is dropped."""
        ring = EventRing()
        ring._kept = self._kept
        return ring

    def __call__(self, event: Event) -> None:
        first, chunks = self._kept
        if not chunks:
            first = event.seq
        if not chunks or len(chunks[-1]) >= CHUNK:
            if len(chunks) >= self._most:
                chunks, first = chunks[1:], first + CHUNK
            self._kept = (first, (*chunks, [event]))
        else:
            chunks[-1].append(event)

    @property
    def newest(self) -> Event | None:
        _first, chunks = self._kept
        return chunks[-1][-1] if chunks else None

    @property
    def first_seq(self) -> int:
        """The number of the oldest event that is kept; `end_seq` if none is."""
        return self._kept[0]

    @property
    def end_seq(self) -> int:
        first, chunks = self._kept
        return first + (len(chunks) - 1) * CHUNK + len(chunks[-1]) if chunks else first

    def between(self, first_seq: int, end_seq: int) -> list[Event]:
        """The retained events from `first_seq` up to, but not including, `end_seq`."""
        start, chunks = self._kept
        low, high = max(0, first_seq - start), end_seq - start
        found: list[Event] = []
        for number in range(low // CHUNK, min(len(chunks), -(-high // CHUNK))):
            chunk = chunks[number]
            found += chunk[max(0, low - number * CHUNK) : max(0, high - number * CHUNK)]
        return found

    def since(self, seq: int) -> Iterator[Event]:
        """Every event that is kept from `seq` on, in order, as they stand now."""
        start, chunks = self._kept
        for number in range(max(0, seq - start) // CHUNK, len(chunks)):
            yield from chunks[number][max(0, seq - start - number * CHUNK) :]
