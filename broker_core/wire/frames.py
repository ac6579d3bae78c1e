"""Frames: how requests and replies lie in a stream of bytes.

    length i32 | api key i16 | version i16 | correlation id i32 | body

in network byte order. The length counts what is behind itself: 8 bytes and the body. A reply has the key, version and
correlation id of its request; an error has the key ERROR, version 0 and the correlation id.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from broker_core.errors import BrokerError, ErrorCode

LENGTH_BYTES = 4
HEAD_BYTES = 12
_REST_BYTES = HEAD_BYTES - LENGTH_BYTES
_LENGTH = struct.Struct(">I")
_HEAD = struct.Struct(">Ihhi")
# A frame that is too large is read past, so that the connection lives; one that claims more than this is no frame.
MAX_SKIPPED_BYTES = 256 * 1_048_576

Data = bytes | bytearray | memoryview


class Frame(NamedTuple):
    """One whole frame."""

    key: int
    version: int
    correlation: int
    body: Data


class BadFrame(NamedTuple):
    """A frame that cannot be read; `key`, `version` and `correlation` are 0 where they were not there to be read.

    What follows it can be read, unless it is `fatal`.
    """

    key: int
    version: int
    correlation: int
    error: BrokerError
    fatal: bool


def encode_frame(key: int, version: int, correlation: int, body: Data) -> bytes:
    """The bytes of a frame."""
    return _HEAD.pack(len(body) + _REST_BYTES, key, version, correlation) + body


class FrameDecoder:
    """Bytes in, frames out, however the bytes are split. It holds at most one frame of `max_frame_bytes`."""

    def __init__(self, max_frame_bytes: int) -> None:
        self.max_frame_bytes = max_frame_bytes
        self.broken = False  # a fatal frame came: nothing is read any more
        self._kept = bytearray()
        self._wanted = LENGTH_BYTES  # as many bytes as are needed to get any further
        self._skip = 0

    @property
    def partial(self) -> bool:
        """True in the middle of a frame."""
        return bool(self._kept) or self._skip > 0

    @property
    def held_bytes(self) -> int:
        """What is kept of a frame that is not whole yet."""
        return len(self._kept)

    def feed(self, data: bytes) -> list[Frame | BadFrame]:
        """The frames that `data` completes."""
        if self._kept:
            self._kept += data
            if len(self._kept) < self._wanted:
                return []
            data = bytes(self._kept)
            self._kept = bytearray()
        found: list[Frame | BadFrame] = []
        view = memoryview(data)
        position, end = 0, len(data)
        while position < end and not self.broken:
            if self._skip:
                passed = min(self._skip, end - position)
                position += passed
                self._skip -= passed
                continue
            self._wanted = self._needed(data, position, end)
            if end - position < self._wanted:
                self._kept += view[position:]
                break
            length, key, version, correlation = self._head(data, position)
            if length < _REST_BYTES:
                error = BrokerError(ErrorCode.INVALID_REQUEST, f"a frame of {length} bytes is too short for its head")
                found.append(BadFrame(0, 0, 0, error, False))
                position += LENGTH_BYTES
                self._skip = length
            elif length > self.max_frame_bytes:
                found.append(self._too_large(length, key, version, correlation))
                position += HEAD_BYTES
            else:
                stop = position + LENGTH_BYTES + length
                found.append(Frame(key, version, correlation, view[position + HEAD_BYTES : stop]))
                position = stop
        return found

    def _needed(self, data: bytes, position: int, end: int) -> int:
        """How many bytes from `position` on are needed to say what is there."""
        if end - position < LENGTH_BYTES:
            return LENGTH_BYTES
        length = _LENGTH.unpack_from(data, position)[0]
        if length < _REST_BYTES:
            return LENGTH_BYTES
        return HEAD_BYTES if length > self.max_frame_bytes else LENGTH_BYTES + int(length)

    @staticmethod
    def _head(data: bytes, position: int) -> tuple[int, int, int, int]:
        length = _LENGTH.unpack_from(data, position)[0]
        return (length, 0, 0, 0) if length < _REST_BYTES else _HEAD.unpack_from(data, position)

    def _too_large(self, length: int, key: int, version: int, correlation: int) -> BadFrame:
        self._skip = length - _REST_BYTES
        self.broken = self._skip > MAX_SKIPPED_BYTES
        error = BrokerError(
            ErrorCode.REQUEST_TOO_LARGE, f"a frame of {length} bytes, where {self.max_frame_bytes} are the most"
        )
        return BadFrame(key, version, correlation, error, self.broken)
