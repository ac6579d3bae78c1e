"""A disk that forgets what was not synced: promises 2, 5 and 6 are kept against it."""

from __future__ import annotations

import random
from collections.abc import Callable

from broker_core.errors import BrokerError, ErrorCode
from broker_core.files import AppendFile, Data, MemoryFiles


class _Content:
    """The bytes of one file: as the system shows them, as the disk holds them, and what lies between."""

    def __init__(self, data: bytes = b"") -> None:
        self.shown = bytearray(data)
        self.held = bytearray(data)
        self.pending: list[tuple[int, bytes]] = []

    def write(self, position: int, data: bytes) -> None:
        self.shown[position : position + len(data)] = data
        self.pending.append((position, data))

    def sync(self) -> None:
        self.held = bytearray(self.shown)
        self.pending.clear()

    def after_power_cut(self, fate: random.Random) -> bytes:
        left = bytearray(self.held)
        in_order = fate.random() < 0.7
        stop = fate.randint(0, len(self.pending))
        for number, (position, data) in enumerate(self.pending):
            if in_order and number > stop:
                break
            if not in_order and fate.random() < 0.5:
                continue
            torn = data[: fate.randint(0, len(data))] if number == stop else data
            left.extend(bytes(max(0, position + len(torn) - len(left))))
            left[position : position + len(torn)] = torn
        return bytes(left)


class _Appender:
    def __init__(self, disk: SimulatedDisk, path: str) -> None:
        self._disk = disk
        self._path = path

    @property
    def size(self) -> int:
        return len(self._disk.contents[self._path].shown)

    def append(self, data: Data) -> int:
        position = self.size
        if self._disk.room_bytes is not None and self._disk.used_bytes + len(data) > self._disk.room_bytes:
            raise BrokerError(ErrorCode.STORAGE_ERROR, f"{self._path!r}: the disk is full")
        self._disk.contents[self._path].write(position, bytes(data))
        self._disk.operated()
        return position

    def begin_sync(self) -> Callable[[], None]:
        content = self._disk.contents[self._path]
        size = len(content.shown)

        def sync() -> None:
            self._disk.operated()
            if self._disk.failing_syncs:
                self._disk.failing_syncs -= 1
                content.pending.clear()  # as Linux does: the pages count as clean, and are not on the disk
                raise BrokerError(ErrorCode.STORAGE_ERROR, f"{self._path!r}: the device reports an error")
            assert len(content.shown) >= size
            content.sync()
            self._disk.operated()

        return sync

    def close(self) -> None:
        """Nothing is held."""


class SimulatedDisk:
    """Contents are durable once the file is synced, names once the directory is. `on_operation` is called amid each."""

    in_memory = False

    def __init__(self) -> None:
        self.contents: dict[str, _Content] = {}
        self.names_held: dict[str, _Content] = {}
        self._names_pending: list[dict[str, _Content]] = []
        self.on_operation: Callable[[], object] = lambda: None
        self.operations = 0
        self.failing_syncs = 0
        self.room_bytes: int | None = None

    @property
    def used_bytes(self) -> int:
        return sum(len(content.shown) for content in self.contents.values())

    def operated(self) -> None:
        self.operations += 1
        self.on_operation()

    def _renamed(self) -> None:
        self._names_pending.append(dict(self.contents))
        self.operated()

    def after_power_cut(self, fate: random.Random) -> MemoryFiles:
        """What a restart finds. Names change in order, as a journal keeps them; contents as fate has it."""
        names = fate.choice([self.names_held, *self._names_pending])
        files = MemoryFiles()
        files.makedirs("t-0")
        for path, content in names.items():
            files.write_whole(path, content.after_power_cut(fate), durable=False)
        return files

    def open_append(self, path: str) -> AppendFile:
        if path not in self.contents:
            self.contents[path] = _Content()
            self._renamed()
        return _Appender(self, path)

    def read(self, path: str, offset: int, length: int) -> bytes:
        return bytes(self.contents[path].shown[offset : offset + length])

    def pieces(self, path: str, offset: int, length: int) -> list[bytes | memoryview]:
        return [self.read(path, offset, length)]

    def write_whole(self, path: str, data: Data, *, durable: bool) -> None:
        content = _Content()
        self.contents[f"{path}.tmp"] = content
        self._renamed()
        content.write(0, bytes(data))
        self.operated()
        if durable:
            content.sync()
        self.contents[path] = self.contents.pop(f"{path}.tmp")
        self._renamed()
        if durable:
            self.fsync_dir("t-0")

    def size(self, path: str) -> int:
        return len(self.contents[path].shown)

    def exists(self, path: str) -> bool:
        return path in self.contents

    def listdir(self, path: str) -> list[str]:
        return sorted(name.removeprefix(f"{path}/") for name in self.contents)

    def makedirs(self, path: str) -> None:
        """There is only one, and it is there."""

    def remove(self, path: str) -> None:
        if self.contents.pop(path, None) is not None:
            self._renamed()

    def rename(self, old: str, new: str) -> None:
        self.contents[new] = self.contents.pop(old)
        self._renamed()

    def truncate(self, path: str, size: int) -> None:
        del self.contents[path].shown[size:]

    def fsync_dir(self, path: str) -> None:
        self.operated()
        self.names_held = dict(self.contents)
        self._names_pending.clear()

    def lock(self, path: str) -> Callable[[], None]:
        return MemoryFiles().lock(path)

    def close(self) -> None:
        """Nothing is held."""
