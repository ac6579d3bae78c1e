from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

from broker_core.engine.host import Host
from broker_core.operations import clock
from broker_core.operations.request import Request
from broker_core.settings import TimeS, checked_class


@checked_class()
class BrokerClock:
    """The broker's time: leases, retry delays, session timeouts, retention, times to live, pending faults.

    While it is stopped, requests are still served, and their own waits (`fetch.max.wait.ms`, `timeout_ms`) end as
    usual. Clients' clocks are not affected: a real consumer keeps sending heartbeats by its own clock, and its
    `max.poll.interval.ms`, session timeout, backoff and delivery timeout do not expire any sooner.
    """

    def __init__(self, host: Callable[[], Host]) -> None:
        """`host()` is the present host of the broker."""
        self._host = host

    @property
    def time(self) -> datetime:
        """The broker's time, in UTC."""
        return datetime.fromtimestamp(self._ask(clock.DescribeClock()).unix_ms / 1_000, UTC)

    @property
    def time_s(self) -> float:
        """Seconds since the broker was opened."""
        return self._ask(clock.DescribeClock()).time_ms / 1_000

    @property
    def is_stopped(self) -> bool:
        """Whether time stands still."""
        return self._ask(clock.DescribeClock()).stopped

    def stop(self) -> None:
        """Stop it, until `start`."""
        self._ask(clock.StopClock())

    def start(self) -> None:
        """Let a stopped clock continue from its time."""
        self._ask(clock.StartClock())

    @contextlib.contextmanager
    def stopped(self) -> Iterator[None]:
        """Time stands still within the context and continues afterwards."""
        self.stop()
        try:
            yield
        finally:
            self.start()

    def advance(self, seconds: TimeS, *, members_stay: bool = False) -> None:
        """Advance it. When this returns, everything due by then has happened, in order and at its time.

        A member of a group whose session timeout is shorter leaves: nobody hears from it meanwhile. With
        `members_stay` all count as heard from at the end.
        """
        self._ask(clock.AdvanceClock(by_ms=seconds * 1_000, members_stay=members_stay))

    def jump(self, to: datetime, *, members_stay: bool = False) -> None:
        """Like `advance`, up to a date; a date without a time zone is local. Raises INVALID_REQUEST if it has
        passed."""
        self._ask(clock.JumpClock(unix_ms=round(to.timestamp() * 1_000), members_stay=members_stay))

    def _ask(self, request: Request[clock.ClockAnswer]) -> clock.ClockAnswer:
        return self._host().ask(request)
