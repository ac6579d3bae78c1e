"""The file system as a port: the log is written once and runs on a disk, in memory, and on a disk that a test breaks.

Paths are relative to the root, with `/` between their parts. Every failure of the machine is a `BrokerError`
(STORAGE_ERROR) that names the path; `read` of a file that is not there is one too.
"""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import Protocol

from broker_core.errors import BrokerError, ErrorCode

Data = bytes | bytearray | memoryview


class AppendFile(Protocol):
    """A file that only grows."""

    @property
    def size(self) -> int:
        """Bytes in the file, all of them whole appends."""

    def append(self, data: Data) -> int:
        """Write all of `data` at the end, or nothing of it and raise; the position at which it starts."""

    def begin_sync(self) -> Callable[[], None]:
        """A call that makes everything appended so far durable. It may run in any thread, and takes no lock."""

    def close(self) -> None:
        """Give back what the system holds for it; what was appended stays."""


class FileLock(Protocol):
    """The right to use a directory, until released or until the process dies."""

    def release(self) -> None:
        """Let another one in; releasing twice is harmless."""


class FileSystem(Protocol):
    """What the core asks of a file system."""

    def open_append(self, path: str) -> AppendFile:
        """The file at `path`, created where it is missing."""

    def read(self, path: str, offset: int, length: int) -> bytes:
        """Up to `length` bytes from `offset` on; fewer only at the end of the file."""

    def write_whole(self, path: str, data: Data, *, durable: bool) -> None:
        """Replace the file at `path` by `data`, so that a reader finds the old one or the new one.

        `durable` waits until it survives a power cut.
        """

    def size(self, path: str) -> int:
        """Bytes in the file."""

    def exists(self, path: str) -> bool:
        """True for a file or a directory."""

    def listdir(self, path: str) -> list[str]:
        """Names in the directory, sorted; empty where there is no such directory."""

    def makedirs(self, path: str) -> None:
        """Create the directory and its parents where they are missing."""

    def remove(self, path: str) -> None:
        """Remove a file, or an empty directory; nothing happens where it is gone."""

    def rename(self, old: str, new: str) -> None:
        """Move a file, replacing what is at `new`, in one step."""

    def truncate(self, path: str, size: int) -> None:
        """Cut the file to its first `size` bytes."""

    def fsync_dir(self, path: str) -> None:
        """Make the names in the directory durable. It may run in any thread."""

    def lock(self, path: str) -> FileLock:
        """Take the lock file at `path`. Raises DIRECTORY_IN_USE where somebody has it."""

    def close(self) -> None:
        """Give back what the system holds for open files."""


def parts_of(path: str) -> tuple[str, ...]:
    """The parts of a relative path. Raises STORAGE_ERROR for one that leaves the root."""
    parts = pathlib.PurePosixPath(path).parts
    if path.startswith("/") or ".." in parts or "\\" in path or "\0" in path:
        raise BrokerError(ErrorCode.STORAGE_ERROR, f"{path!r} leads out of the data directory")
    return parts
