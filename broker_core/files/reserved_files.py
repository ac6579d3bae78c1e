"""A file system with reserved space, so that messages can be deleted on a full disk.

Deleting messages begins with writing a checkpoint. On a full disk that would fail, and no space could be freed.
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
    """`files` with a reserve file of `RESERVE_BYTES`.

    Small files that are written as a whole, new files and directories may use its space on a full disk. Appends of
    messages may not.
    """

    def refill(self) -> None:
        """Restore the reserve, as far as there is space."""
        for size in _SIZES_BYTES:
            if self._reserved_bytes() >= size:
                return
            with contextlib.suppress(BrokerError):  # the disk is full: try a smaller size
                # Random bytes, which a file system cannot compress.
                self._files.write_whole(RESERVE_FILE, os.urandom(size), durable=False)

    def _reserved_bytes(self) -> int:
        try:
            return self._files.size(RESERVE_FILE)
        except BrokerError:
            return 0

    def spending(self, action: Callable[[], T]) -> T:
        """The result of `action`. Where it fails, it is retried without the reserve."""
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
