"""The index file of a segment: sparse by offset and time, so that a log is opened without scanning it.

It has an entry for each `index_interval_bytes` of log (a block): offset and position of its first batch, the latest
timestamp up to its end, and a CRC-32C over the first 12 bytes of all its batches (base offset and length, which a
batch's CRC does not cover). An index covers a prefix of its segment; later batches are found by scanning. The
transactions of that prefix follow the entries.
"""

from __future__ import annotations

import copy
import struct
from array import array
from bisect import bisect_left, bisect_right

import crc32c
import msgspec

from broker_core.decoding import from_msgpack
from broker_core.files import FileSystem
from broker_core.log.batch import place_bytes
from broker_core.log.checked_file import read_checked, write_checked
from broker_core.log.segment_transactions import StoredTransactions

INDEX_SUFFIX = ".index"


class _Stored(msgspec.Struct, array_like=True, frozen=True):
    base_offset: int
    end_offset: int
    covered_bytes: int
    first_ms: int
    columns: tuple[bytes, ...]
    transactions: StoredTransactions


class Block(msgspec.Struct, frozen=True):
    offset: int
    end_offset: int
    start: int
    end: int
    checksum: int


class SegmentIndex:
    def __init__(self, base_offset: int) -> None:
        self.base_offset = base_offset
        self.end_offset = base_offset
        self.covered_bytes = 0
        self.first_ms = 0
        self.transactions = StoredTransactions()  # up to `end_offset`
        self._offsets = array("I")
        self._positions = array("I")
        self._latest_ms = array("q")
        self._checksums = array("I")

    def add(self, base_offset: int, end_offset: int, size_bytes: int, timestamp_ms: int, interval_bytes: int) -> None:
        """Add the next batch, which starts at the end of the last one."""
        place = place_bytes(base_offset, size_bytes)
        position = self.covered_bytes
        if not self._offsets:
            self.first_ms = timestamp_ms
        latest_ms = max(timestamp_ms, self._latest_ms[-1]) if self._latest_ms else timestamp_ms
        if not self._offsets or position - self._positions[-1] >= interval_bytes:
            self._offsets.append(base_offset - self.base_offset)
            self._positions.append(position)
            self._latest_ms.append(latest_ms)
            self._checksums.append(crc32c.crc32c(place))
        else:
            self._latest_ms[-1] = latest_ms
            self._checksums[-1] = crc32c.crc32c(place, self._checksums[-1])
        self.end_offset = end_offset
        self.covered_bytes = position + size_bytes

    def copy(self) -> SegmentIndex:
        return copy.deepcopy(self)

    def __len__(self) -> int:
        return len(self._offsets)

    @property
    def latest_ms(self) -> int | None:
        return self._latest_ms[-1] if self._latest_ms else None

    def block(self, number: int) -> Block:
        last = number + 1 == len(self._offsets)
        return Block(
            self.base_offset + self._offsets[number],
            self.end_offset if last else self.base_offset + self._offsets[number + 1],
            self._positions[number],
            self.covered_bytes if last else self._positions[number + 1],
            self._checksums[number],
        )

    def number_from(self, offset: int) -> int:
        """The entry of the block with `offset`, or else with the next batch."""
        return max(bisect_right(self._offsets, offset - self.base_offset) - 1, 0)

    def number_for_time(self, timestamp_ms: int) -> int:
        """The first entry whose block reaches `timestamp_ms`; `len(self)` if there is none."""
        return bisect_left(self._latest_ms, timestamp_ms)

    def save(self, files: FileSystem, path: str, *, durable: bool) -> None:
        stored = _Stored(
            self.base_offset,
            self.end_offset,
            self.covered_bytes,
            self.first_ms,
            tuple(struct.pack(f"<{len(column)}{column.typecode}", *column) for column in self._columns()),
            self.transactions,
        )
        write_checked(files, path, msgspec.msgpack.encode(stored), durable=durable)

    @classmethod
    def load(cls, files: FileSystem, path: str) -> SegmentIndex | None:
        """The index in the file at `path`; None if it is corrupt."""
        body = read_checked(files, path)
        if body is None:
            return None
        stored = from_msgpack(body, _Stored)
        index = cls(stored.base_offset)
        index.end_offset = stored.end_offset
        index.covered_bytes = stored.covered_bytes
        index.first_ms = stored.first_ms
        index.transactions = stored.transactions
        for column, data in zip(index._columns(), stored.columns, strict=True):
            column.extend(struct.unpack(f"<{len(data) // column.itemsize}{column.typecode}", data))
        return index

    def _columns(self) -> tuple[array[int], ...]:
        return self._offsets, self._positions, self._latest_ms, self._checksums
