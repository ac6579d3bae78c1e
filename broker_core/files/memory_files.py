from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable

from broker_core.errors import BrokerError, ErrorCode
from broker_core.files.port import AppendFile, Data, FileLock, parts_of

_CHUNK_BYTES = 64 * 1_024  # larger appends are kept as they are; smaller ones are joined


class _Content:
    """The bytes of one file, in chunks, so that a growing file is never copied."""

    __slots__ = ("_chunks", "_starts", "size")

    def __init__(self, data: Data = b"") -> None:
        self._chunks: list[bytes | bytearray] = [bytearray(data)]
        self._starts = [0]
        self.size = len(data)

    def append(self, data: Data) -> int:
        position = self.size
        last = self._chunks[-1]
        if len(data) >= _CHUNK_BYTES and not isinstance(data, memoryview):
            self._add(data)  # not copied: the file owns it now
        elif isinstance(last, bytes) or len(last) >= _CHUNK_BYTES:
            self._add(bytearray(data))
        else:
            last += data
        self.size += len(data)
        return position

    def _add(self, chunk: bytes | bytearray) -> None:
        self._chunks.append(chunk)
        self._starts.append(self.size)

    def read(self, offset: int, length: int) -> bytes:
        end = min(offset + length, self.size)
        number = bisect_right(self._starts, offset) - 1
        found: list[memoryview] = []
        while offset < end:
            start, chunk = self._starts[number], self._chunks[number]
            found.append(memoryview(chunk)[offset - start : end - start])
            offset, number = start + len(chunk), number + 1
        return bytes(found[0]) if len(found) == 1 else b"".join(found)

    def truncate(self, size: int) -> None:
        kept = self.read(0, size)
        self._chunks, self._starts, self.size = [bytearray(kept)], [0], len(kept)


class _MemoryAppendFile:
    def __init__(self, content: _Content) -> None:
        self._content = content
        self.append = content.append

    @property
    def size(self) -> int:
        return self._content.size

    def begin_sync(self) -> Callable[[], None]:
        return _nothing

    def close(self) -> None:
        """No effect in memory."""


class _MemoryLock:
    def __init__(self, locks: set[str], path: str) -> None:
        self._locks = locks
        self._path = path

    def release(self) -> None:
        self._locks.discard(self._path)


def _nothing() -> None:
    return


class MemoryFiles:
    """Files in memory. Directories have indexes, so that the cost of a call is independent of the number of files."""

    def __init__(self) -> None:
        self._files: dict[str, _Content] = {}
        self._directories: dict[str, dict[str, None]] = {"": {}}
        self._locks: set[str] = set()

    def _file(self, path: str) -> _Content:
        data = self._files.get(path)
        if data is None:
            raise BrokerError(ErrorCode.STORAGE_ERROR, f"{path!r} is missing")
        return data

    def _put(self, path: str, content: _Content) -> _Content:
        parts_of(path)
        directory, _, name = path.rpartition("/")
        self.makedirs(directory)
        self._directories[directory][name] = None
        self._files[path] = content
        return content

    def open_append(self, path: str) -> AppendFile:
        return _MemoryAppendFile(self._files.get(path) or self._put(path, _Content()))

    def read(self, path: str, offset: int, length: int) -> bytes:
        return self._file(path).read(offset, length)

    def write_whole(self, path: str, data: Data, *, durable: bool) -> None:
        self._put(path, _Content(data))

    def size(self, path: str) -> int:
        return self._file(path).size

    def exists(self, path: str) -> bool:
        return path in self._files or path in self._directories

    def listdir(self, path: str) -> list[str]:
        return sorted(self._directories.get(path, ()))

    def makedirs(self, path: str) -> None:
        parts_of(path)
        while path not in self._directories:
            self._directories[path] = {}
            path, _, name = path.rpartition("/")
            self._directories.setdefault(path, {})[name] = None

    def remove(self, path: str) -> None:
        if self._directories.get(path):
            raise BrokerError(ErrorCode.STORAGE_ERROR, f"{path!r}: Directory not empty")
        known = self._files.pop(path, None) is not None or self._directories.pop(path, None) is not None
        if known:
            directory, _, name = path.rpartition("/")
            del self._directories[directory][name]

    def rename(self, old: str, new: str) -> None:
        self._put(new, self._file(old))
        self.remove(old)

    def truncate(self, path: str, size: int) -> None:
        self._file(path).truncate(size)

    def fsync_dir(self, path: str) -> None:
        """No effect in memory."""

    def lock(self, path: str) -> FileLock:
        if path in self._locks:
            raise BrokerError(ErrorCode.DIRECTORY_IN_USE, f"{path!r} is locked")
        self._locks.add(path)
        return _MemoryLock(self._locks, path)

    def close(self) -> None:
        """No effect in memory."""
