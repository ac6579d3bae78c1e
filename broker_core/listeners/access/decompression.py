"""Decompression with a limit on size and ratio, against compression bombs."""

from __future__ import annotations

import zlib

from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.access.limits import GuardConfig, too_large

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
            raise BrokerError(ErrorCode.UNREADABLE, f"something follows the end of the {self._encoding} body")
        return unpacked

    def end(self) -> None:
        """Raises UNREADABLE where the stream has no end."""
        if not self._zlib.eof:
            raise BrokerError(ErrorCode.UNREADABLE, f"the {self._encoding} body ends too early")
