"""The bytes of one connection: what came is cut into frames, responses wait until the client reads them."""

from __future__ import annotations

import asyncio
import contextlib
import os
import struct
import time
from collections import deque
from collections.abc import Callable
from itertools import islice

from broker_core.kafka_messages.reading import Data
from broker_core.listeners.access.limits import Budget, GuardConfig

_LENGTH = struct.Struct(">i")
_MOST_PIECES = 1_024  # IOV_MAX of Linux


class TooLargeError(Exception):
    """A frame announces more bytes than there may be, or none."""


class FrameTransport:
    """`held_bytes` are in the budget: frames that nobody has taken yet, and responses that the client has not read.

    `make_room` is called when there are more of them. A frame has at most `most_bytes`.
    """

    def __init__(
        self, transport: asyncio.Transport, most_bytes: int, budget: Budget, make_room: Callable[[], object]
    ) -> None:
        self._transport, self._budget, self._make_room = transport, budget, make_room
        self.most_bytes = most_bytes
        self.heard_s = time.monotonic()
        self.held_bytes = 0
        self._received = bytearray()
        self._unsent: deque[memoryview] = deque()  # what the transport has not got
        self._unread_bytes = 0  # of responses
        self._stuck_since_s: float | None = None  # since then the client has read nothing of them
        self._partial_since_s: float | None = None  # since then a frame is incomplete
        self._is_reading = True
        self._descriptor: int | None = None  # of the socket; None with TLS
        if transport.get_extra_info("sslcontext") is None:
            transport.set_write_buffer_limits(0)  # so it has nothing where we write, too
            self._descriptor = transport.get_extra_info("socket").fileno()

    @property
    def is_idle(self) -> bool:
        """Whether all that was received has been taken."""
        return not self._received

    @property
    def is_open_for_frames(self) -> bool:
        """Whether another request may be served: not before the client reads the response to the last."""
        return self._stuck_since_s is None and not self._transport.is_closing()

    def receive(self, data: bytes) -> None:
        self.heard_s = time.monotonic()
        self._received += data
        self._count_held()

    def next_frame(self) -> Data | None:
        """The next whole frame without its length; None if it has not come. Raises TooLargeError."""
        received = self._received
        if len(received) < _LENGTH.size:
            self._partial_since_s = None if not received else self._partial_since_s or time.monotonic()
            return None
        (size,) = _LENGTH.unpack_from(received)
        if not 0 < size <= self.most_bytes:
            raise TooLargeError(f"a request of {size} bytes, where 1 to {self.most_bytes} are allowed")
        end = _LENGTH.size + size
        if len(received) < end:
            self._make_room()
            self._partial_since_s = self._partial_since_s or time.monotonic()
            return None
        self._partial_since_s = None
        if 2 * end < len(received):
            frame = memoryview(bytes(memoryview(received)[:end]))
            del received[:end]
        else:  # what is behind it is less to copy
            frame, self._received = memoryview(received)[:end], received[end:]
        self._count_held()
        return frame[_LENGTH.size :]

    def read_on(self, busy: bool) -> None:
        """Read from the socket; only one frame ahead while none can be served (`busy`) or the client is stuck."""
        held = busy or self._stuck_since_s is not None
        reading = not held or len(self._received) < self.most_bytes
        if reading != self._is_reading and not self._transport.is_closing():
            self._is_reading = reading
            (self._transport.resume_reading if reading else self._transport.pause_reading)()

    def write(self, *data: Data) -> bool:
        """Queues bytes; False if the connection is closing."""
        if not self._transport.is_closing():
            self._unsent.extend(map(memoryview, data))
            self._push()
            self._count_held()
            if self._unread_bytes:
                self._make_room()
        return not self._transport.is_closing()

    def pause_writing(self) -> None:
        self._stuck_since_s = time.monotonic()

    def resume_writing(self) -> None:
        self._stuck_since_s = None
        self._push()
        self._count_held()

    def overdue(self, now_s: float, partial_ms: int, limits: GuardConfig) -> str:
        """Why to close the connection: a request incomplete for over `partial_ms`, or unread responses; else ""."""
        if self._unread_bytes:
            before_bytes = self._unread_bytes
            self._count_held()
            if self._stuck_since_s is not None and self._unread_bytes < before_bytes:
                self._stuck_since_s = now_s  # it has read some, and has the whole time again
        if self._partial_since_s is not None and now_s - self._partial_since_s > partial_ms / 1_000:
            return "a request that does not end"
        if self._stuck_since_s is not None and now_s - self._stuck_since_s > limits.write_timeout_ms / 1_000:
            return "it does not read its responses"
        return ""

    def release(self) -> None:
        """Forget all bytes: the connection ends."""
        self._received.clear()
        self._unsent.clear()
        self._budget.bytes -= self.held_bytes
        self.held_bytes = self._unread_bytes = 0

    def _push(self) -> None:
        """Give the socket what it takes, without a copy. The transport gets what comes next, and says when to go on."""
        unsent, transport = self._unsent, self._transport
        while unsent and self._stuck_since_s is None and not transport.is_closing():
            if self._descriptor is not None and len(unsent) > 1:
                sent_bytes = 0
                with contextlib.suppress(OSError):  # the transport meets it, too
                    sent_bytes = os.writev(self._descriptor, [*islice(unsent, _MOST_PIECES)])
                while unsent and sent_bytes >= len(unsent[0]):
                    sent_bytes -= len(unsent.popleft())
                if unsent:
                    unsent[0] = unsent[0][sent_bytes:]
            if unsent:
                transport.write(unsent.popleft())

    def _count_held(self) -> None:
        self._unread_bytes = self._transport.get_write_buffer_size() + sum(map(len, self._unsent))
        held_bytes = len(self._received) + self._unread_bytes
        self._budget.bytes += held_bytes - self.held_bytes
        self.held_bytes = held_bytes
