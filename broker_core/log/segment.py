"""A segment: one file of a partition's log with consecutive batches, named after its base offset."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError
from broker_core.files import Data, FileSystem
from broker_core.log.batch import BatchHeader, decode_batch, is_intact, places_checksum
from broker_core.log.batch_index import MARKER, UNKNOWN_BYTES, BatchIndex
from broker_core.log.corruption import Corruption
from broker_core.log.scan import BadBytes, scan
from broker_core.log.segment_index import INDEX_SUFFIX, Block, SegmentIndex
from broker_core.log.segment_transactions import SegmentTransactions
from broker_core.messages import StoredMessage

LOG_SUFFIX = ".log"
_CACHED_BLOCKS = 8  # per segment: about one for each reader that catches up


class PartitionContext(NamedTuple):
    """The context shared by all segments of a partition. `epoch_ms` is the Unix time of session time 0.

    What is `only_in_memory` was checked when it came.
    """

    files: FileSystem
    directory: str
    epoch_ms: int
    corruption: Corruption
    only_in_memory: bool


class SegmentView(msgspec.Struct, frozen=True, gc=False):
    """The view of a segment. `size_bytes` is the file's; `batches` is None if they were not counted.

    `indexed`: the index file covers all of it. `compacted`: compaction has removed messages. `damaged`: parts cannot be
    read. `first_ns` and `last_ns` are the publishing times of its first and last batch.
    """

    name: str
    base_offset: int
    end_offset: int
    size_bytes: int
    batches: int | None
    first_ns: int | None = None
    last_ns: int | None = None
    indexed: bool = False
    compacted: bool = False
    damaged: bool = False


def segment_path(directory: str, base_offset: int, suffix: str = LOG_SUFFIX) -> str:
    return f"{directory}/{base_offset:020d}{suffix}"


class Segment:
    """Batches at increasing offsets from `base_offset` on.

    `scanned` has every batch that was written or scanned since the log was opened. Those before are `indexed`: the
    sparse index file covers them, and they are read block by block on demand. `open_before` are the open transactions
    of the previous segment, as in `SegmentTransactions.open`.
    """

    def __init__(
        self,
        context: PartitionContext,
        base_offset: int,
        indexed: SegmentIndex | None = None,
        *,
        is_compacted: bool = False,
        open_before: Mapping[int, int] | None = None,
    ) -> None:
        self.context = context
        self.base_offset = base_offset
        self.path = segment_path(context.directory, base_offset)
        self.index_path = segment_path(context.directory, base_offset, INDEX_SUFFIX)
        self.indexed = indexed
        self.scanned = BatchIndex(base_offset)
        self.transactions = (
            SegmentTransactions.of(indexed.transactions) if indexed else SegmentTransactions(open_before)
        )
        self.scanned_from = self.end_offset = indexed.end_offset if indexed else base_offset
        self.first_ns = self._session_ns(indexed.first_ms) if indexed else None
        self.is_damaged = False
        self.is_compacted = is_compacted
        self.removed = 0  # messages removed by compaction, as far as counted since the log was opened
        self.file = context.files.open_append(self.path)
        self._blocks: dict[int, BatchIndex] = {}

    @property
    def size_bytes(self) -> int:
        return self.file.size

    @property
    def messages_count(self) -> int:
        return self.end_offset - self.base_offset - self.removed - len(self.transactions.markers)

    @property
    def is_indexed(self) -> bool:
        """Whether the index file covers the whole segment."""
        return self.indexed is not None and not self.scanned

    @property
    def max_published_ns(self) -> int | None:
        latest_ns = self.scanned.max_published_ns
        if self.indexed is None or self.indexed.latest_ms is None:
            return latest_ns
        indexed_ns = self._session_ns(self.indexed.latest_ms)
        return indexed_ns if latest_ns is None else max(indexed_ns, latest_ns)

    def _session_ns(self, timestamp_ms: int) -> int:
        return (timestamp_ms - self.context.epoch_ms) * NS_PER_MS

    def append(self, data: Data, base_offset: int, count: int, payload_bytes: int, published_ns: int) -> None:
        """Append one batch. Raises STORAGE_ERROR without any change."""
        position = self.file.append(data)
        if self.first_ns is None:
            self.first_ns = published_ns
        self.scanned.add(base_offset, count, position, len(data), payload_bytes, published_ns)
        self.end_offset = base_offset + count

    def append_batches(self, batches: Sequence[tuple[Data, int, int]], base_offset: int, published_ns: int) -> None:
        """Append several (batch, count, payload bytes) atomically. Raises STORAGE_ERROR without any change."""
        position = self.file.append(b"".join(data for data, _, _ in batches))
        if self.first_ns is None:
            self.first_ns = published_ns
        for data, count, payload_bytes in batches:
            self.scanned.add(base_offset, count, position, len(data), payload_bytes, published_ns)
            position += len(data)
            base_offset += count
        self.end_offset = base_offset

    def append_marker(
        self, data: Data, base_offset: int, producer_id: int, published_ns: int, *, commits: bool
    ) -> int | None:
        """Append the marker that ends a transaction. Returns its first offset, as `SegmentTransactions.end`."""
        self.append(data, base_offset, 1, MARKER, published_ns)
        return self.transactions.end(producer_id, base_offset, commits=commits)

    def register_batch(self, position: int, header: BatchHeader, *, commits: bool | None) -> None:
        """Register a batch in the file; `commits` is the outcome of a marker, None for other batches."""
        if commits is not None:
            self.transactions.end(header.producer_id, header.base_offset, commits=commits)
        elif header.is_transactional:
            self.transactions.begin(header.producer_id, header.base_offset)
        published_ns = self._session_ns(header.timestamp_ms)
        if self.first_ns is None:
            self.first_ns = published_ns
        _add_batch(self.scanned, position, header, published_ns)
        self.end_offset = header.end_offset

    def indexes(self, offset: int) -> Iterator[BatchIndex]:
        """The non-empty indexes of the batches from that of `offset`, or the next, on."""
        indexed = self.indexed
        if indexed is not None and offset < indexed.end_offset:
            for number in range(indexed.number_from(offset), len(indexed)):
                index = self._block(number, indexed)
                if index and offset < index.last_end_offset:
                    yield index
        if self.scanned and offset < self.scanned.last_end_offset:
            yield self.scanned

    def _block(self, number: int, indexed: SegmentIndex) -> BatchIndex:
        index = self._blocks.get(number)
        if index is None:
            if len(self._blocks) >= _CACHED_BLOCKS:
                del self._blocks[next(iter(self._blocks))]
            index = self._blocks[number] = self._load(indexed.block(number))
        return index

    def _load(self, block: Block) -> BatchIndex:
        index = BatchIndex(self.base_offset)
        files = self.context.files
        if self.is_compacted and block.checksum != places_checksum(
            files.read(self.path, block.start, block.end - block.start)
        ):
            # A batch has a wrong base offset, and in a compacted segment it is unknown which.
            self._lose(block.offset, block.end_offset, block.start)
            return index
        for found in scan(
            files,
            self.path,
            start=block.start,
            end=block.end,
            offset=block.offset,
            limit=block.end_offset,
            gaps=self.is_compacted,
        ):
            if isinstance(found, BadBytes):
                end_offset = block.end_offset if found.next_offset is None else found.next_offset
                self._lose(found.offset, end_offset, found.start)
            else:
                header = found.header
                _add_batch(index, found.position, header, self._session_ns(header.timestamp_ms))
        return index

    def _lose(self, start_offset: int, end_offset: int, position: int) -> None:
        self.context.corruption.add(start_offset, end_offset, f"{self.path!r} is damaged from byte {position} on")

    def batch(self, index: BatchIndex, slot: int) -> bytes:
        """The bytes of the batch in this slot. Raises DAMAGED if they are corrupt."""
        data = self.context.files.read(self.path, index.positions[slot], index.sizes[slot])
        self._check(index, slot, data)
        return data

    def batches(self, index: BatchIndex, slots: range) -> list[bytes | memoryview]:
        """The bytes of the batches in these slots, which are not empty, in pieces that stay as they are. What is in
        memory is neither copied nor checked. Raises DAMAGED."""
        positions, sizes = index.positions, index.sizes
        start, end = positions[slots.start], positions[slots[-1]] + sizes[slots[-1]]
        if sum(sizes[slots.start : slots.stop]) < end - start:  # bytes between them were lost
            return [self.batch(index, slot) for slot in slots]
        found = self.context.files.pieces(self.path, start, end - start)
        if not self.context.only_in_memory:
            data = memoryview(found[0] if len(found) == 1 else b"".join(found))
            for slot in slots:
                self._check(index, slot, data[positions[slot] - start :][: sizes[slot]])
        return found

    def _check(self, index: BatchIndex, slot: int, data: Data) -> None:
        base_offset = index.base_offset(slot)
        if not is_intact(data, base_offset):
            self._lose(base_offset, index.end_offset(slot), index.positions[slot])
            self.context.corruption.check_between(base_offset, base_offset + 1)

    def records(self, index: BatchIndex, slot: int) -> Sequence[tuple[int, int]]:
        """(offset, bytes of key and value) of each record in this slot; () if the batch is lost."""
        with contextlib.suppress(BrokerError):  # it is reported, and reading raises it
            return [(message.offset, message.size_bytes) for message in self.messages(index, slot)]
        return ()

    def messages(self, index: BatchIndex, slot: int, topic: str = "", partition: int = 0) -> Iterator[StoredMessage]:
        """The messages of the batch in this slot, decoded lazily. Raises DAMAGED."""
        return decode_batch(self.batch(index, slot), topic, partition, index.published[slot])

    def offset_for_time(self, published_ns: int, at_least: int) -> int | None:
        """The first offset, not below `at_least`, of a batch published at `published_ns` or later."""
        if self.max_published_ns is None or self.max_published_ns < published_ns:
            return None
        start = at_least
        if self.indexed is not None:
            number = self.indexed.number_for_time(self.context.epoch_ms - (-published_ns // NS_PER_MS))
            first = self.indexed.block(number).offset if number < len(self.indexed) else self.indexed.end_offset
            start = max(start, first)
        for index in self.indexes(start):
            slot = index.slot_for_time(published_ns, index.slot_from(start))
            if slot is not None:
                return max(index.base_offset(slot), at_least)
        return None

    def rewritten(self, path: str, index: BatchIndex, *, durable: bool) -> Segment | None:
        """Replace the file atomically by the one at `path`. Returns the new segment, None for an empty one."""
        files = self.context.files
        files.remove(self.index_path)  # its positions are invalid now
        if index:
            self.file.close()
            files.rename(path, self.path)
        else:
            files.remove(path)
            self.remove()
        if durable:
            files.fsync_dir(self.context.directory)
        if not index:
            return None
        segment = Segment(self.context, self.base_offset, is_compacted=True)
        segment.transactions = self.transactions  # compaction keeps the markers
        segment.scanned = index
        segment.first_ns = index.published[0]
        segment.end_offset = index.last_end_offset
        return segment

    def save_index(self, *, interval_bytes: int, durable: bool) -> None:
        """Write the index file, so that the next opening need not scan. A corrupt segment gets none."""
        if self.is_damaged:
            return
        index = self.indexed.copy() if self.indexed else SegmentIndex(self.base_offset)
        index.transactions = self.transactions.stored()
        new = self.scanned
        for slot, published_ns in enumerate(new.published):
            timestamp_ms = self.context.epoch_ms + published_ns // NS_PER_MS
            index.add(new.base_offset(slot), new.end_offset(slot), new.sizes[slot], timestamp_ms, interval_bytes)
        index.save(self.context.files, self.index_path, durable=durable)

    def view(self) -> SegmentView:
        return SegmentView(
            self.path.rpartition("/")[2],
            self.base_offset,
            self.end_offset,
            self.size_bytes,
            None if self.indexed else len(self.scanned),
            self.first_ns,
            self.max_published_ns,
            self.is_indexed,
            self.is_compacted,
            self.is_damaged,
        )

    def close(self) -> None:
        self.file.close()

    def remove(self) -> None:
        self.file.close()
        self.context.files.remove(self.index_path)  # first: while the log is there, it can be synced
        self.context.files.remove(self.path)


def _add_batch(index: BatchIndex, position: int, header: BatchHeader, published_ns: int) -> None:
    span = header.end_offset - header.base_offset
    if span != header.count:
        index.with_gaps.add(len(index))
    payload_bytes = MARKER if header.is_control else UNKNOWN_BYTES
    index.add(header.base_offset, span, position, header.size_bytes, payload_bytes, published_ns)
