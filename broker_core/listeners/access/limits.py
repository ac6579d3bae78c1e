from __future__ import annotations

import zlib

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
            raise BrokerError(
                ErrorCode.THROTTLED, f"{self.requests} requests are being served, which is the most at a time"
            )
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


# zlib: 16 more than the window's bits selects gzip's frame.
_WINDOW_BITS = {"gzip": 31, "x-gzip": 31, "deflate": 15}
# Below this size the ratio is not checked: a short run of one character has a large one.
_FREE_BYTES = 65_536


class Inflater:
    """Decompresses one body, piece by piece."""

    def __init__(self, encoding: str, limits: GuardConfig) -> None:
        """`encoding` is gzip or deflate, as in HTTP's Content-Encoding. Raises UNREADABLE for any other."""
        bits = _WINDOW_BITS.get(encoding)
        if bits is None:
            raise BrokerError(ErrorCode.UNREADABLE, f"content-encoding {encoding[:40]!r} is not gzip or deflate")
        self._zlib = zlib.decompressobj(wbits=bits)
        self._encoding = encoding
        self._limits = limits
        self._in_bytes = self._out_bytes = 0

    def feed(self, packed: bytes) -> bytes:
        """The bytes of `packed`. Raises REQUEST_TOO_LARGE beyond a limit, UNREADABLE for a broken stream."""
        limits = self._limits
        self._in_bytes += len(packed)
        by_ratio = max(_FREE_BYTES, self._in_bytes * limits.max_decompression_ratio)
        most = min(limits.max_decompressed_bytes, by_ratio)
        try:
            # One byte more than allowed shows that there is more; zlib takes 0 for "no limit".
            unpacked = self._zlib.decompress(packed, most - self._out_bytes + 1)
        except zlib.error as error:
            raise BrokerError(ErrorCode.UNREADABLE, f"the body is not {self._encoding}") from error
        self._out_bytes += len(unpacked)
        if self._out_bytes > most:
            raise too_large(self._out_bytes, most)
        if self._zlib.unused_data:
            raise BrokerError(ErrorCode.UNREADABLE, f"there is data after the end of the {self._encoding} body")
        return unpacked

    def end(self) -> None:
        """Raises UNREADABLE if the stream has no end."""
        if not self._zlib.eof:
            raise BrokerError(ErrorCode.UNREADABLE, f"the {self._encoding} body ends too early")
