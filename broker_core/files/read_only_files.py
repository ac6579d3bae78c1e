"""A directory on a disk that is only looked at: nothing in it changes, whatever is asked."""

from __future__ import annotations

import os
from collections.abc import Callable

from broker_core.errors import BrokerError, ErrorCode
from broker_core.files.disk_files import DiskFiles
from broker_core.files.port import AppendFile, Data, FileLock, parts_of


class _ReadOnlyAppendFile:
    """A file that takes nothing; one that is missing is empty."""

    def __init__(self, files: ReadOnlyFiles, path: str) -> None:
        self._files = files
        self._path = path
        self.size = files.size(path) if files.exists(path) else 0

    def append(self, data: Data) -> int:
        raise self._files.refusal()

    def begin_sync(self) -> Callable[[], None]:
        return lambda: None

    def close(self) -> None:
        self._files.forget(self._path)


class ReadOnlyFiles(DiskFiles):
    """Files below `root`, which must be there. Nothing is written, so a full disk, one that is mounted read-only, and
    files that are the reader's to read alone can be read like any other.

    Writing raises READ_ONLY. What recovery would only tidy up - a torn tail, what a killed program left half written -
    stays where it is.
    """

    _open_flags = os.O_RDONLY

    def refusal(self) -> BrokerError:
        """What whoever would change something is told."""
        return BrokerError(ErrorCode.READ_ONLY, f"{str(self.root)!r}; open it without read_only to change it")

    def _make_root(self) -> None:
        if not self.root.is_dir():
            raise BrokerError(ErrorCode.STORAGE_ERROR, f"{str(self.root)!r}: it is missing")

    def open_append(self, path: str) -> AppendFile:
        parts_of(path)
        return _ReadOnlyAppendFile(self, path)

    def write_whole(self, path: str, data: Data, *, durable: bool) -> None:
        raise self.refusal()

    def makedirs(self, path: str) -> None:
        """A directory that is missing is empty."""

    def remove(self, path: str) -> None:
        """It is only tidying: what matters is written first, and that is refused."""

    def truncate(self, path: str, size: int) -> None:
        """As `remove`."""

    def rename(self, old: str, new: str) -> None:
        """As `remove`."""

    def fsync_dir(self, path: str) -> None:
        """Nothing was written."""

    def lock(self, path: str) -> FileLock:
        return self._lock(path, os.O_RDONLY, shared=True)
