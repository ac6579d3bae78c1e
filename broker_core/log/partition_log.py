"""One partition: an append-only log of batches in segments. Time is session nanoseconds, handed in by the caller."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError, ErrorCode
from broker_core.files import FileSystem
from broker_core.log.batch import MAX_BATCH_RECORDS, NO_PRODUCER_ID, ProducerStamp, decode_batch, encode_batch
from broker_core.log.config import LogConfig
from broker_core.log.decoded_batch import DecodedBatch
from broker_core.log.producers import ProducerStates, RememberedBatch
from broker_core.log.recovery import intact_batches
from broker_core.log.segment import LOG_SUFFIX, Segment, SegmentView
from broker_core.messages import Message, Run, StoredMessage

_CACHED_BATCHES = 4  # partly read batches that are kept decoded: about one per group that reads the partition


class Appended(NamedTuple):
    """Where messages were stored. `size_bytes` counts keys and values; a `duplicate` was stored before, at `base_offset`."""

    base_offset: int
    count: int
    size_bytes: int
    duplicate: bool


class PartitionLog:
    """The messages of one partition. Opening finds what is in `directory`, and cuts off a batch that was not finished.

    `epoch_ms` is the Unix time of session time 0. `end_offset` is the offset of the next message, `start_offset` the first
    that can be read.
    """

    def __init__(
        self,
        files: FileSystem,
        directory: str,
        topic: str,
        partition: int,
        *,
        config: LogConfig,
        epoch_ms: int,
    ) -> None:
        self.topic = topic
        self.partition = partition
        self.config = config
        self.directory = directory
        self.start_offset = 0
        self.end_offset = 0
        self._files = files
        self._epoch_ms = epoch_ms
        self._producers = ProducerStates()
        self._recent: dict[int, DecodedBatch] = {}
        self._closed = False
        files.makedirs(directory)
        self._segments = self._recover() or [Segment(files, directory, 0)]
        self._bases = [segment.base_offset for segment in self._segments]
        self._active = self._segments[-1]
        self.start_offset = self._bases[0]
        self.end_offset = self._active.end_offset

    @property
    def name(self) -> str:
        """Topic and partition, as in `orders-3`."""
        return f"{self.topic}-{self.partition}"

    @property
    def size_bytes(self) -> int:
        """Bytes in the segment files."""
        return sum(segment.size_bytes for segment in self._segments)

    def _recover(self) -> list[Segment]:
        segments = []
        for name in self._files.listdir(self.directory):
            if not name.endswith(LOG_SUFFIX):
                continue
            segment = Segment(self._files, self.directory, int(name.removesuffix(LOG_SUFFIX)))
            whole_bytes = 0
            for position, header, data in intact_batches(self._files, segment.path):
                published_ns = (header.timestamp_ms - self._epoch_ms) * NS_PER_MS
                payload_bytes = sum(
                    message.size_bytes
                    for message in decode_batch(data, self.topic, self.partition, published_ns)
                )
                segment.index.add(header.base_offset, header.count, position, payload_bytes, published_ns)
                segment.end_offset = header.end_offset
                whole_bytes = position + header.size_bytes
                if header.producer_id != NO_PRODUCER_ID:
                    self._producers.remember(
                        ProducerStamp(header.producer_id, header.producer_epoch, header.base_sequence),
                        RememberedBatch(header.base_sequence, header.count, header.base_offset, published_ns),
                    )
            if whole_bytes < segment.size_bytes:
                segment.close()
                self._files.truncate(segment.path, whole_bytes)
                segment.file = self._files.open_append(segment.path)
            segments.append(segment)
        return segments

    def append_batch(
        self, now_ns: int, messages: Sequence[Message], *, producer: ProducerStamp | None = None
    ) -> Appended:
        """Store the messages at the next offsets, all or none; the only way in.

        A batch that `producer` has sent before is not stored again. Raises STORAGE_ERROR, MESSAGE_TOO_LARGE,
        OUT_OF_ORDER_SEQUENCE_NUMBER, INVALID_PRODUCER_EPOCH, CLOSED.
        """
        if self._closed:
            raise BrokerError(ErrorCode.CLOSED, f"the log of {self.name}")
        count = len(messages)
        if count == 0:
            raise BrokerError(ErrorCode.INVALID_REQUEST, f"a batch for {self.name} has no messages")
        base_offset = self.end_offset
        if producer is not None:
            duplicate = self._producers.duplicate(producer, count)
            if duplicate is not None:
                size_bytes = sum(
                    run.size_bytes for run in self.runs(duplicate.base_offset, duplicate.base_offset + count)
                )
                return Appended(duplicate.base_offset, count, size_bytes, True)
        elif count > MAX_BATCH_RECORDS:
            size_bytes = 0
            for first in range(0, count, MAX_BATCH_RECORDS):
                size_bytes += self.append_batch(
                    now_ns, messages[first : first + MAX_BATCH_RECORDS]
                ).size_bytes
            return Appended(base_offset, count, size_bytes, False)
        data, size_bytes = encode_batch(base_offset, self._epoch_ms + now_ns // NS_PER_MS, messages, producer)
        if len(data) > self.config.max_message_bytes:
            self._check_sizes(messages)
        active = self._active
        if active.file.size + len(data) > self.config.segment_bytes and active.file.size:
            active = self._roll()
        active.append(data, base_offset, count, size_bytes, now_ns)
        self.end_offset = base_offset + count
        if producer is not None:
            self._producers.remember(producer, RememberedBatch(producer.sequence, count, base_offset, now_ns))
        return Appended(base_offset, count, size_bytes, False)

    def _check_sizes(self, messages: Sequence[Message]) -> None:
        limit = self.config.max_message_bytes
        for message in messages:
            size = len(message.key or b"") + len(message.value or b"")
            size += sum(len(name) + len(value) for name, value in message.headers)
            if size > limit:
                raise BrokerError(
                    ErrorCode.MESSAGE_TOO_LARGE, f"{size} bytes for {self.name}, which takes at most {limit}"
                )

    def _roll(self) -> Segment:
        segment = Segment(self._files, self.directory, self.end_offset)
        self._segments.append(segment)
        self._bases.append(segment.base_offset)
        self._active = segment
        return segment

    def _first_segment(self, offset: int) -> int:
        return max(bisect_right(self._bases, offset) - 1, 0)

    def _check_offset(self, offset: int) -> None:
        if not self.start_offset <= offset <= self.end_offset:
            raise BrokerError(
                ErrorCode.OFFSET_OUT_OF_RANGE,
                f"{offset} in {self.name}, which holds {self.start_offset} to {self.end_offset - 1}",
            )

    def read(self, offset: int, *, max_messages: int, max_bytes: int = 1 << 20) -> list[StoredMessage]:
        """Messages from `offset` on, the first of them whatever its size; empty at the end of the log.

        `max_bytes` counts keys and values. Raises OFFSET_OUT_OF_RANGE and DAMAGED.
        """
        self._check_offset(offset)
        found: list[StoredMessage] = []
        for segment in self._segments[self._first_segment(offset) :]:
            index = segment.index
            for slot in range(index.slot_from(offset), len(index)):
                wanted = max_messages - len(found)
                if wanted <= 0 or (found and max_bytes <= 0):
                    return found
                start = max(offset - index.base_offset(slot), 0)
                messages = self._messages(segment, slot, start, start + wanted)
                payload_bytes = index.payloads[slot]
                if payload_bytes > max_bytes:
                    for message in messages:
                        max_bytes -= message.size_bytes
                        if max_bytes < 0 and found:
                            return found
                        found.append(message)
                else:
                    max_bytes -= payload_bytes
                    found.extend(messages)
        return found

    def _messages(self, segment: Segment, slot: int, start: int, stop: int) -> list[StoredMessage]:
        index = segment.index
        count = index.counts[slot]
        base_offset = index.base_offset(slot)
        batch = self._recent.get(base_offset) if count > 1 else None
        if batch is None:
            records = decode_batch(segment.batch(slot), self.topic, self.partition, index.published[slot])
            if start == 0 and stop >= count:
                return list(records)
            batch = DecodedBatch(records)
            if len(self._recent) >= _CACHED_BATCHES:
                del self._recent[next(iter(self._recent))]
            self._recent[base_offset] = batch
        return batch.take(start, stop)

    def read_bytes(self, offset: int, max_bytes: int = 1 << 20) -> list[bytes]:
        """Stored batches, whole, from the one that holds `offset` on; the first of them whatever its size."""
        self._check_offset(offset)
        found: list[bytes] = []
        for segment in self._segments[self._first_segment(offset) :]:
            for slot in range(segment.index.slot_from(offset), len(segment.index)):
                max_bytes -= segment.stored_size(slot)
                if found and max_bytes < 0:
                    return found
                found.append(segment.batch(slot))
        return found

    def message(self, offset: int) -> StoredMessage:
        """The message at `offset`. Raises OFFSET_OUT_OF_RANGE where there is none, and DAMAGED."""
        found = self.read(offset, max_messages=1)
        if not found or found[0].offset != offset:
            raise BrokerError(ErrorCode.OFFSET_OUT_OF_RANGE, f"there is no message {offset} in {self.name}")
        return found[0]

    def runs(self, offset: int, end_offset: int) -> list[Run]:
        """What lies between the two offsets, by moment of publishing; nothing is decoded.

        `size_bytes` of a run that holds part of a batch is its share, so that the parts of a batch add up to the whole.
        """
        found: list[Run] = []
        offset = max(offset, self.start_offset)
        for segment in self._segments[self._first_segment(offset) :]:
            if segment.base_offset >= end_offset:
                break
            segment.index.collect_runs(offset, end_offset, found)
        return found

    def published_ns(self, offset: int) -> int:
        """When the message at `offset` was published. Raises OFFSET_OUT_OF_RANGE where there is none."""
        runs = self.runs(offset, offset + 1)
        if not runs:
            raise BrokerError(ErrorCode.OFFSET_OUT_OF_RANGE, f"there is no message {offset} in {self.name}")
        return runs[0].published_ns

    def offset_for_time(self, published_ns: int) -> int:
        """The first offset published at `published_ns` or later; the end offset where none was."""
        for segment in self._segments:
            slot = segment.index.slot_for_time(published_ns)
            if slot is not None and segment.index.end_offset(slot) > self.start_offset:
                return max(segment.index.base_offset(slot), self.start_offset)
        return self.end_offset

    def delete_before(self, offset: int) -> None:
        """Delete the messages before `offset`: they cannot be read any more, and segments that hold only such go.

        Raises OFFSET_OUT_OF_RANGE beyond the end; an offset below the start changes nothing.
        """
        if offset > self.end_offset:
            raise BrokerError(
                ErrorCode.OFFSET_OUT_OF_RANGE, f"{offset} in {self.name}, which ends at {self.end_offset}"
            )
        self.start_offset = max(offset, self.start_offset)
        gone = sum(following.base_offset <= self.start_offset for _, following in pairwise(self._segments))
        for segment in self._segments[:gone]:
            segment.remove()
        del self._segments[:gone]
        del self._bases[:gone]

    def segments(self) -> list[SegmentView]:
        """The segments, oldest first."""
        return [segment.view() for segment in self._segments]

    def flush(self) -> None:
        """Hand everything to the operating system."""

    def sync(self) -> None:
        """Make everything appended so far durable; returns when it is."""
        self._active.file.begin_sync()()

    def close(self) -> None:
        """Nothing more is appended; what is stored stays."""
        self._closed = True
        for segment in self._segments:
            segment.close()
