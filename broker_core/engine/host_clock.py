from __future__ import annotations

import time
from collections.abc import Callable

from broker_core.clock import NS_PER_MS
from broker_core.timers import Action, Timer, Timers


class HostClock:
    """Session time on the machine's monotonic clock. Times are nanoseconds; changes need the host's lock.

    A stopped clock stays where it is until it is started or moved on.
    """

    __slots__ = ("_moved", "_start_ns", "_stopped_ns")

    def __init__(self, moved: Callable[[], object]) -> None:
        """`moved()` is called when timers are due earlier than they were."""
        self._moved = moved
        self._start_ns = time.monotonic_ns()  # of session time 0, if time was never stopped or moved
        self._stopped_ns: int | None = None

    def follow(self, other: HostClock) -> None:
        self._start_ns, self._stopped_ns = other._start_ns, other._stopped_ns

    def now_ns(self) -> int:
        stopped_ns = self._stopped_ns
        return time.monotonic_ns() - self._start_ns if stopped_ns is None else stopped_ns

    def machine_ms(self) -> int:
        """The Unix time of the machine, wherever session time is."""
        return time.time_ns() // NS_PER_MS

    @property
    def is_stopped(self) -> bool:
        return self._stopped_ns is not None

    def stop(self, now_ns: int) -> None:
        self._stopped_ns = now_ns

    def start(self) -> None:
        self._start_ns, self._stopped_ns = time.monotonic_ns() - self.now_ns(), None
        self._moved()

    def advance(self, by_ns: int) -> None:
        self._start_ns -= by_ns
        if self._stopped_ns is not None:
            self._stopped_ns += by_ns
        self._moved()

    def monotonic_ns(self, session_ns: int) -> int:
        """The machine's monotonic time at which it is `session_ns`, if the clock runs from now on."""
        stopped_ns = self._stopped_ns
        return session_ns + (self._start_ns if stopped_ns is None else time.monotonic_ns() - stopped_ns)


class HostTimers(Timers):
    """Timers in session time. Those of waiting requests go by the machine's clock, so that they end in any case."""

    def __init__(self, clock: HostClock, added: Callable[[int], object]) -> None:
        """`added(deadline_ns)` is called for each new timer of a waiting request, with its monotonic time."""
        super().__init__()
        self._clock = clock
        self._added = added
        self.waits = Timers()  # in monotonic time

    def at_end_of_wait(self, deadline_ns: int, action: Action) -> Timer:
        """Call `action(now_ns)` when the time from now to `deadline_ns` has passed on the machine's clock."""
        ends_ns = self._clock.monotonic_ns(deadline_ns)
        timer = self.waits.at(ends_ns, lambda _at: action(self._clock.now_ns()))
        self._added(ends_ns)
        return timer
