"""The scheduled actions of a scenario."""

from __future__ import annotations

from collections.abc import Callable

from broker_core.clock import ns_from_s
from broker_core.engine.loop import Loop
from broker_core.events import Event, EventKind
from broker_core.simulation.actions import UserAction
from broker_core.simulation.specs import Scheduled


class EventCount:
    """A sink that counts events, and calls what waits for so many of them."""

    def __init__(self, loop: Loop) -> None:
        self.count = 0
        self._loop = loop
        self._awaited: list[tuple[int, Callable[[], object]]] = []

    def __call__(self, event: Event) -> None:
        self.count += event.kind is not EventKind.USER_ACTION
        while self._awaited and self.count >= self._awaited[0][0]:
            self._loop.call_next(self._awaited.pop(0)[1])

    def wait_for(self, count: int, action: Callable[[], object]) -> None:
        self._awaited.append((count, action))


class ScheduledAction:
    """An action of the schedule, or, with `after_events`, what a person did in the run that is repeated.

    The latter waits, among what is due at its time, until so many events have happened, or else until the rest is done.
    """

    def __init__(
        self,
        scheduled: Scheduled,
        loop: Loop,
        events: EventCount,
        postpone: Callable[[int, Callable[[int], object]], bool],
        do: Callable[[UserAction], object],
    ) -> None:
        """`postpone(now_ns, action)` is False unless the schedule is held; then it calls `action` later."""
        self._scheduled, self._loop, self._events = scheduled, loop, events
        self._postpone, self._do = postpone, do
        self._waits, self._is_done = scheduled.after_events > 0, False
        loop.timers.at(ns_from_s(scheduled.at_s), self._come_due)

    def _come_due(self, at_ns: int) -> None:
        after_events = self._scheduled.after_events
        if self._is_done or (not after_events and self._postpone(at_ns, self._come_due)):
            return
        if self._waits and self._events.count < after_events and self._loop.next_ns() == at_ns:
            self._waits = False  # whichever of the two comes first does it
            self._events.wait_for(after_events, lambda: self._come_due(at_ns))
            self._loop.timers.at(at_ns, self._come_due)
            return
        self._is_done = True
        self._do(self._scheduled.do)
