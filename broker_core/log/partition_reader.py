from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from types import MappingProxyType

from broker_core.errors import BrokerError, ErrorCode
from broker_core.log.batch import BatchHeader, parse_header
from broker_core.log.batch_index import MARKER, UNKNOWN_BYTES, BatchIndex
from broker_core.log.corruption import Corruption, LostRange
from broker_core.log.segment import Segment, SegmentView
from broker_core.log.segment_list import SegmentList
from broker_core.log.segment_transactions import AbortedTransaction
from broker_core.messages import Run, StoredMessage

_KEPT_BATCHES = 4  # partly read batches: about one for each group that reads the partition


class _DecodedBatch:
    __slots__ = ("_messages", "_rest")

    def __init__(self, messages: Iterator[StoredMessage]) -> None:
        self._messages: list[StoredMessage] = []
        self._rest = messages

    def take(self, start: int, stop: int) -> list[StoredMessage]:
        messages = self._messages
        missing = stop - len(messages)
        if missing > 0:
            messages.extend(islice(self._rest, missing))
        return messages[start:stop]


class DecodedBatches:
    """The messages of a partition's batches. Partly read batches are cached, because readers read them in parts."""

    def __init__(self, topic: str, partition: int) -> None:
        self._topic = topic
        self._partition = partition
        self._kept: dict[int, _DecodedBatch] = {}

    def messages(
        self, segment: Segment, index: BatchIndex, slot: int, offset: int, max_messages: int
    ) -> list[StoredMessage]:
        """Up to `max_messages` of the batch in this slot, from `offset` on. Raises DAMAGED."""
        span = index.spans[slot]
        if span == 1:
            return list(self._decode(segment, index, slot))
        if slot in index.with_gaps:
            every = self._decode(segment, index, slot)
            return list(islice((message for message in every if message.offset >= offset), max_messages))
        base_offset = index.base_offset(slot)
        start = max(offset - base_offset, 0)
        batch = self._kept.get(base_offset)
        if batch is None:
            messages = self._decode(segment, index, slot)
            if start == 0 and max_messages >= span:
                return list(messages)
            batch = self._keep(base_offset, _DecodedBatch(messages))
        return batch.take(start, start + max_messages)

    def _decode(self, segment: Segment, index: BatchIndex, slot: int) -> Iterator[StoredMessage]:
        return segment.messages(index, slot, self._topic, self._partition)

    def _keep(self, base_offset: int, batch: _DecodedBatch) -> _DecodedBatch:
        if len(self._kept) >= _KEPT_BATCHES:
            del self._kept[next(iter(self._kept))]
        self._kept[base_offset] = batch
        return batch

    def clear(self) -> None:
        self._kept.clear()


