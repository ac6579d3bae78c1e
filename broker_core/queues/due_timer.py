"""One timer for many deadlines."""

from __future__ import annotations

from collections.abc import Callable

from broker_core.queues.due_heap import Place
from broker_core.timers import Timer, Timers


class DueTimer:
    """A timer that fires at the earliest of the places for which it was armed."""

    def __init__(self, timers: Timers, fire: Callable[[int, Place], object]) -> None:
        """`fire(time_ns, place)` is called when due, and has to arm the timer again."""
        self._timers = timers
        self._fire = fire
        self._place: Place | None = None
        self._timer: Timer | None = None

    def place_in(self, wait_ns: int, now_ns: int) -> Place:
        """A new place `wait_ns` from now, after all earlier ones of the same time; the timer is armed for it."""
        place = (now_ns + wait_ns, self._timers.ticket())
        self.arm(place)
        return place

    def arm(self, place: Place | None) -> None:
        """Fire at `place`, unless armed for an earlier one."""
        if place is None or (self._place is not None and self._place <= place):
            return
        if self._timer is not None:
            self._timer.cancel()
        self._place = place
        self._timer = self._timers.at(place[0], self._fired, place[1])

    def stop(self) -> None:
        """Disarm."""
        if self._timer is not None:
            self._timer.cancel()
        self._place = self._timer = None

    def _fired(self, time_ns: int) -> None:
        place, self._place, self._timer = self._place, None, None
        if place is not None:
            self._fire(time_ns, place)
