from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from functools import partial

from broker_core.errors import BrokerError, ErrorCode, must
from broker_core.files.port import AppendFile, Data, parts_of

_CHUNK_BYTES = 64 * 1_024  # small appends are joined until they are as many
_KEPT_BYTES = 4 * 1_024  # larger ones are kept as they are


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
        if len(data) >= _KEPT_BYTES and not isinstance(data, memoryview):
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
        return b"".join(self.pieces(offset, length))

    def pieces(self, offset: int, length: int) -> list[bytes | memoryview]:
        end = min(offset + length, self.size)
        if end <= offset:
            return []
        first, last = bisect_right(self._starts, offset) - 1, bisect_left(self._starts, end) - 1
        found: list[bytes | memoryview] = [memoryview(each) for each in self._chunks[first : last + 1]]
        found[-1] = found[-1][: end - self._starts[last]]
        found[0] = found[0][offset - self._starts[first] :]
        if last == len(self._chunks) - 1 and len(self._chunks[last]) < _CHUNK_BYTES:
            found[-1] = bytes(found[-1])  # it may grow, which it cannot while somebody looks at it
        return found

    def truncate(self, size: int) -> None:
        kept = self.read(0, size)
        self._chunks, self._starts, self.size = [bytearray(kept)], [0], len(kept)

    def begin_sync(self) -> Callable[[], None]:
        return lambda: None

    def close(self) -> None:
        """No effect in memory."""


class MemoryFiles:
    """Files in memory. Directories have indexes, so that the cost of a call is independent of the number of files."""

    in_memory = True

    def __init__(self) -> None:
        self._files: dict[str, _Content] = {}
        self._directories: dict[str, dict[str, None]] = {"": {}}
        self._locks: set[str] = set()

    def _file(self, path: str) -> _Content:
        return must(self._files.get(path), ErrorCode.STORAGE_ERROR, f"{path!r} is missing")

    def _put(self, path: str, content: _Content) -> _Content:
        parts_of(path)
        directory, _, name = path.rpartition("/")
        self.makedirs(directory)
        self._directories[directory][name] = None
        self._files[path] = content
        return content

    def open_append(self, path: str) -> AppendFile:
        return self._files.get(path) or self._put(path, _Content())

    def read(self, path: str, offset: int, length: int) -> bytes:
        return self._file(path).read(offset, length)

    def pieces(self, path: str, offset: int, length: int) -> list[bytes | memoryview]:
        return self._file(path).pieces(offset, length)

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
        content = self._file(old)
        self.remove(old)
        self._put(new, content)

    def truncate(self, path: str, size: int) -> None:
        self._file(path).truncate(size)

    def fsync_dir(self, path: str) -> None:
        """No effect in memory."""

    def lock(self, path: str) -> Callable[[], None]:
        if path in self._locks:
            raise BrokerError(ErrorCode.DIRECTORY_IN_USE, f"{path!r} is locked")
        self._locks.add(path)
        return partial(self._locks.discard, path)

    def close(self) -> None:
        """No effect in memory."""
