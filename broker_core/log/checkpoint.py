from __future__ import annotations

import msgspec

from broker_core.decoding import from_msgpack
from broker_core.errors import ErrorCode, must
from broker_core.files import FileSystem
from broker_core.log.checked_file import read_checked, write_checked
from broker_core.log.corruption import LostRange

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
        return from_msgpack(body, cls)
