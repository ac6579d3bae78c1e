"""How much one client, and all together, may ask of a door."""

from __future__ import annotations

import msgspec

from broker_core.errors import BrokerError, ConfigError, ErrorCode


class GuardConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Limits of one door, each with the reason for its default; times in milliseconds.

    A frame is a request of the wire protocol, a body one of HTTP. `header_timeout_ms` runs from the opening of a
    connection, or from the first byte of a request, to the end of its head; `body_timeout_ms` to the end of its body;
    `idle_timeout_ms` between requests; `write_timeout_ms` while a client does not read what it has asked for.
    """

    max_body_bytes: int = 16 * 1_048_576  # ten of the largest messages in one batch, as Base64
    max_frame_bytes: int = 16 * 1_048_576
    max_header_bytes: int = 65_536
    max_connections: int = 1_000  # a descriptor each, and 1,024 are what a process has by default
    max_in_flight: int = 1_000  # requests of all connections
    max_in_flight_per_connection: int = 64  # pipelined; more wait in the socket
    max_buffered_bytes: int = 256 * 1_048_576  # requests that are being served, and answers nobody has read yet
    header_timeout_ms: int = 10_000
    body_timeout_ms: int = 30_000
    idle_timeout_ms: int = 120_000
    write_timeout_ms: int = 30_000
    max_wait_ms: int = 60_000  # the longest long poll
    max_decompressed_bytes: int = 16 * 1_048_576
    max_decompression_ratio: int = 200  # JSON that says something comes to 5 to 20, DEFLATE's worst case to 1,032
    max_sessions: int = 10_000  # consumers that HTTP clients have registered, and members of groups that poll by HTTP

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} {getattr(self, name)} must be at least 1")

    def check_body(self, size_bytes: int) -> None:
        """Raises REQUEST_TOO_LARGE; asked with the declared length, before anything is kept."""
        if size_bytes > self.max_body_bytes:
            raise too_large(size_bytes, self.max_body_bytes)

    def check_frame(self, size_bytes: int) -> None:
        """As `check_body`, for a frame of the wire protocol."""
        if size_bytes > self.max_frame_bytes:
            raise too_large(size_bytes, self.max_frame_bytes)


def too_large(size_bytes: int, limit_bytes: int) -> BrokerError:
    """The error for a request of `size_bytes` or more."""
    return BrokerError(ErrorCode.REQUEST_TOO_LARGE, f"{size_bytes} bytes, where {limit_bytes} are the most")
