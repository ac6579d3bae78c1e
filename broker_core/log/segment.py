"""One file of a partition's log: whole batches, one after the other, named after the first offset it may hold."""

from __future__ import annotations

from typing import NamedTuple

from broker_core.errors import BrokerError, ErrorCode
from broker_core.files import Data, FileSystem
from broker_core.log.batch import is_intact
from broker_core.log.batch_index import BatchIndex

LOG_SUFFIX = ".log"


class SegmentView(NamedTuple):
    """What a segment holds right now. `size_bytes` is the file's."""

    name: str
    base_offset: int
    end_offset: int
    size_bytes: int
    batches: int


def segment_name(base_offset: int) -> str:
    """Kafka's: the base offset in 20 digits."""
    return f"{base_offset:020d}{LOG_SUFFIX}"


class Segment:
    """Batches at increasing offsets from `base_offset` on."""

    def __init__(self, files: FileSystem, directory: str, base_offset: int) -> None:
        self.base_offset = base_offset
        self.name = segment_name(base_offset)
        self.path = f"{directory}/{self.name}"
        self.index = BatchIndex(base_offset)
        self.end_offset = base_offset
        self.file = files.open_append(self.path)
        self._files = files

    @property
    def size_bytes(self) -> int:
        """Bytes in the file."""
        return self.file.size

    def append(self, data: Data, base_offset: int, count: int, payload_bytes: int, published_ns: int) -> None:
        """Write one batch. Raises STORAGE_ERROR, and then holds what it held before."""
        position = self.file.append(data)
        self.index.add(base_offset, count, position, payload_bytes, published_ns)
        self.end_offset = base_offset + count

    def stored_size(self, slot: int) -> int:
        """Bytes of the batch in this slot of the index."""
        positions = self.index.positions
        end = positions[slot + 1] if slot + 1 < len(positions) else self.file.size
        return end - positions[slot]

    def batch(self, slot: int) -> bytes:
        """The bytes of the batch in this slot. Raises DAMAGED where they are not what was written."""
        data = self._files.read(self.path, self.index.positions[slot], self.stored_size(slot))
        base_offset = self.index.base_offset(slot)
        if not is_intact(data, base_offset):
            raise BrokerError(
                ErrorCode.DAMAGED,
                f"offsets {base_offset} to {self.index.end_offset(slot) - 1} in {self.path!r} "
                f"at byte {self.index.positions[slot]} fail their checksum",
            )
        return data

    def view(self) -> SegmentView:
        """Name, offsets and sizes."""
        return SegmentView(self.name, self.base_offset, self.end_offset, self.size_bytes, len(self.index))

    def close(self) -> None:
        """Give the file back."""
        self.file.close()

    def remove(self) -> None:
        """Delete the file."""
        self.file.close()
        self._files.remove(self.path)
