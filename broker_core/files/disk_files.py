"""Files on a disk, with a limit of open descriptors and handling of short writes."""

from __future__ import annotations

import contextlib
import errno
import os
import pathlib
from collections import OrderedDict
from collections.abc import Callable, Iterator

from broker_core.errors import BrokerError, ErrorCode
from broker_core.files import private
from broker_core.files.port import AppendFile, Data, parts_of

MAX_OPEN_DESCRIPTORS = 256  # a process usually has 1,024; thousands of partitions share these

_sync_data: Callable[[int], None] = getattr(os, "fdatasync", os.fsync)
_ADVICE = {
    errno.ENOSPC: "the disk is full; free some space and try again",
    errno.EDQUOT: "the disk quota is used up; free some space and try again",
    errno.EFBIG: "the file may not grow further",
    errno.ENOENT: "it is missing",
    errno.EACCES: "permission is denied",
    errno.EROFS: "the file system is read-only",
    errno.EIO: "the device reports an error",
}


def storage_error(path: str, error: OSError) -> BrokerError:
    reason = _ADVICE.get(error.errno or 0) or error.strerror or str(error)
    return BrokerError(ErrorCode.STORAGE_ERROR, f"{path!r}: {reason}")


@contextlib.contextmanager
def _storage_errors(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise storage_error(path, error) from error


def checked_root(root: pathlib.Path | str) -> pathlib.Path:
    """`root` as a path. Raises STORAGE_ERROR for an invalid directory name."""
    if str(root) == "":  # Path("") is the working directory, which an empty setting does not mean
        raise BrokerError(ErrorCode.STORAGE_ERROR, "'' is not a directory; name one, or '.' for the current one")
    if "\0" in str(root):
        raise BrokerError(ErrorCode.STORAGE_ERROR, f"{str(root)!r} contains a NUL, which no path may have")
    return pathlib.Path(root)


def _write(descriptor: int, data: Data, position: int) -> None:
    written = os.pwrite(descriptor, data, position)
    while written < len(data):
        step = os.pwrite(descriptor, memoryview(data)[written:], position + written)
        if step == 0:
            raise OSError(errno.ENOSPC, "nothing was written")
        written += step


class _DiskAppendFile:
    def __init__(self, files: DiskFiles, path: str, size: int) -> None:
        self._files = files
        self._path = path
        self.size = size
        self._tail_unsure = False

    def append(self, data: Data) -> int:
        position = self.size
        try:
            descriptor = self._files.descriptor(self._path)
            if self._tail_unsure:
                os.ftruncate(descriptor, position)
                self._tail_unsure = False
            # At an explicit position, so that the remains of a failed write are overwritten.
            _write(descriptor, data, position)
        except OSError as error:
            self._tail_unsure = True
            with contextlib.suppress(OSError):
                os.ftruncate(self._files.descriptor(self._path), position)
                self._tail_unsure = False
            raise storage_error(self._path, error) from error
        self.size = position + len(data)
        return position

    def begin_sync(self) -> Callable[[], None]:
        with _storage_errors(self._path):
            descriptor = os.dup(self._files.descriptor(self._path))

        def sync() -> None:
            try:
                with _storage_errors(self._path):
                    _sync_data(descriptor)
            finally:
                os.close(descriptor)

        return sync

    def close(self) -> None:
        self._files.forget(self._path)


class DiskFiles:
    """Files below `root`, which is created if it is missing. New files are readable by their owner only."""

    in_memory = False
    _open_flags = os.O_RDWR

    def __init__(self, root: pathlib.Path | str) -> None:
        self.root = checked_root(root)
        self._make_root()
        self._descriptors: OrderedDict[str, int] = OrderedDict()

    def _make_root(self) -> None:
        with _storage_errors(str(self.root)):
            private.make_directory(self.root)

    def _at(self, path: str) -> pathlib.Path:
        return self.root.joinpath(*parts_of(path))

    def descriptor(self, path: str, *, create: bool = False) -> int:
        """An open descriptor of the file; the least recently used one is closed where too many are open."""
        descriptor = self._descriptors.get(path)
        if descriptor is not None:
            self._descriptors.move_to_end(path)
            return descriptor
        descriptor = private.opener(str(self._at(path)), self._open_flags | (os.O_CREAT if create else 0))
        self._descriptors[path] = descriptor
        if len(self._descriptors) > MAX_OPEN_DESCRIPTORS:
            os.close(self._descriptors.popitem(last=False)[1])
        return descriptor

    def forget(self, path: str) -> None:
        descriptor = self._descriptors.pop(path, None)
        if descriptor is not None:
            with _storage_errors(path):
                os.close(descriptor)

    def open_append(self, path: str) -> AppendFile:
        with _storage_errors(path):
            return _DiskAppendFile(self, path, os.fstat(self.descriptor(path, create=True)).st_size)

    def read(self, path: str, offset: int, length: int) -> bytes:
        with _storage_errors(path):
            descriptor = self.descriptor(path)
            data = os.pread(descriptor, length, offset)
            while len(data) < length and (more := os.pread(descriptor, length - len(data), offset + len(data))):
                data += more
            return data

    def pieces(self, path: str, offset: int, length: int) -> list[bytes | memoryview]:
        return [self.read(path, offset, length)]

    def write_whole(self, path: str, data: Data, *, durable: bool) -> None:
        temporary = f"{path}.tmp"
        with _storage_errors(path):
            descriptor = private.opener(str(self._at(temporary)), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            try:
                _write(descriptor, data, 0)
                if durable:
                    os.fsync(descriptor)
            except OSError:
                with contextlib.suppress(OSError):
                    os.unlink(self._at(temporary))  # on a full disk the partial file would use the last bytes
                raise
            finally:
                os.close(descriptor)
        self.rename(temporary, path)
        if durable:
            self.fsync_dir(path.rpartition("/")[0])

    def size(self, path: str) -> int:
        with _storage_errors(path):
            return self._at(path).stat().st_size

    def exists(self, path: str) -> bool:
        with _storage_errors(path):
            return self._at(path).exists()

    def listdir(self, path: str) -> list[str]:
        with _storage_errors(path), contextlib.suppress(FileNotFoundError):
            return sorted(os.listdir(self._at(path)))
        return []

    def makedirs(self, path: str) -> None:
        with _storage_errors(path):
            for number in range(1, len(parts_of(path)) + 1):
                self.root.joinpath(*parts_of(path)[:number]).mkdir(mode=private.DIRECTORY_MODE, exist_ok=True)

    def remove(self, path: str) -> None:
        self.forget(path)
        target = self._at(path)
        with _storage_errors(path), contextlib.suppress(FileNotFoundError):
            if target.is_dir():
                target.rmdir()
            else:
                target.unlink()

    def rename(self, old: str, new: str) -> None:
        self.forget(old)
        self.forget(new)
        with _storage_errors(new):
            os.replace(self._at(old), self._at(new))

    def truncate(self, path: str, size: int) -> None:
        with _storage_errors(path):
            os.ftruncate(self.descriptor(path), size)

    def fsync_dir(self, path: str) -> None:
        with _storage_errors(path):
            descriptor = os.open(self._at(path), os.O_RDONLY | os.O_CLOEXEC)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def lock(self, path: str) -> Callable[[], None]:
        return self._lock(path, os.O_RDWR | os.O_CREAT, shared=False)

    def _lock(self, path: str, flags: int, *, shared: bool) -> Callable[[], None]:
        import fcntl

        with _storage_errors(path), contextlib.ExitStack() as held:
            descriptor = private.opener(str(self._at(path)), flags)
            held.callback(os.close, descriptor)  # the lock goes with the descriptor
            try:
                fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise BrokerError(ErrorCode.DIRECTORY_IN_USE, f"{str(self.root)!r}; close that one first") from error
            return held.pop_all().close

    def close(self) -> None:
        with contextlib.ExitStack() as steps:  # every file is closed, whatever another raises
            for path in self._descriptors:
                steps.callback(self.forget, path)
