"""Files of another kind with something added: a disk that can be full, and space set aside."""

from __future__ import annotations

import contextlib
import errno
import os
import time
from collections.abc import Callable
from typing import TypeVar

from broker_core.errors import BrokerError
from broker_core.files.disk_files import storage_error
from broker_core.files.port import AppendFile, Data, FileSystem

T = TypeVar("T")
FULL = OSError(errno.ENOSPC, "")


class WrappedFiles:
    """Forwards every call to `files`."""

    def __init__(self, files: FileSystem) -> None:
        self._files = files
        self.size, self.exists, self.listdir = files.size, files.exists, files.listdir
        self.remove, self.rename, self.truncate = files.remove, files.rename, files.truncate
        self.fsync_dir, self.lock, self.close, self.pieces = files.fsync_dir, files.lock, files.close, files.pieces
        self.in_memory = files.in_memory

    def open_append(self, path: str) -> AppendFile:
        return self._files.open_append(path)

    def write_whole(self, path: str, data: Data, *, durable: bool) -> None:
        self._files.write_whole(path, data, durable=durable)

    def makedirs(self, path: str) -> None:
        self._files.makedirs(path)

    def read(self, path: str, offset: int, length: int) -> bytes:
        return self._files.read(path, offset, length)


class _BreakableAppendFile:
    def __init__(self, files: BreakableFiles, path: str, file: AppendFile) -> None:
        self._files = files
        self._path = path
        self._file = file

    @property
    def size(self) -> int:
        return self._file.size

    def append(self, data: Data) -> int:
        if self._files.full:
            raise storage_error(self._path, FULL)
        return self._file.append(data)

    def begin_sync(self) -> Callable[[], None]:
        sync, delay_s = self._file.begin_sync(), self._files.sync_delay_s
        if not delay_s:
            return sync

        def late() -> None:
            time.sleep(delay_s)
            sync()

        return late

    def close(self) -> None:
        self._file.close()


class BreakableFiles(WrappedFiles):
    """`files` that cannot be written while `full`, and whose syncs of messages take `sync_delay_s` longer."""

    def __init__(self, files: FileSystem) -> None:
        super().__init__(files)
        self.full = False
        self.sync_delay_s = 0.0

    def open_append(self, path: str) -> AppendFile:
        return _BreakableAppendFile(self, path, self._files.open_append(path))

    def write_whole(self, path: str, data: Data, *, durable: bool) -> None:
        if self.full:
            raise storage_error(path, FULL)
        self._files.write_whole(path, data, durable=durable)


RESERVE_FILE = "reserve"
RESERVE_BYTES = 1 << 20
_SIZES_BYTES = (RESERVE_BYTES, RESERVE_BYTES // 4, RESERVE_BYTES // 16)


class ReservedFiles(WrappedFiles):
    """`files` with `RESERVE_BYTES` in reserve on a full disk, for whole and new files, not for appends."""

    def refill(self) -> None:
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
        """The result of `action`. If it fails, it is retried without the reserve."""
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
