"""A base class of file systems that wrap another one."""

from __future__ import annotations

from broker_core.files.port import AppendFile, Data, FileLock, FileSystem


class WrappedFiles:
    """Forwards every call to `files`."""

    def __init__(self, files: FileSystem) -> None:
        self._files = files

    def open_append(self, path: str) -> AppendFile:
        return self._files.open_append(path)

    def read(self, path: str, offset: int, length: int) -> bytes:
        return self._files.read(path, offset, length)

    def write_whole(self, path: str, data: Data, *, durable: bool) -> None:
        self._files.write_whole(path, data, durable=durable)

    def size(self, path: str) -> int:
        return self._files.size(path)

    def exists(self, path: str) -> bool:
        return self._files.exists(path)

    def listdir(self, path: str) -> list[str]:
        return self._files.listdir(path)

    def makedirs(self, path: str) -> None:
        self._files.makedirs(path)

    def remove(self, path: str) -> None:
        self._files.remove(path)

    def rename(self, old: str, new: str) -> None:
        self._files.rename(old, new)

    def truncate(self, path: str, size: int) -> None:
        self._files.truncate(path, size)

    def fsync_dir(self, path: str) -> None:
        self._files.fsync_dir(path)

    def lock(self, path: str) -> FileLock:
        return self._files.lock(path)

    def close(self) -> None:
        self._files.close()
