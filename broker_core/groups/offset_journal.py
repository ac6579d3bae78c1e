"""The journal of committed offsets beside the SQLite file, from which a corrupt file is rebuilt."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import crc32c
import msgspec

from broker_core.decoding import from_msgpack
from broker_core.files import AppendFile, FileSystem

_FRAME = struct.Struct(">II")  # length of the body in bytes, its CRC-32C
_GROWTH = 4  # the journal is rewritten when it has grown by this factor
_SMALL_BYTES = 256 * 1024  # a smaller journal is not rewritten


NUMBERS = 1 << 31  # of flushes, after which they begin again


class OffsetRow(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A committed offset; None for one that was deleted."""

    group: str
    topic: str
    partition: int
    offset: int | None
    metadata: str = ""
    leader_epoch: int = -1


class GroupRow(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A group's last generation and member number; None for a group that was deleted."""

    group: str
    generation: int | None
    last_member_number: int = 0


class MembersRow(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The members of a group, see `coordinator.KeptGroup`; b"" for none."""

    group: str
    members: bytes


class FlushedRows(msgspec.Struct, frozen=True, array_like=True):
    """The rows of flush `number`, which counts on over restarts; both journal and file say the last that they have."""

    offsets: list[OffsetRow]
    groups: list[GroupRow]
    members: list[MembersRow] = []
    number: int = 0

    @property
    def rows(self) -> tuple[list[Any], ...]:
        return self.offsets, self.groups, self.members

    def __len__(self) -> int:
        return sum(map(len, self.rows))


class OffsetJournal:
    """Frames of (length, checksum, MessagePack), one a flush. The first frame holds the whole state."""

    def __init__(self, files: FileSystem, path: str, *, durable: bool) -> None:
        self._files = files
        self._path = path
        self._durable = durable
        self._file: AppendFile | None = None
        self._first_bytes = 0

    def exists(self) -> bool:
        return self._files.exists(self._path)

    def read(self) -> Iterator[FlushedRows]:
        """The flushes in order, up to the end or the first incomplete or corrupt frame."""
        data = memoryview(self._files.read(self._path, 0, self._files.size(self._path)))
        at = 0
        while at + _FRAME.size <= len(data):
            length, checksum = _FRAME.unpack_from(data, at)
            body = data[at + _FRAME.size : at + _FRAME.size + length]
            # No frame is empty; zeros would have the checksum of nothing.
            if not length or len(body) < length or crc32c.crc32c(body) != checksum:
                return
            yield from_msgpack(body, FlushedRows)
            at += _FRAME.size + length

    def rewrite(self, everything: FlushedRows) -> None:
        """Replace the journal by one frame. Raises STORAGE_ERROR; the old journal stays then."""
        frame = _frame(everything)
        if self._file is not None:
            self._file.close()
            self._file = None
        self._files.write_whole(self._path, frame, durable=self._durable)
        self._first_bytes = len(frame)

    def append(self, changes: FlushedRows) -> None:
        """Append a flush. Raises STORAGE_ERROR; nothing is appended then."""
        if self._file is None:
            self._file = self._files.open_append(self._path)
        self._file.append(_frame(changes))
        if self._durable:
            self._file.begin_sync()()

    @property
    def overgrown(self) -> bool:
        return self._file is not None and self._file.size > max(_SMALL_BYTES, _GROWTH * self._first_bytes)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
        self._files.close()


def _frame(changes: FlushedRows) -> bytes:
    body = msgspec.msgpack.encode(changes)
    return _FRAME.pack(len(body), crc32c.crc32c(body)) + body
