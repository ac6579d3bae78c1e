"""The file system as a port, so that the log runs on a disk, in memory, and on the failing disk of a test.

Paths are relative to the root, with `/` as the separator. Every I/O error, also `read` of a missing file, is a
`BrokerError` (STORAGE_ERROR) that names the path.
"""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import Protocol

from broker_core.errors import BrokerError, ErrorCode

Data = bytes | bytearray | memoryview


class AppendFile(Protocol):
    @property
    def size(self) -> int:
        """The size in bytes, without partial appends."""

    def append(self, data: Data) -> int:
        """Append all of `data`, or raise without any change. Returns its position."""

    def begin_sync(self) -> Callable[[], None]:
        """A function that makes everything appended so far durable. It may run in any thread, without a lock."""

    def close(self) -> None:
        """Close the file."""


class FileSystem(Protocol):
    in_memory: bool  # so that what is read is what was written

    def open_append(self, path: str) -> AppendFile:
        """The file at `path`, created if it is missing."""

    def read(self, path: str, offset: int, length: int) -> bytes:
        """Up to `length` bytes from `offset` on; fewer only at the end of the file."""

    def pieces(self, path: str, offset: int, length: int) -> list[bytes | memoryview]:
        """The same bytes as `read`, without copying what is in memory. They do not change later."""

    def write_whole(self, path: str, data: Data, *, durable: bool) -> None:
        """Replace the file at `path` by `data` atomically. With `durable`, wait until it survives a power cut."""

    def size(self, path: str) -> int:
        """Bytes in the file."""

    def exists(self, path: str) -> bool:
        """True for a file or a directory."""

    def listdir(self, path: str) -> list[str]:
        """Sorted names in the directory; [] if it does not exist."""

    def makedirs(self, path: str) -> None:
        """Create the directory and its parents where they are missing."""

    def remove(self, path: str) -> None:
        """Remove a file or an empty directory, if it exists."""

    def rename(self, old: str, new: str) -> None:
        """Rename a file atomically, replacing `new`."""

    def truncate(self, path: str, size: int) -> None:
        """Cut the file to its first `size` bytes."""

    def fsync_dir(self, path: str) -> None:
        """Make the names in the directory durable. It may run in any thread."""

    def lock(self, path: str) -> Callable[[], None]:
        """Lock the file at `path` until the returned function is called, or the process ends. A second call of it does
        nothing. Raises DIRECTORY_IN_USE if it is locked.
        """

    def close(self) -> None:
        """Close all open files."""


def parts_of(path: str) -> tuple[str, ...]:
    """The components of a relative path. Raises STORAGE_ERROR for a path outside the root."""
    parts = pathlib.PurePosixPath(path).parts
    if path.startswith("/") or ".." in parts or "\\" in path or "\0" in path:
        raise BrokerError(ErrorCode.STORAGE_ERROR, f"{path!r} leads out of the data directory")
    return parts
