from __future__ import annotations

import struct

import crc32c
import msgspec

from broker_core.errors import ErrorCode, must
from broker_core.files import FileSystem
from broker_core.log.corruption import LostRange

_FRAME = struct.Struct("<4sI")
_MAGIC = b"BSC1"


def write_checked(files: FileSystem, path: str, body: bytes, *, durable: bool) -> None:
    """Replace the file at `path` by `body` and its CRC-32C. With `durable`, wait for the disk."""
    files.write_whole(path, _FRAME.pack(_MAGIC, crc32c.crc32c(body)) + body, durable=durable)


def read_checked(files: FileSystem, path: str) -> bytes | None:
    """The body of a file by `write_checked`; None if the checksum does not match. The file must exist."""
    data = files.read(path, 0, files.size(path))
    if len(data) < _FRAME.size:
        return None
    magic, checksum = _FRAME.unpack_from(data)
    body = data[_FRAME.size :]
    return body if magic == _MAGIC and checksum == crc32c.crc32c(body) else None


CHECKPOINT_FILE = "checkpoint"


class StoredProducer(msgspec.Struct, frozen=True, array_like=True):
    """A producer and its last batches as (sequence, count, base offset, Unix milliseconds), oldest first."""

    producer_id: int
    epoch: int
    batches: tuple[tuple[int, int, int, int], ...]


class Checkpoint(msgspec.Struct, frozen=True):
    """All messages before `offset` were stored when it was written: missing ones are corruption.

    The log starts at `start_offset`. Below `compacted_to` offsets may have gaps. The active segment was `active_base`;
    -1 if that is not known.
    """

    offset: int
    start_offset: int
    compacted_to: int
    producers: tuple[StoredProducer, ...] = ()
    lost: tuple[LostRange, ...] = ()
    active_base: int = -1

    def save(self, files: FileSystem, directory: str, *, durable: bool) -> None:
        write_checked(files, f"{directory}/{CHECKPOINT_FILE}", msgspec.msgpack.encode(self), durable=durable)

    @classmethod
    def load(cls, files: FileSystem, directory: str) -> Checkpoint | None:
        """The checkpoint, None if there is none. Raises DAMAGED if its checksum does not match."""
        path = f"{directory}/{CHECKPOINT_FILE}"
        if not files.exists(path):
            return None
        body = must(read_checked(files, path), ErrorCode.DAMAGED, f"{path!r} fails its checksum")
        return msgspec.msgpack.decode(body, type=cls)
