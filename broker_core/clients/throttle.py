"""The rate limit of a producer."""

from __future__ import annotations

import threading
from collections.abc import Callable

from broker_core.clock import NS_PER_S, ns_from_ms
from broker_core.errors import BrokerError, ErrorCode
from broker_core.flow.token_bucket import TokenBucket


class Throttle:
    """Permits `rate_per_s` messages per second, and `burst` at once. Thread-safe; callers are served one by one."""

    def __init__(self, client: str, rate_per_s: float, burst: float, now_ns: Callable[[], int]) -> None:
        self._client = client
        self._bucket = TokenBucket(rate_per_s, burst)
        self._now_ns = now_ns
        self._turn = threading.Lock()
        self._closed = threading.Event()

    def wait(self, messages: int, most_ms: float) -> None:
        """Block until `messages` may be sent. Raises THROTTLED if that takes longer than `most_ms`, and CLOSED."""
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
        self._closed.set()

    def _refusal(self) -> BrokerError:
        rate = f"{self._bucket.rate_per_s:g}"
        return BrokerError(
            ErrorCode.THROTTLED, f"{self._client} is limited to {rate} messages/s; send less, or wait longer"
        )
