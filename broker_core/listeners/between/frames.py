"""A stream of bytes cut into frames of Kafka's protocol, and what a stranger's first bytes say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from broker_core.errors import BrokerError, ErrorCode

LENGTH_BYTES: Final = 4
MOST_REQUEST_BYTES: Final = 128 * 1_048_576  # Kafka's own limit is 100 MiB, unless it is set
MOST_ANSWER_BYTES: Final = (1 << 31) - 1
_HTTP: Final = (b"GET ", b"POST", b"PUT ", b"HEAD", b"DELE", b"OPTI", b"PATC", b"CONN", b"PRI ", b"HTTP")
_TLS: Final = (b"\x16\x03", b"\x15\x03")  # a handshake, an alert


class Frames:
    """`take` gives each frame as soon as it is whole, its length in front. What never gets whole is never given."""

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self.begun: list[bytes] = []  # what has arrived of a frame that is still incomplete
        self._have = self._need = 0

    @property
    def held_bytes(self) -> int:
        """Size of what has arrived of a frame that is still incomplete."""
        return self._have if self.begun else 0

    def clear(self) -> None:
        self.begun.clear()

    def take(self, data: bytes) -> Iterator[bytes]:
        """Raises MALFORMED_REQUEST, with a sentence, for what is no frame of Kafka's."""
        if self.begun:
            self.begun.append(data)
            self._have += len(data)
            if self._have < self._need:
                return
            data = b"".join(self.begun)
            self.begun.clear()
        at, end = 0, len(data)
        self._need = LENGTH_BYTES
        while end - at >= LENGTH_BYTES:
            size = int.from_bytes(data[at : at + LENGTH_BYTES], "big")
            if not 0 <= size <= self.most_bytes:
                raise BrokerError(ErrorCode.MALFORMED_REQUEST, _stranger(data[at : at + LENGTH_BYTES], size))
            self._need = LENGTH_BYTES + size
            if end - at < self._need:
                break
            yield data if not at and end == self._need else data[at : at + self._need]
            at += self._need
            self._need = LENGTH_BYTES
        if at < end:
            self.begun.append(data[at:] if at else data)
        self._have = end - at


def _stranger(first: bytes, size: int) -> str:
    if first in _HTTP:
        return "it speaks HTTP, and this port passes on Kafka's protocol"
    if first[:2] in _TLS:
        return "it speaks TLS, and the other side of this connection does not: see security.protocol"
    return f"a frame of {size} bytes is announced, which is none of Kafka's"
