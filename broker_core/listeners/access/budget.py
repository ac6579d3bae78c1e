"""The budget that all clients of a listener share: requests in flight, and the bytes they hold, answers that nobody has
read yet included.
"""

from __future__ import annotations

from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.access.limits import GuardConfig

_SHARE_OF_ANSWERS = 16  # one byte in so many


class Budget:
    """Counts requests and bytes. Used by the listener's thread only."""

    def __init__(self, limits: GuardConfig) -> None:
        self._limits = limits
        self.requests = 0
        self.bytes = 0

    def begin(self) -> None:
        """Count one more request. Raises THROTTLED where there are too many."""
        if self.requests >= self._limits.max_in_flight:
            raise BrokerError(
                ErrorCode.THROTTLED, f"{self.requests} requests are being served, which is the most at a time"
            )
        self.requests += 1

    def hold(self, size_bytes: int) -> None:
        """Count more bytes of a request. Raises THROTTLED where all requests together hold too many."""
        if self.bytes + size_bytes > self._limits.max_buffered_bytes:
            raise BrokerError(ErrorCode.THROTTLED, f"requests being served hold {self.bytes} bytes already")
        self.bytes += size_bytes

    @property
    def is_exceeded(self) -> bool:
        """Whether more bytes are held than may be."""
        return self.bytes > self._limits.max_buffered_bytes

    @property
    def answer_bytes(self) -> int:
        """How large one more answer may be, so that there is room for others beside it: half of what is left of the
        share of answers.
        """
        return max(0, self._limits.max_buffered_bytes // _SHARE_OF_ANSWERS - self.bytes) // 2

    def end(self, held_bytes: int) -> None:
        """A request ends; its bytes are free again."""
        self.requests -= 1
        self.bytes -= held_bytes
