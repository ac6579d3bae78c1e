from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType

import msgspec

from broker_core.log.batch import BatchHeader, parse_header
from broker_core.log.batch_index import MARKER, BatchIndex
from broker_core.log.config import LogConfig
from broker_core.log.segment import Segment
from broker_core.log.segment_transactions import AbortedTransaction

_UNLIMITED_BYTES = 1 << 62


class StoredBatches(msgspec.Struct, frozen=True, gc=False):
    """Batches as they are stored, in pieces; its length is their bytes, `end_offset` that of the last."""

    pieces: Sequence[bytes | memoryview]
    size_bytes: int
    end_offset: int

    def __len__(self) -> int:
        return self.size_bytes


NO_BATCHES = StoredBatches((), 0, 0)


class SegmentList:
    """The segments of a log, at least one; the last is the active one, the others are sealed."""

    def __init__(self, segments: list[Segment]) -> None:
        self._segments = segments
        self._bases = [segment.base_offset for segment in segments]
        self._sealed_bytes = sum(segment.size_bytes for segment in segments[:-1])
        self._sealed_messages = sum(segment.messages_count for segment in segments[:-1])
        self.active = segments[-1]

    @property
    def size_bytes(self) -> int:
        return self._sealed_bytes + self.active.size_bytes

    @property
    def messages_count(self) -> int:
        return self._sealed_messages + self.active.messages_count

    @property
    def sealed(self) -> list[Segment]:
        return self._segments[:-1]

    def markers_between(self, offset: int, end_offset: int) -> int:
        found = 0
        for segment in reversed(self._segments):
            if segment.base_offset < end_offset:
                found += segment.transactions.markers_between(offset, end_offset)
            if segment.base_offset <= offset:
                break
        return found

    def markers(self, offset: int, end_offset: int) -> Sequence[int]:
        """The markers among these offsets, in order; nearly always there are none."""
        if not self.markers_between(offset, end_offset):
            return ()
        return [at for each in self._segments for at in each.transactions.markers if offset <= at < end_offset]

    def aborted(self, offset: int, end_offset: int) -> list[AbortedTransaction]:
        """Aborted transactions with messages between the two offsets, in the order of their markers."""
        first = max(bisect_right(self._bases, offset) - 1, 0)
        return [
            each
            for segment in self._segments[first:]
            for each in segment.transactions.aborted
            if each.marker_offset >= offset and each.first_offset < end_offset
        ]

    def was_aborted(self, segment: Segment, index: BatchIndex, slot: int) -> bool:
        """Whether the batch in this slot belongs to an aborted transaction."""
        base_offset = index.base_offset(slot)
        aborted = self.aborted(base_offset, base_offset + 1)
        header = parse_header(segment.batch(index, slot)) if aborted else None
        if header is None or not header.is_transactional:
            return False
        return any(each.producer_id == header.producer_id for each in aborted)

    def aborted_with(self, producer_id: int, marker_offset: int) -> list[range]:
        """The offsets of each batch of the transaction that this marker has aborted; none if it has committed it."""
        for each in self.aborted(marker_offset, marker_offset):
            if (each.producer_id, each.marker_offset) == (producer_id, marker_offset):
                return [*self._transactional({producer_id: marker_offset}, each.first_offset, marker_offset)]
        return []

    def aborted_ranges(self, offset: int, end_offset: int) -> list[range]:
        """The offsets of each batch between the two that belongs to an aborted transaction."""
        found: list[range] = []
        aborted = sorted(self.aborted(offset, end_offset), key=lambda each: each.first_offset)
        starts = [max(offset, each.first_offset) for each in aborted]
        markers, last_marker = dict[int, int](), 0  # that of each producer id, and the last of all
        for each, (start, next_start) in zip(aborted, pairwise([*starts, end_offset]), strict=True):
            markers[each.producer_id] = each.marker_offset
            last_marker = max(last_marker, each.marker_offset)
            if start < next_start:  # each batch is read once, even if many transactions overlap there
                found += self._transactional(markers, start, min(next_start, last_marker))
        return found

    def _transactional(self, markers: Mapping[int, int], offset: int, end_offset: int) -> Iterator[range]:
        """The offsets of each batch between the two that its producer sent in a transaction before its marker."""
        for segment, index in self.indexes(offset):
            for slot in range(index.slot_from(offset), len(index)):
                base_offset = index.base_offset(slot)
                if base_offset >= end_offset:
                    return
                header = None if index.payloads[slot] == MARKER else parse_header(segment.batch(index, slot))
                if header is not None and header.is_transactional and base_offset < markers.get(header.producer_id, 0):
                    yield range(base_offset, base_offset + index.spans[slot])

    @property
    def open_transactions(self) -> Mapping[int, int]:
        """First offset of each open transaction by producer id, oldest first; a live view."""
        return MappingProxyType(self.active.transactions.open)

    def batches(self, offset: int, end_offset: int, *, backward: bool = False) -> Iterator[tuple[int, BatchHeader]]:
        """(publishing time, header) of the batches of messages from that of `offset` on that begin below
        `end_offset`."""
        for segment, index in self._older_indexes(offset, backward=True) if backward else self.indexes(offset):
            for slot in index.slots(offset, end_offset, _UNLIMITED_BYTES, least=0)[:: -1 if backward else 1]:
                if index.payloads[slot] != MARKER:
                    header = parse_header(segment.batch(index, slot))
                    assert header is not None
                    yield index.published[slot], header

    def stored(self, offset: int, max_bytes: int, end_offset: int) -> StoredBatches:
        found: list[bytes | memoryview] = []
        found_bytes, end = 0, offset
        for segment, index in self.indexes(offset):
            slots = index.slots(offset, end_offset, max_bytes - found_bytes, least=0 if found else 1)
            if slots:
                pieces = segment.batches(index, slots)
                found_bytes += sum(map(len, pieces))
                found, end = found + pieces, index.end_offset(slots[-1])
            if slots.stop < len(index):
                break
        return StoredBatches(found, found_bytes, end)

    def holds(self, segment: Segment) -> bool:
        """False if it was deleted or replaced."""
        at = bisect_left(self._bases, segment.base_offset)
        return at < len(self._segments) and self._segments[at] is segment

    def __iter__(self) -> Iterator[Segment]:
        return iter(self._segments)

    def __len__(self) -> int:
        return len(self._segments)

    def add(self, segment: Segment) -> None:
        self._sealed_bytes += self.active.size_bytes
        self._sealed_messages += self.active.messages_count
        self._segments.append(segment)
        self._bases.append(segment.base_offset)
        self.active = segment

    def retained_from(self, config: LogConfig, now_ns: int) -> int:
        """The offset before which sealed segments are deleted: those that are too old, or beyond `retention_bytes`."""
        offset = 0
        excess_bytes = self.size_bytes - config.retention_bytes if config.retention_bytes is not None else 0
        for segment, following in pairwise(self._segments):
            latest_ns = segment.max_published_ns
            too_old = latest_ns is None or config.is_too_old(latest_ns, now_ns)
            too_many = config.retention_bytes is not None and excess_bytes >= segment.size_bytes
            if not (too_old or too_many):
                break
            excess_bytes -= segment.size_bytes
            offset = following.base_offset
        return offset

    def drop_before(self, offset: int) -> None:
        """Delete the sealed segments that end before `offset`, with their files, up to the first that fails."""
        gone = [segment for segment, following in pairwise(self._segments) if following.base_offset <= offset]
        for segment in gone:
            size_bytes = segment.size_bytes
            segment.remove()
            self._sealed_bytes -= size_bytes
            self._sealed_messages -= segment.messages_count
            del self._segments[0], self._bases[0]

    def replace(self, old: Segment, new: Segment | None, freed_bytes: int) -> None:
        at = self._segments.index(old)
        self._sealed_bytes -= freed_bytes
        self._sealed_messages += (0 if new is None else new.messages_count) - old.messages_count
        if new is None:
            del self._segments[at]
            del self._bases[at]
        else:
            self._segments[at] = new

    def note_count(self, segment: Segment, messages_count: int) -> None:
        self._sealed_messages += messages_count - segment.messages_count
        segment.removed += segment.messages_count - messages_count

    def indexes(self, offset: int) -> Iterable[tuple[Segment, BatchIndex]]:
        active = self.active
        if offset >= active.scanned_from:  # nearly always
            return ((active, active.scanned),)
        return self._older_indexes(offset)

    def _older_indexes(self, offset: int, *, backward: bool = False) -> Iterator[tuple[Segment, BatchIndex]]:
        numbers = range(max(bisect_right(self._bases, offset) - 1, 0), len(self._segments))
        for number in reversed(numbers) if backward else numbers:
            segment = self._segments[number]
            indexes = segment.indexes(offset)
            for index in reversed([*indexes]) if backward else indexes:
                yield segment, index

    def close(self) -> None:
        for segment in self._segments:
            segment.close()
