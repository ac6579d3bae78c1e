"""A disk in memory that holds so many bytes and not one more."""

from __future__ import annotations

from collections.abc import Callable

from broker_core.errors import BrokerError, ErrorCode
from broker_core.files import AppendFile, Data, MemoryFiles, WrappedFiles


class SmallFiles(WrappedFiles):
    """`capacity_bytes` may be changed at any time; what is stored stays."""

    def __init__(self, capacity_bytes: int) -> None:
        self.memory = MemoryFiles()
        super().__init__(self.memory)
        self.capacity_bytes = capacity_bytes

    @property
    def used_bytes(self) -> int:
        return sum(content.size for content in self.memory._files.values())

    def take(self, size: int) -> None:
        if self.used_bytes + size > self.capacity_bytes:
            raise BrokerError(ErrorCode.STORAGE_ERROR, "the disk is full; free some space and try again")

    def open_append(self, path: str) -> AppendFile:
        return _SmallAppendFile(self, self.memory.open_append(path))

    def write_whole(self, path: str, data: Data, *, durable: bool) -> None:
        self.take(len(data))  # beside the old one, until it is replaced
        self.memory.write_whole(path, data, durable=durable)


class _SmallAppendFile:
    def __init__(self, files: SmallFiles, file: AppendFile) -> None:
        self._files = files
        self._file = file

    @property
    def size(self) -> int:
        return self._file.size

    def append(self, data: Data) -> int:
        self._files.take(len(data))
        return self._file.append(data)

    def begin_sync(self) -> Callable[[], None]:
        return self._file.begin_sync()

    def close(self) -> None:
        self._file.close()
