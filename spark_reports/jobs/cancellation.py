"""Stopping the job from outside: SIGTERM, Ctrl+C, a line "cancel", the end of standard input, or nobody reading."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator

from spark_reports.errors import Cancelled

LINE_BYTES = 1_048_576


class Cancellation:
    """A request that comes once and stays."""

    def __init__(self) -> None:
        self._requested = threading.Event()
        self._kill: Callable[[], object] | None = None

    @property
    def requested(self) -> bool:
        return self._requested.is_set()

    def request(self, *_: object) -> None:
        """Stop as soon as possible: what Spark is doing now ends with its process."""
        self._requested.set()
        if self._kill is not None:
            self._kill()

    def kills(self, kill: Callable[[], object]) -> None:
        """`kill` is called on a request, at once where it came before."""
        self._kill = kill
        if self.requested:
            kill()

    def check(self) -> None:
        """Raises `Cancelled` after a request."""
        if self.requested:
            raise Cancelled

    def listen_to_signals(self) -> None:
        """SIGTERM and Ctrl+C are requests from now on. Only from the main thread."""
        signal.signal(signal.SIGTERM, self.request)
        signal.signal(signal.SIGINT, self.request)

    def listen_to_stdin(self) -> None:
        """A line "cancel" or the end of standard input is a request: whoever started us is gone, or wants us gone."""
        threading.Thread(target=self._read_stdin, name="cancellation", daemon=True).start()

    def _read_stdin(self) -> None:
        for line in lines_of(0):
            if line == b"cancel":
                break
        self.request()


def lines_of(source: int) -> Iterator[bytes]:
    """The lines of a file descriptor up to its end, or to one that is too long."""
    pending = b""
    while True:
        try:
            # Not sys.stdin: its lock would be held by this thread while the interpreter shuts down.
            piece = os.read(source, 65_536)
        except OSError:
            piece = b""
        *whole, pending = (pending + piece).split(b"\n")
        yield from whole
        if not piece or len(pending) > LINE_BYTES:
            return
