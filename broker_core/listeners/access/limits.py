from __future__ import annotations

from broker_core.errors import BrokerError, ErrorCode
from broker_core.settings import Positive, Settings, WaitMs


class GuardConfig(Settings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Limits of one listener, each with the reason for its default; times in milliseconds.

    A frame is a request of the Kafka protocol, a body one of HTTP. `header_timeout_ms` runs from the opening of a
    connection, or from the first byte of a request, to the end of its head; `body_timeout_ms` to the end of its body;
    `idle_timeout_ms` between requests; `write_timeout_ms` while a client does not read what it has asked for.
    """

    max_body_bytes: Positive = 16 * 1_048_576  # ten of the largest messages in one batch, as Base64
    max_frame_bytes: Positive = 16 * 1_048_576
    max_header_bytes: Positive = 65_536
    max_connections: Positive = 1_000  # a descriptor each, and 1,024 are what a process has by default
    max_streams: Positive = 250  # of events, at a time; the other connections are for requests
    max_in_flight: Positive = 1_000  # requests of all connections
    max_buffered_bytes: Positive = 256 * 1_048_576  # requests that are being served, and answers nobody has read yet
    header_timeout_ms: WaitMs = 10_000
    body_timeout_ms: WaitMs = 30_000
    idle_timeout_ms: WaitMs = 120_000
    write_timeout_ms: WaitMs = 30_000
    max_wait_ms: WaitMs = 60_000  # the longest long poll
    max_decompressed_bytes: Positive = 16 * 1_048_576
    max_decompression_ratio: Positive = 200  # JSON that says something comes to 5 to 20, DEFLATE's worst case to 1,032
    max_sessions: Positive = 10_000  # consumers that HTTP clients registered, and members of groups that poll by HTTP

    def check_body(self, size_bytes: int) -> None:
        """Raises REQUEST_TOO_LARGE. Called with the declared length first, before anything is read."""
        if size_bytes > self.max_body_bytes:
            raise too_large(size_bytes, self.max_body_bytes)


def too_large(size_bytes: int, limit_bytes: int) -> BrokerError:
    return BrokerError(ErrorCode.REQUEST_TOO_LARGE, f"{size_bytes} bytes, where {limit_bytes} are the most")


_SHARE_OF_ANSWERS = 16  # one byte in so many


class Budget:
    """Counts requests and bytes. Used by the listener's thread only."""

    def __init__(self, limits: GuardConfig) -> None:
        self._limits = limits
        self.requests = 0
        self.bytes = 0

    def begin(self) -> None:
        """Count one more request. Raises THROTTLED if there are too many."""
        if self.requests >= self._limits.max_in_flight:
            about = f"{self.requests} requests are being served, which is the most at a time"
            raise BrokerError(ErrorCode.THROTTLED, about)
        self.requests += 1

    def hold(self, size_bytes: int) -> None:
        """Count more bytes of a request. Raises THROTTLED if all requests together hold too many."""
        if self.bytes + size_bytes > self._limits.max_buffered_bytes:
            raise BrokerError(ErrorCode.THROTTLED, f"requests being served hold {self.bytes} bytes already")
        self.bytes += size_bytes

    @property
    def is_exceeded(self) -> bool:
        return self.bytes > self._limits.max_buffered_bytes

    @property
    def answer_bytes(self) -> int:
        """How large one more answer may be: half of what is left of the share of answers, so that others have room."""
        return max(0, self._limits.max_buffered_bytes // _SHARE_OF_ANSWERS - self.bytes) // 2

    def end(self, held_bytes: int) -> None:
        """A request ends; its bytes are free again."""
        self.requests -= 1
        self.bytes -= held_bytes
