"""Files in memory, for logs that live and die with the process."""

from __future__ import annotations

from collections.abc import Callable

from broker_core.errors import BrokerError, ErrorCode
from broker_core.files.port import AppendFile, Data, FileLock, parts_of


class _MemoryAppendFile:
    def __init__(self, data: bytearray) -> None:
        self._data = data

    @property
    def size(self) -> int:
        return len(self._data)

    def append(self, data: Data) -> int:
        position = len(self._data)
        self._data += data
        return position

    def begin_sync(self) -> Callable[[], None]:
        return _nothing

    def close(self) -> None:
        """The bytes live as long as the file system."""


class _MemoryLock:
    def __init__(self, locks: set[str], path: str) -> None:
        self._locks = locks
        self._path = path

    def release(self) -> None:
        self._locks.discard(self._path)


def _nothing() -> None:
    return


class MemoryFiles:
    """Files that live and die with the process: durability `memory`."""

    def __init__(self) -> None:
        self._files: dict[str, bytearray] = {}
        self._directories: set[str] = {""}
        self._locks: set[str] = set()

    def _file(self, path: str) -> bytearray:
        data = self._files.get(path)
        if data is None:
            raise BrokerError(ErrorCode.STORAGE_ERROR, f"{path!r} is missing")
        return data

    def open_append(self, path: str) -> AppendFile:
        parts_of(path)
        return _MemoryAppendFile(self._files.setdefault(path, bytearray()))

    def read(self, path: str, offset: int, length: int) -> bytes:
        with memoryview(self._file(path)) as view:
            return bytes(view[offset : offset + length])

    def write_whole(self, path: str, data: Data, *, durable: bool) -> None:
        parts_of(path)
        self._files[path] = bytearray(data)

    def size(self, path: str) -> int:
        return len(self._file(path))

    def exists(self, path: str) -> bool:
        return path in self._files or path in self._directories

    def listdir(self, path: str) -> list[str]:
        prefix = f"{path}/" if path else ""
        known = [*self._files, *self._directories]
        return sorted({name[len(prefix) :].split("/")[0] for name in known if name.startswith(prefix)} - {""})

    def makedirs(self, path: str) -> None:
        parts = parts_of(path)
        self._directories.update("/".join(parts[: depth + 1]) for depth in range(len(parts)))

    def remove(self, path: str) -> None:
        self._files.pop(path, None)
        self._directories.discard(path)

    def rename(self, old: str, new: str) -> None:
        parts_of(new)
        self._files[new] = self._file(old)
        del self._files[old]

    def truncate(self, path: str, size: int) -> None:
        del self._file(path)[size:]

    def fsync_dir(self, path: str) -> None:
        """Nothing survives a power cut here."""

    def lock(self, path: str) -> FileLock:
        if path in self._locks:
            raise BrokerError(ErrorCode.DIRECTORY_IN_USE, f"{path!r} is taken")
        self._locks.add(path)
        return _MemoryLock(self._locks, path)

    def close(self) -> None:
        """Nothing is held."""
