"""The last events of the broker, for who looks on from afar."""

from __future__ import annotations

from collections import deque
from itertools import islice

from broker_core.clock import NS_PER_MS
from broker_core.events import Event, EventStream
from broker_core.replies import Reply
from broker_core.timers import Timers

KEPT_EVENTS = 5_000


class EventTail:
    """Keeps events from the first time on that somebody asks for them. Call it under the host's lock."""

    def __init__(self, stream: EventStream, timers: Timers) -> None:
        self._stream = stream
        self._timers = timers
        self._kept: deque[Event] = deque(maxlen=KEPT_EVENTS)
        self._waiting: dict[Reply[None], None] = {}
        self._attached = False

    def wait(self, now_ns: int, from_seq: int, wait_ms: int) -> Reply[None]:
        """There when there is an event `from_seq` or a later one, or when the time is over."""
        if not self._attached:
            self._attached = True
            self._stream.attach(self._take)
        reply: Reply[None] = Reply()
        if from_seq < self._stream.count or wait_ms <= 0:
            reply.resolve(None)
            return reply
        self._waiting[reply] = None
        timer = self._timers.at(now_ns + wait_ms * NS_PER_MS, lambda _at: self.cancel(reply))
        reply.then(lambda _reply: timer.cancel())
        return reply

    def cancel(self, reply: Reply[None]) -> None:
        """It waits no longer."""
        if self._waiting.pop(reply, False) is None:
            reply.resolve(None)

    def read(self, from_seq: int, most: int) -> tuple[tuple[Event, ...], int, int]:
        """(events, where to go on, how many before them are kept no longer)."""
        first = self._kept[0].seq if self._kept else self._stream.count
        start = max(from_seq, first)
        found = tuple(islice(self._kept, start - first, start - first + most))
        return found, found[-1].seq + 1 if found else start, start - from_seq

    @property
    def next_seq(self) -> int:
        """The number of the next event."""
        return self._stream.count

    def close(self) -> None:
        """Keep no more, and end all waits."""
        self._stream.detach(self._take)
        for reply in list(self._waiting):
            self.cancel(reply)

    def _take(self, event: Event) -> None:
        self._kept.append(event)
        waiting, self._waiting = self._waiting, {}
        for reply in waiting:
            reply.resolve(None)
