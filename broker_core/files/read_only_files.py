from __future__ import annotations

import os
from collections.abc import Callable

from broker_core.errors import BrokerError, ErrorCode
from broker_core.files.disk_files import DiskFiles
from broker_core.files.port import AppendFile, Data, parts_of


class _ReadOnlyAppendFile:
    """A file that refuses appends; a missing file is empty."""

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
    """Files below an existing `root`. Writing raises READ_ONLY; the clean-up of recovery has no effect."""

    _open_flags = os.O_RDONLY

    def refusal(self) -> BrokerError:
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
        """No effect: a missing directory is empty."""

    def remove(self, path: str) -> None:
        """No effect: only recovery's clean-up gets here, because changes are written first, which is refused."""

    def truncate(self, path: str, size: int) -> None:
        """No effect, see `remove`."""

    def rename(self, old: str, new: str) -> None:
        """No effect, see `remove`."""

    def fsync_dir(self, path: str) -> None:
        """No effect."""

    def lock(self, path: str) -> Callable[[], None]:
        return self._lock(path, os.O_RDONLY, shared=True)