class PartitionReader:
    """Reads messages from `start_offset` up to `high_watermark`, which the subclass `PartitionLog` advances."""

    def __init__(self, topic: str, partition: int, segments: SegmentList, corruption: Corruption) -> None:
        self.topic = topic
        self.partition = partition
        self.name = f"{topic}-{partition}"
        self.start_offset = 0
        self.end_offset = 0
        self.high_watermark = 0
        self._segments = segments
        # Transactions whose marker is not below the high watermark, as (marker offset, first offset).
        self._ending: deque[tuple[int, int]] = deque()
        self._corruption = corruption
        self._decoded = DecodedBatches(topic, partition)

    @property
    def size_bytes(self) -> int:
        return self._segments.size_bytes

    @property
    def lost(self) -> tuple[LostRange, ...]:
        """Offsets that cannot be read, as far as known. A partition with any is degraded."""
        return tuple(self._corruption.ranges)

    @property
    def messages_count(self) -> int:
        """The number of messages between start and end, without those removed by compaction."""
        first = next(iter(self._segments)).base_offset
        return self._segments.messages_count - max(0, self.messages_between(first, self.start_offset))

    def markers_between(self, offset: int, end_offset: int) -> int:
        return self._segments.markers_between(offset, end_offset)

    def markers(self, offset: int, end_offset: int) -> Sequence[int]:
        return self._segments.markers(offset, end_offset)

    def messages_between(self, offset: int, end_offset: int) -> int:
        """The number of offsets between the two that are not markers, including removed messages."""
        return end_offset - offset - self.markers_between(offset, end_offset)

    @property
    def open_transactions(self) -> Mapping[int, int]:
        """First offset of each open transaction by producer id, oldest first; a live view."""
        return MappingProxyType(self._segments.active.transactions.open)

    @property
    def last_stable_offset(self) -> int:
        """The end for readers of committed messages: below it no message belongs to an open transaction."""
        ending = self._ending
        while ending and ending[0][0] < self.high_watermark:
            ending.popleft()
        open_from = next(iter(self._segments.active.transactions.open.values()), self.high_watermark)
        stable = min([open_from, self.high_watermark, *(first for _, first in ending)])
        return max(self.start_offset, stable)

    def aborted_transactions(self, offset: int, end_offset: int) -> list[AbortedTransaction]:
        """Aborted transactions with messages between the two offsets, in the order of their markers."""
        return self._segments.aborted(offset, end_offset)

    def was_aborted(self, segment: Segment, index: BatchIndex, slot: int, producer_id: int | None = None) -> bool:
        """Whether the batch in this slot belongs to an aborted transaction, of `producer_id` where that is given."""
        base_offset = index.base_offset(slot)
        aborted = self.aborted_transactions(base_offset, base_offset + 1)
        header = parse_header(segment.batch(index, slot)) if aborted else None
        if header is None or not header.is_transactional or producer_id not in {None, header.producer_id}:
            return False
        return any(each.producer_id == header.producer_id for each in aborted)

    def aborted_with(self, producer_id: int, marker_offset: int) -> list[range]:
        """The offsets of each batch of the transaction that this marker has aborted; none where it has committed it."""
        for each in self.aborted_transactions(marker_offset, marker_offset):
            if (each.producer_id, each.marker_offset) == (producer_id, marker_offset):
                return self.aborted_ranges(each.first_offset, marker_offset, producer_id)
        return []

    def aborted_ranges(self, offset: int, end_offset: int, producer_id: int | None = None) -> list[range]:
        """The offsets of each batch between the two that belongs to an aborted transaction, as `was_aborted`."""
        found: list[range] = []
        if not self.aborted_transactions(offset, end_offset):
            return found
        for segment, index in self._segments.indexes(offset):
            for slot in range(index.slot_from(offset), len(index)):
                base_offset = index.base_offset(slot)
                if base_offset >= end_offset:
                    return found
                if index.payloads[slot] != MARKER and self.was_aborted(segment, index, slot, producer_id):
                    found.append(range(base_offset, base_offset + index.spans[slot]))
        return found

    def segments(self) -> list[SegmentView]:
        return [segment.view() for segment in self._segments]

    def _check_offset(self, offset: int) -> None:
        if not self.start_offset <= offset <= self.end_offset:
            start, end = self.start_offset, self.end_offset
            holds = f"holds {start} to {end - 1}" if start < end else f"is empty and goes on at {end}"
            raise BrokerError(ErrorCode.OFFSET_OUT_OF_RANGE, f"{offset} in {self.name}, which {holds}")

    def read(
        self,
        offset: int,
        *,
        max_messages: int,
        max_bytes: int = 1 << 20,
        unsynced: bool = False,
        end_offset: int | None = None,
    ) -> list[StoredMessage]:
        """Messages from `offset` on, at least one whatever its size; [] at the high watermark.

        They end before the batch at `end_offset`, where it is given. Offsets removed by compaction are skipped; lost
        offsets are an error where they come first. `max_bytes` counts keys and values. `unsynced` includes messages
        that are not durable yet. Raises OFFSET_OUT_OF_RANGE and DAMAGED.
        """
        self._check_offset(offset)
        found: list[StoredMessage] = []
        limit = self.end_offset if unsynced else self.high_watermark
        limit = limit if end_offset is None else min(limit, end_offset)
        try:
            for segment, index in self._segments.indexes(offset):
                for slot in range(index.slot_from(offset), len(index)):
                    wanted = max_messages - len(found)
                    base_offset = index.base_offset(slot)
                    if wanted <= 0 or base_offset >= limit or (found and max_bytes <= 0):
                        return found
                    if index.payloads[slot] == MARKER:
                        continue
                    self._corruption.check_between(found[-1].offset + 1 if found else offset, base_offset + 1)
                    messages = self._decoded.messages(segment, index, slot, offset, wanted)
                    payload_bytes = index.payloads[slot]
                    part = len(messages) < index.spans[slot]
                    if part and len(messages) == wanted and payload_bytes <= max_bytes:
                        found.extend(messages)  # a part fits where the whole batch does
                        return found
                    if part or payload_bytes > max_bytes or payload_bytes == UNKNOWN_BYTES:
                        for message in messages:
                            max_bytes -= message.size_bytes
                            if max_bytes < 0 and found:
                                return found
                            found.append(message)
                    else:
                        max_bytes -= payload_bytes
                        found.extend(messages)
            self._corruption.check_between(found[-1].offset + 1 if found else offset, limit)
        except BrokerError:
            if not found:
                raise
        return found

    def read_bytes(self, offset: int, max_bytes: int = 1 << 20, *, end_offset: int | None = None) -> list[bytes]:
        """Stored batches from that of `offset` on, at least one, up to the high watermark or `end_offset`. Raises
        OFFSET_OUT_OF_RANGE, DAMAGED.
        """
        self._check_offset(offset)
        limit = self.high_watermark if end_offset is None else end_offset
        found: list[bytes] = []
        for segment, index in self._segments.indexes(offset):
            for slot in range(index.slot_from(offset), len(index)):
                max_bytes -= index.sizes[slot]
                if index.base_offset(slot) >= limit or (found and max_bytes < 0):
                    return found
                found.append(segment.batch(index, slot))
        return found

    def batches_back(self, end_offset: int) -> Iterator[tuple[int, BatchHeader]]:
        """(publishing time, header) of the batches of messages that begin below `end_offset`, the newest first."""
        for segment, index in reversed(list(self._segments.indexes(self.start_offset))):
            for slot in range(len(index) - 1, index.slot_from(self.start_offset) - 1, -1):
                if index.base_offset(slot) < end_offset and index.payloads[slot] != MARKER:
                    header = parse_header(segment.batch(index, slot))
                    assert header is not None
                    yield index.published[slot], header

    def batch_end(self, offset: int) -> int:
        """The end of the batch of `offset`; of the next one where there is none. Raises OFFSET_OUT_OF_RANGE."""
        self._check_offset(offset)
        for _segment, index in self._segments.indexes(offset):
            if (slot := index.slot_from(offset)) < len(index):
                return index.base_offset(slot) + index.spans[slot]
        return self.end_offset

    def message(self, offset: int, *, unsynced: bool = False) -> StoredMessage:
        """The message at `offset`. Raises OFFSET_OUT_OF_RANGE if there is none, and DAMAGED."""
        found = self.read(offset, max_messages=1, unsynced=unsynced)
        if not found or found[0].offset != offset:
            raise BrokerError(ErrorCode.OFFSET_OUT_OF_RANGE, f"there is no message {offset} in {self.name}")
        return found[0]

    def runs(self, offset: int, end_offset: int) -> list[Run]:
        """The messages between the two offsets, by time of publishing; `size_bytes` of part of a batch is its share."""
        found: list[Run] = []
        offset = max(offset, self.start_offset)
        for segment, index in self._segments.indexes(offset):
            index.collect_runs(offset, end_offset, found, segment.records)
            if index.last_end_offset >= end_offset:
                break
        return found

    def published_ns(self, offset: int) -> int:
        """The publishing time of the message at `offset`. Raises OFFSET_OUT_OF_RANGE if there is none."""
        runs = self.runs(offset, offset + 1)
        if not runs:
            raise BrokerError(ErrorCode.OFFSET_OUT_OF_RANGE, f"there is no message {offset} in {self.name}")
        return runs[0].published_ns

    def published_from_ns(self, offset: int) -> int | None:
        """The publishing time of the first message at `offset` or later; None if there is none."""
        for _segment, index in self._segments.indexes(max(offset, self.start_offset)):
            for slot in range(index.slot_from(max(offset, self.start_offset)), len(index)):
                if index.payloads[slot] != MARKER:
                    return index.published[slot]
        return None

    def offset_for_time(self, published_ns: int) -> int:
        """The first offset published at `published_ns` or later; the end offset where there is none."""
        for segment in self._segments:
            offset = segment.offset_for_time(published_ns, self.start_offset)
            if offset is not None:
                return offset
        return self.end_offset
