"""What all clients of a listener share: requests in flight, and the bytes that these hold."""

from __future__ import annotations

from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.access.limits import GuardConfig


class Budget:
    """Counts requests and bytes in, and out again. One thread (the listener's) uses it."""

    def __init__(self, limits: GuardConfig) -> None:
        self._limits = limits
        self.requests = 0
        self.bytes = 0

    def begin(self) -> None:
        """One more request. Raises THROTTLED where there are too many."""
        if self.requests >= self._limits.max_in_flight:
            raise BrokerError(
                ErrorCode.THROTTLED, f"{self.requests} requests are being served, which is the most at a time"
            )
        self.requests += 1

    def hold(self, size_bytes: int) -> None:
        """A request holds so many more bytes. Raises THROTTLED where all together hold too many."""
        if self.bytes + size_bytes > self._limits.max_buffered_bytes:
            raise BrokerError(ErrorCode.THROTTLED, f"requests being served hold {self.bytes} bytes already")
        self.bytes += size_bytes

    def end(self, held_bytes: int) -> None:
        """The request is done with, and with what it held."""
        self.requests -= 1
        self.bytes -= held_bytes
