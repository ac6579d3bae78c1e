"""A file system that keeps some bytes back, so that a full disk can be left again.

To delete messages, a broker writes first what must be remembered of them. On a disk without a free byte it could not,
and so never get a free byte either.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from typing import TypeVar

from broker_core.errors import BrokerError
from broker_core.files.port import AppendFile, Data
from broker_core.files.wrapped_files import WrappedFiles

T = TypeVar("T")

RESERVE_FILE = "reserve"
RESERVE_BYTES = 1 << 20
_SIZES_BYTES = (RESERVE_BYTES, RESERVE_BYTES // 4, RESERVE_BYTES // 16)


class ReservedFiles(WrappedFiles):
    """`files` with a reserve of `RESERVE_BYTES` in a file of its own.

    Appending never touches the reserve: messages do not use up what is kept for deleting them. The small files that are
    written as a whole, new files and directories do, where the disk refuses them otherwise.
    """

    def refill(self) -> None:
        """Take back what was spent, as much of it as there is room for."""
        for size in _SIZES_BYTES:
            if self._reserved_bytes() >= size:
                return
            with contextlib.suppress(BrokerError):  # the disk is full: less must do, or what is there
                # No file system makes less of bytes like these.
                self._files.write_whole(RESERVE_FILE, os.urandom(size), durable=False)

    def _reserved_bytes(self) -> int:
        try:
            return self._files.size(RESERVE_FILE)
        except BrokerError:
            return 0

    def spending(self, action: Callable[[], T]) -> T:
        """What `action` returns; where the disk refuses it, the reserve is given up for it and it is tried again."""
        try:
            return action()
        except BrokerError:
            if not self._spend():
                raise
        try:
            return action()
        finally:
            self.refill()

    def _spend(self) -> bool:
        if not self._reserved_bytes():
            return False
        with contextlib.suppress(BrokerError):
            self._files.remove(RESERVE_FILE)
            return True
        return False

    def write_whole(self, path: str, data: Data, *, durable: bool) -> None:
        self.spending(lambda: self._files.write_whole(path, data, durable=durable))

    def open_append(self, path: str) -> AppendFile:
        return self.spending(lambda: self._files.open_append(path))

    def makedirs(self, path: str) -> None:
        self.spending(lambda: self._files.makedirs(path))
