"""A file system whose disk can be filled, emptied again, and slowed down while it is in use."""

from __future__ import annotations

import time
from collections.abc import Callable

from broker_core.errors import BrokerError, ErrorCode
from broker_core.files.port import AppendFile, Data, FileSystem
from broker_core.files.wrapped_files import WrappedFiles


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
            raise full_disk(self._path)
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


def full_disk(path: str) -> BrokerError:
    """The error of a write to `path` on a full disk."""
    return BrokerError(ErrorCode.STORAGE_ERROR, f"{path!r}: the disk is full; free some space and try again")


class BreakableFiles(WrappedFiles):
    """`files`; while `full` is True nothing more can be written to them, and reading goes on.

    Each sync of messages takes `sync_delay_s` longer.
    """

    def __init__(self, files: FileSystem) -> None:
        super().__init__(files)
        self.full = False
        self.sync_delay_s = 0.0

    def open_append(self, path: str) -> AppendFile:
        return _BreakableAppendFile(self, path, self._files.open_append(path))

    def write_whole(self, path: str, data: Data, *, durable: bool) -> None:
        if self.full:
            raise full_disk(path)
        self._files.write_whole(path, data, durable=durable)
