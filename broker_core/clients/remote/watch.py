"""Who waits at the socket of a connection: the link's thread, or a thread that waits for an answer and reads it itself.

Most answers have one thread that waits for them. Where that thread reads, the answer has no other thread to pass, which
would cost more than all the rest of a round trip. The link's thread then watches the clock, and what is to be written.
"""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading

READ, WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE
NOBODY = 0
_LONGEST_S = 3_600.0


class _Bell:
    """Wakes a thread that waits at a selector."""

    def __init__(self, selector: selectors.BaseSelector) -> None:
        self._near, self._far = socket.socketpair()
        for each in (self._near, self._far):
            each.setblocking(False)
        selector.register(self._far, READ)

    def ring(self) -> None:
        """From any thread."""
        with contextlib.suppress(OSError):
            self._near.send(b"\0")

    def silence(self) -> None:
        """It was heard."""
        with contextlib.suppress(OSError):
            self._far.recv(4_096)

    def close(self) -> None:
        """Give back what it is made of."""
        self._near.close()
        self._far.close()


class Watch:
    """Of one connection. Everything but the waiting itself is done under the host's lock."""

    def __init__(self, sock: socket.socket) -> None:
        self.socket = sock
        self._selector, self._readers_selector = selectors.DefaultSelector(), selectors.DefaultSelector()
        self._bell, self._readers_bell = _Bell(self._selector), _Bell(self._readers_selector)
        self._selector.register(sock, READ)
        self._readers_selector.register(sock, READ)
        self._events = READ  # that the link's thread waits for
        self._writing = False
        self._reader = NOBODY
        self.failure: Exception | None = None  # that who reads or writes has found
        self.ended = False

    # -- the link's thread

    def wait(self, timeout_s: float) -> int:
        """What the socket is ready for: READ, WRITE, both or neither."""
        found = 0
        for key, events in self._selector.select(timeout_s):
            if key.fileobj is self.socket:
                found = events
            else:
                self._bell.silence()
        return found

    def ring(self) -> None:
        """Have the link's thread look around."""
        self._bell.ring()

    def fail(self, failure: Exception) -> None:
        """Have the link's thread end the connection for that."""
        self.failure = failure
        self._bell.ring()

    def want_write(self, wanted: bool) -> None:
        """Have the link's thread woken where the socket takes more."""
        if wanted != self._writing:
            self._writing = wanted
            self._settle()

    def end(self) -> None:
        """The connection is lost."""
        self.ended = True
        if self._reader == NOBODY:
            self._close()
        else:
            self._readers_bell.ring()

    # -- a thread that reads in its place

    def take(self) -> bool:
        """Read in the place of the link's thread; False where somebody does already."""
        if self._reader != NOBODY or self.ended:
            return False
        self._reader = threading.get_ident()
        self._settle()
        return True

    def leave(self, lock: threading.RLock) -> None:
        """`give_back` under `lock`, and once more where Ctrl+C comes just then: else nobody would ever read again."""
        try:
            with lock:
                self.give_back()
        except BaseException:
            with lock:
                self.give_back()
            raise

    def give_back(self) -> None:
        """Read no longer; nothing happens where it is another thread that reads."""
        if self._reader not in (NOBODY, threading.get_ident()):
            return
        self._reader = NOBODY
        if self.ended:
            self._close()
            return
        self._settle()
        if self.failure is not None:
            self._bell.ring()

    def wait_to_read(self, timeout_s: float | None) -> bool:
        """Whether there is something to read; False also where the bell was rung."""
        found = False
        # A selector cannot wait for centuries.
        for key, _ in self._readers_selector.select(None if timeout_s is None else min(timeout_s, _LONGEST_S)):
            if key.fileobj is self.socket:
                found = True
            else:
                self._readers_bell.silence()
        return found

    def ring_reader(self, _reply: object = None) -> None:
        """Have who reads look around, where it is not who rings."""
        if self._reader not in (NOBODY, threading.get_ident()) and not self.ended:
            self._readers_bell.ring()

    # -- inside

    def _settle(self) -> None:
        events = (READ if self._reader == NOBODY else 0) | (WRITE if self._writing else 0)
        if not events:
            self._selector.unregister(self.socket)
        elif not self._events:
            self._selector.register(self.socket, events)
        else:
            self._selector.modify(self.socket, events)
        self._events = events

    def _close(self) -> None:
        for each in (self.socket, self._selector, self._readers_selector, self._bell, self._readers_bell):
            each.close()
