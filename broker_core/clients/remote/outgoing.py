"""Bytes on their way to a socket that does not block."""

from __future__ import annotations

import socket


class Outgoing:
    """What was said and is not sent yet."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._rest = memoryview(b"")  # of what the socket did not take at once
        self.size_bytes = 0

    def add(self, data: bytes) -> None:
        """Send this, after what was added before."""
        self._parts.append(data)
        self.size_bytes += len(data)

    @property
    def stuck(self) -> bool:
        """True where the socket has to be waited for."""
        return bool(self._rest)

    def write(self, sock: socket.socket) -> bool:
        """As much as the socket takes now; whether that was anything. What is wrong with it, reading finds out."""
        if not self._rest:
            if not self._parts:
                return False
            self._rest, self._parts = memoryview(b"".join(self._parts)), []
        try:
            sent = sock.send(self._rest)
        except OSError:
            return False
        self._rest = self._rest[sent:]
        self.size_bytes -= sent
        return sent > 0
