from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

import msgspec

from broker_core.clock import NS_PER_MS, ns_from_ms
from broker_core.errors import BrokerError, ErrorCode, must
from broker_core.events import EventStream
from broker_core.limits import MAX_TTL_MS
from broker_core.replies import Reply
from broker_core.timers import Timers

FIXED: Final = (
    "the clock of this broker cannot be stopped or moved; open one for tests, with EmbeddedBroker or serve --testing"
)


class MovableClock(Protocol):
    """A clock that can be stopped at `now_ns`, the present time, started again, and moved on; times are nanoseconds."""

    @property
    def is_stopped(self) -> bool: ...
    def stop(self, now_ns: int) -> None: ...
    def start(self) -> None: ...
    def advance(self, by_ns: int) -> None: ...


class SessionClock(msgspec.Struct, eq=False):
    """Changes of the time are events. `movable` is None if the machine or the window drives the time.

    `heard_from_all(now_ns)` restarts all timeouts of members; `clean(now_ns)` applies retention and compacts.
    """

    _timers: Timers
    _events: EventStream
    epoch_ms: int
    _heard_from_all: Callable[[int], object]
    _clean: Callable[[int], object]
    movable: MovableClock | None = None

    @property
    def is_stopped(self) -> bool:
        return self.movable is not None and self.movable.is_stopped

    def unix_ms(self, now_ns: int) -> int:
        return self.epoch_ms + now_ns // NS_PER_MS

    def stop(self, now_ns: int, client: str) -> None:
        """Stop it. Raises INVALID_REQUEST if it is not movable."""
        self._moved().stop(now_ns)
        self._emit(now_ns, client, "stopped the clock")

    def start(self, now_ns: int, client: str) -> None:
        """Start it again. Raises INVALID_REQUEST if it is not movable."""
        self._moved().start()
        self._emit(now_ns, client, "started the clock")

    def advance(self, now_ns: int, by_ms: float, client: str, *, members_stay: bool = False) -> Reply[int]:
        """Move it on. The reply is settled with the new time when everything due up to then has happened.

        Raises INVALID_REQUEST if it is not movable, or would move back or too far.
        """
        clock = self._moved()
        if not 0 <= by_ms <= MAX_TTL_MS - now_ns / NS_PER_MS:
            raise BrokerError(
                ErrorCode.INVALID_REQUEST,
                f"the broker's time only moves on, to {MAX_TTL_MS} ms at most; this would be by {by_ms:g} ms",
            )
        by_ns = ns_from_ms(by_ms)
        self._emit(now_ns, client, f"moved the clock on by {by_ms:g} ms")
        until_ns = now_ns + by_ns
        if members_stay:
            self._heard_from_all(until_ns)
        clock.advance(by_ns)
        reply: Reply[int] = Reply()

        def arrived(at_ns: int) -> None:
            try:
                self._clean(at_ns)
            finally:
                reply.resolve(at_ns)

        self._timers.at(until_ns, arrived)
        return reply

    def _moved(self) -> MovableClock:
        return must(self.movable, ErrorCode.INVALID_REQUEST, FIXED)

    def _emit(self, now_ns: int, client: str, cause: str) -> None:
        self._events.emit_action(now_ns, client=client, cause=cause)
