"""A client that keeps to a rate of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable

from broker_core.clock import NS_PER_S, ns_from_ms
from broker_core.errors import BrokerError, ErrorCode
from broker_core.flow.token_bucket import TokenBucket


class Throttle:
    """Lets through `rate_per_s` messages a second, and `burst` at once; from any thread, one after the other."""

    def __init__(self, client: str, rate_per_s: float, burst: float, now_ns: Callable[[], int]) -> None:
        self._client = client
        self._bucket = TokenBucket(rate_per_s, burst)
        self._now_ns = now_ns
        self._turn = threading.Lock()
        self._closed = threading.Event()

    def wait(self, messages: int, most_ms: float) -> None:
        """Return when `messages` may go. Raises THROTTLED where that would take longer than `most_ms`, and CLOSED."""
        deadline_ns = self._now_ns() + ns_from_ms(most_ms)
        if not self._turn.acquire(timeout=min(most_ms / 1_000, threading.TIMEOUT_MAX)):
            raise self._refusal()
        try:
            while wait_ns := self._bucket.take(self._now_ns(), messages):
                if self._now_ns() + wait_ns > deadline_ns:
                    raise self._refusal()
                if self._closed.wait(wait_ns / NS_PER_S):
                    raise BrokerError(ErrorCode.CLOSED, f"producer {self._client}")
        finally:
            self._turn.release()

    def close(self) -> None:
        """Whoever waits gets CLOSED."""
        self._closed.set()

    def _refusal(self) -> BrokerError:
        rate = f"{self._bucket.rate_per_s:g}"
        return BrokerError(
            ErrorCode.THROTTLED, f"{self._client} is held to {rate} messages/s; send less, or wait longer"
        )
