"""Limits of a listener, for one client and for all together."""

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
    max_in_flight_per_connection: Positive = 64  # pipelined; more wait in the socket
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
    """The error for a request of `size_bytes` or more."""
    return BrokerError(ErrorCode.REQUEST_TOO_LARGE, f"{size_bytes} bytes, where {limit_bytes} are the most")
