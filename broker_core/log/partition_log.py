"""A partition: an append-only log of batches in segments. Times are session nanoseconds, passed by the caller."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from itertools import takewhile

import msgspec

from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError, ErrorCode
from broker_core.files import FileSystem
from broker_core.limits import MAX_BATCH_RECORDS
from broker_core.log.batch import (
    HEADER_BYTES,
    MAX_BATCH_BYTES,
    ProducerStamp,
    encode_batch,
    encode_batches,
    encode_marker,
    recompressed,
    set_log_append_time,
)
from broker_core.log.batch_index import MARKER, UNKNOWN_BYTES
from broker_core.log.checkpoint import Checkpoint
from broker_core.log.client_batch import ClientBatch
from broker_core.log.compression import PRODUCER, UNCOMPRESSED
from broker_core.log.config import MAX_SEGMENT_BYTES, LogConfig
from broker_core.log.corruption import Corruption, LostRange
from broker_core.log.decoded_batches import DecodedBatches, take_fitting
from broker_core.log.producers import FORGOTTEN_AFTER_NS, RememberedBatch
from broker_core.log.recovery import Recovery
from broker_core.log.reserved_headers import check_sizes, with_ttl
from broker_core.log.segment import PartitionContext, Segment
from broker_core.log.segment_list import SegmentList, StoredBatches
from broker_core.log.segment_rewrite import SegmentRewrite
from broker_core.messages import Message, MessageRun, StoredMessage

_NEVER_NS = 1 << 63


class Appended(msgspec.Struct, frozen=True, gc=False):
    """The result of an append. A `duplicate` had been stored before. `size_bytes` counts keys and values."""

    base_offset: int
    count: int
    size_bytes: int
    duplicate: bool


class SyncTicket:
    """Covers what was appended before. Call `run` in any thread without the broker's lock, then `end_sync` under it."""

    def __init__(self, end_offset: int, active: Segment, calls: Sequence[Callable[[], None]]) -> None:
        self.end_offset = end_offset
        self.active = active
        self.error: BrokerError | None = None
        self._calls = calls

    def run(self) -> None:
        """Sync the files. Never raises: `end_sync` does."""
        for call in self._calls:
            try:
                call()
            except BrokerError as error:
                self.error = self.error or error


class PartitionLog:
    """The log of one partition in `directory`. `recovery` reports what opening it had to repair.

    `epoch_ms` is the Unix time of session time 0. `start_offset` is the first readable offset, `end_offset` that of the
    next message. Readers see messages below `high_watermark`: with durability `fsync` the durable ones, otherwise all.
    `read_only` is the reason why appends are refused, or "".
    """

    def __init__(
        self, files: FileSystem, directory: str, topic: str, partition: int, *, config: LogConfig, epoch_ms: int
    ) -> None:
        self._corruption = Corruption(f"{topic}-{partition}")
        only_in_memory = files.in_memory and config.durability == "memory"
        context = PartitionContext(files, directory, epoch_ms, self._corruption, only_in_memory)
        files.makedirs(directory)
        recovery = Recovery(context)
        segments = recovery.segments
        if not segments or segments[-1].is_damaged or segments[-1].end_offset != recovery.end_offset:
            open_before = segments[-1].transactions.open if segments else None
            segments.append(Segment(context, recovery.end_offset, open_before=open_before))
        self.topic = topic
        self.partition = partition
        self.name = f"{topic}-{partition}"
        self.title = f"{topic}/{partition}"  # as all commands and panels show it
        self.segments = SegmentList(segments)
        self.config = config
        self.recovery = recovery.report
        self.start_offset = recovery.start_offset
        self.end_offset = self.high_watermark = recovery.end_offset
        self.read_only = ""
        self.compacted_to = recovery.checkpoint.compacted_to
        self.cleaned_to = 0  # below it, each key has one message, as far as is known
        self._context = context
        self._active = self.segments.active
        self._producers = recovery.producers
        self._durable_offset = recovery.end_offset
        self._unsynced: list[Segment] = []
        self._unindexed = [segment for segment in self.segments.sealed if not segment.is_indexed]
        self._named: Segment | None = None  # the last segment whose name in the directory is durable
        # Transactions whose marker is not below the high watermark, as (marker offset, first offset).
        self._ending: deque[tuple[int, int]] = deque()
        self._decoded = DecodedBatches(topic, partition)
        self._closed = False
        self._waits_for_sync = config.durability == "fsync"
        self._writes_indexes = config.durability != "memory"
        if self._waits_for_sync and self.recovery.scanned_bytes:
            # The last process may have ended before its sync: its messages must be durable before they are read.
            for segment in self.segments:
                if not segment.is_indexed:
                    segment.file.begin_sync()()
            files.fsync_dir(directory)
        self._settle_limits()

    def configure(self, config: LogConfig) -> None:
        if config.durability != self.config.durability:
            raise BrokerError(
                ErrorCode.INVALID_CONFIG,
                f"{self.name} has durability {self.config.durability}, which cannot be changed after creation",
            )
        self.config = config
        self._settle_limits()

    @property
    def judges_messages(self) -> bool:
        return self._needs_keys or self._ttl_ms is not None

    def _settle_limits(self) -> None:
        config = self.config
        self._needs_keys = config.compacts
        self._ttl_ms = config.message_ttl_ms
        self._sets_time = config.timestamp_type == "LogAppendTime"
        self._compression_type, self._level = config.compression_type, config.compression_level
        self._unpacks_at_most = config.max_decompressed_bytes
        self._packs = config.compression_type not in {PRODUCER, UNCOMPRESSED}
        self._segment_ns = _NEVER_NS if (roll_ms := config.roll_ms) is None else roll_ms * NS_PER_MS
        self._checked_bytes = min(config.max_message_bytes, MAX_BATCH_BYTES)

    # -- what it holds

    @property
    def size_bytes(self) -> int:
        return self.segments.size_bytes

    @property
    def lost(self) -> tuple[LostRange, ...]:
        """Offsets that cannot be read, as far as known. A partition with any is degraded."""
        return tuple(self._corruption.ranges)

    @property
    def messages_count(self) -> int:
        """The number of messages between start and end, without those removed by compaction."""
        first = next(iter(self.segments)).base_offset
        return self.segments.messages_count - max(0, self.messages_between(first, self.start_offset))

    def markers(self, offset: int, end_offset: int) -> Sequence[int]:
        return self.segments.markers(offset, end_offset)

    def messages_between(self, offset: int, end_offset: int) -> int:
        """The number of offsets between the two that are not markers, including removed messages."""
        return end_offset - offset - self.segments.markers_between(offset, end_offset)

    @property
    def last_stable_offset(self) -> int:
        """The end for readers of committed messages: below it no message belongs to an open transaction."""
        ending = self._ending
        while ending and ending[0][0] < self.high_watermark:
            ending.popleft()
        open_from = next(iter(self.segments.active.transactions.open.values()), self.high_watermark)
        stable = min([open_from, self.high_watermark, *(first for _, first in ending)])
        return max(self.start_offset, stable)

    def _check_offset(self, offset: int) -> None:
        if not self.start_offset <= offset <= self.end_offset:
            start, end = self.start_offset, self.end_offset
            holds = f"holds {start} to {end - 1}" if start < end else f"is empty and continues at {end}"
            raise BrokerError(ErrorCode.OFFSET_OUT_OF_RANGE, f"{offset} in {self.title}, which {holds}")

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

        They end before the batch at `end_offset`, if it is given. Offsets removed by compaction are skipped; lost
        offsets are an error where they come first. `max_bytes` counts keys and values. `unsynced` includes messages
        that are not durable yet. Raises OFFSET_OUT_OF_RANGE and DAMAGED.
        """
        self._check_offset(offset)
        found: list[StoredMessage] = []
        limit = self.end_offset if unsynced else self.high_watermark
        limit = limit if end_offset is None else min(limit, end_offset)
        try:
            for segment, index in self.segments.indexes(offset):
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
                        max_bytes = take_fitting(messages, found, max_bytes)
                        if max_bytes < 0:
                            return found
                    else:
                        max_bytes -= payload_bytes
                        found.extend(messages)
            self._corruption.check_between(found[-1].offset + 1 if found else offset, limit)
        except BrokerError:
            if not found:
                raise
        return found

    def read_bytes(self, offset: int, max_bytes: int, end_offset: int) -> StoredBatches:
        """Stored batches from that of `offset` on, at least one, that begin below `end_offset`; not copied if in
        memory. Raises OFFSET_OUT_OF_RANGE, DAMAGED."""
        self._check_offset(offset)
        return self.segments.stored(offset, max_bytes, end_offset)

    def batch_end(self, offset: int) -> int:
        """The end of the batch of `offset`; of the next one if there is none. Raises OFFSET_OUT_OF_RANGE."""
        self._check_offset(offset)
        for _segment, index in self.segments.indexes(offset):
            if (slot := index.slot_from(offset)) < len(index):
                return index.base_offset(slot) + index.spans[slot]
        return self.end_offset

    def message(self, offset: int, *, unsynced: bool = False) -> StoredMessage:
        """The message at `offset`. Raises OFFSET_OUT_OF_RANGE if there is none, and DAMAGED."""
        found = self.read(offset, max_messages=1, unsynced=unsynced)
        if not found or found[0].offset != offset:
            raise BrokerError(ErrorCode.OFFSET_OUT_OF_RANGE, f"there is no message {offset} in {self.title}")
        return found[0]

    def runs(self, offset: int, end_offset: int) -> list[MessageRun]:
        """The messages between the two offsets, by time of publishing; `size_bytes` of part of a batch is its share."""
        found: list[MessageRun] = []
        offset = max(offset, self.start_offset)
        for segment, index in self.segments.indexes(offset):
            index.collect_runs(offset, end_offset, found, segment.records)
            if index.last_end_offset >= end_offset:
                break
        return found

    def published_from_ns(self, offset: int) -> int | None:
        """The publishing time of the first message at `offset` or later; None if there is none."""
        for _segment, index in self.segments.indexes(max(offset, self.start_offset)):
            for slot in range(index.slot_from(max(offset, self.start_offset)), len(index)):
                if index.payloads[slot] != MARKER:
                    return index.published[slot]
        return None

    def offset_for_time(self, published_ns: int) -> int:
        """The first offset published at `published_ns` or later; the end offset if there is none."""
        for segment in self.segments:
            offset = segment.offset_for_time(published_ns, self.start_offset)
            if offset is not None:
                return offset
        return self.end_offset

    # -- appending

    def append_batch(
        self, now_ns: int, messages: Sequence[Message], *, producer: ProducerStamp | None = None
    ) -> Appended:
        """Append the messages, all or none.

        A batch that `producer` has sent before is not stored again. Raises STORAGE_ERROR, MESSAGE_TOO_LARGE, CLOSED,
        OUT_OF_ORDER_SEQUENCE_NUMBER, INVALID_PRODUCER_EPOCH, INVALID_RECORD (no key in a compacted topic).
        """
        self._check_takes(messages)
        if self._ttl_ms is not None:
            messages = with_ttl(messages, self._ttl_ms)
        count = len(messages)
        base_offset = self.end_offset
        timestamp_ms = self._context.epoch_ms + now_ns // NS_PER_MS
        if producer is not None:
            duplicate = self._producers.duplicate(producer, count)
            if duplicate is not None:
                size_bytes = sum(run.size_bytes for run in self.runs(duplicate.base_offset, duplicate.end_offset))
                return Appended(duplicate.base_offset, count, size_bytes, True)
        elif count > MAX_BATCH_RECORDS:
            return self._append_many(now_ns, messages)
        data, size_bytes = encode_batch(base_offset, timestamp_ms, messages, producer)
        if self._sets_time:
            set_log_append_time(data, timestamp_ms)
        if len(data) > self._checked_bytes:
            check_sizes(self.name, messages, self.config.max_message_bytes)
            if len(data) > MAX_BATCH_BYTES and count > 1:
                if producer is None:
                    return self._append_many(now_ns, messages)
                raise self._too_large(len(data), f"in one batch for {self.name}; send it in parts")
        if self._packs:
            data = recompressed(data, self._compression_type, self._level)
        return self._store(now_ns, data, count, size_bytes, producer)

    def append_encoded(self, now_ns: int, batch: ClientBatch) -> Appended:
        """Append a client's batch as it came, but for offset and, if the topic says so, compression and time.
        `size_bytes` is that of its records. Raises as `append_batch`.
        """
        self._must_be_open()
        base_offset = self.end_offset
        size_bytes, count, stamp = batch.records_bytes, batch.count, batch.stamp
        if stamp is not None and (known := self._producers.duplicate(stamp, count)) is not None:
            return Appended(known.base_offset, count, size_bytes, True)
        if size_bytes > self._checked_bytes:
            raise self._too_large(size_bytes, f"in one batch for {self.name}; send it in parts")
        if batch.unpacks_beyond(self._unpacks_at_most):
            about = f"a message of more than {self._unpacks_at_most} bytes, uncompressed, for {self.name}"
            raise BrokerError(ErrorCode.INVALID_RECORD, about)
        data = batch.placed(base_offset, self._compression_type, self._level)
        if len(data) - HEADER_BYTES > self._checked_bytes:
            raise self._too_large(len(data), f"in one batch for {self.name}, {self._compression_type}")
        if self._sets_time:
            set_log_append_time(data, self._context.epoch_ms + now_ns // NS_PER_MS)
        return self._store(now_ns, data, count, size_bytes, stamp)

    def _too_large(self, size_bytes: int, sent: str) -> BrokerError:
        return BrokerError(ErrorCode.MESSAGE_TOO_LARGE, f"{size_bytes} bytes {sent}")

    def append_marker(self, now_ns: int, producer_id: int, epoch: int, *, commits: bool) -> int:
        """Append the marker that ends the producer's transaction, and refuse older epochs. Returns its offset. Raises
        STORAGE_ERROR, CLOSED.
        """
        self._must_be_open()
        base_offset, timestamp_ms = self.end_offset, self._context.epoch_ms + now_ns // NS_PER_MS
        data = encode_marker(base_offset, timestamp_ms, producer_id, epoch, commits=commits)
        active = self._active_for(now_ns, len(data))
        first_offset = active.append_marker(data, base_offset, producer_id, now_ns, commits=commits)
        if first_offset is not None:
            self._ending.append((base_offset, first_offset))
        self._producers.fence(producer_id, epoch)
        self._advance(base_offset + 1)
        return base_offset

    @property
    def producers(self) -> list[tuple[int, int, RememberedBatch | None]]:
        return self._producers.known()

    def _store(
        self, now_ns: int, data: bytearray, count: int, size_bytes: int, stamp: ProducerStamp | None
    ) -> Appended:
        base_offset = self.end_offset
        self._active_for(now_ns, len(data)).append(data, base_offset, count, size_bytes, now_ns)
        self._advance(base_offset + count)
        if stamp is not None:
            self._producers.remember(stamp, RememberedBatch(stamp.sequence, count, base_offset, now_ns))
            if stamp.transactional:
                self._active.transactions.begin(stamp.producer_id, base_offset)
        return Appended(base_offset, count, size_bytes, False)

    def _append_many(self, now_ns: int, messages: Sequence[Message]) -> Appended:
        check_sizes(self.name, messages, self.config.max_message_bytes)
        base_offset = self.end_offset
        timestamp_ms = self._context.epoch_ms + now_ns // NS_PER_MS
        batches = list(encode_batches(base_offset, timestamp_ms, messages, 0, len(messages)))
        if self._sets_time:
            for data, _, _ in batches:
                set_log_append_time(data, timestamp_ms)
        if self._packs:
            batches = [
                (recompressed(data, self._compression_type, self._level), count, size) for data, count, size in batches
            ]
        stored_bytes = sum(len(data) for data, _, _ in batches)
        if stored_bytes > MAX_SEGMENT_BYTES:
            raise self._too_large(stored_bytes, f"at once for {self.name}; send them in parts")
        self._active_for(now_ns, stored_bytes).append_batches(batches, base_offset, now_ns)
        self._advance(base_offset + len(messages))
        return Appended(base_offset, len(messages), sum(payload_bytes for _, _, payload_bytes in batches), False)

    def _advance(self, end_offset: int) -> None:
        self.end_offset = end_offset
        if not self._waits_for_sync:
            self.high_watermark = end_offset

    def check(self, messages: Sequence[Message], largest_bytes: int | None = None) -> None:
        """Raises what `append_batch` would raise. `largest_bytes` is an upper bound of the sizes, if known."""
        self._check_takes(messages)
        if largest_bytes is None or largest_bytes > self.config.max_message_bytes:
            check_sizes(self.name, messages, self.config.max_message_bytes)

    def _must_be_open(self) -> None:
        if self._closed:
            raise BrokerError(ErrorCode.CLOSED, f"the log of {self.name}")
        if self.read_only:
            raise BrokerError(ErrorCode.STORAGE_ERROR, self.read_only)

    def _check_takes(self, messages: Sequence[Message]) -> None:
        self._must_be_open()
        if not messages:
            raise BrokerError(ErrorCode.INVALID_REQUEST, f"a batch for {self.name} has no messages")
        if self._needs_keys and any(message.key is None for message in messages):
            raise BrokerError(ErrorCode.INVALID_RECORD, f"{self.name} is compacted, so every message needs a key")

    def _active_for(self, now_ns: int, more_bytes: int) -> Segment:
        active = self._active
        size = active.file.size
        if size and (
            size + more_bytes > self.config.segment_bytes
            or (active.first_ns is not None and now_ns - active.first_ns >= self._segment_ns)
        ):
            return self._roll(now_ns)
        return active

    def _roll(self, now_ns: int) -> Segment:
        sealed = self._active
        self._active = Segment(self._context, self.end_offset, open_before=sealed.transactions.open)
        self.segments.add(self._active)
        self._unsynced.append(sealed)
        self._unindexed.append(sealed)
        self._producers.forget_before(now_ns - FORGOTTEN_AFTER_NS)
        if not self._waits_for_sync:
            # A failure only costs the next opening some scanning.
            with contextlib.suppress(BrokerError):
                self._save_recovery_point()
        return self._active

    # -- deleting

    def check_delete(self, offset: int) -> None:
        """Raises OFFSET_OUT_OF_RANGE above the high watermark."""
        if offset > self.high_watermark:
            raise BrokerError(
                ErrorCode.OFFSET_OUT_OF_RANGE, f"{offset} in {self.title}, which ends at {self.high_watermark}"
            )

    def delete_before(self, offset: int) -> None:
        """Move the start of the log to `offset`, and delete the segments before it.

        An offset below the start has no effect. Raises OFFSET_OUT_OF_RANGE above the high watermark, STORAGE_ERROR.
        """
        self.check_delete(offset)
        if offset <= self.start_offset:
            return
        # The checkpoint first: without it, deleted files would count as lost.
        self._save_checkpoint(start_offset=offset)
        self.start_offset = offset
        self._corruption.forget_before(offset)
        try:
            self.segments.drop_before(offset)
        finally:
            self._unsynced = [*filter(self.segments.holds, self._unsynced)]
            self._unindexed = [*filter(self.segments.holds, self._unindexed)]

    def apply_retention(self, now_ns: int) -> int:
        """Delete the segments beyond retention, unless `cleanup` keeps them. Returns the start offset."""
        if self.config.deletes:
            active_ns = self._active.max_published_ns
            if active_ns is not None and self.config.is_too_old(active_ns, now_ns):
                self._roll(now_ns)
            self.delete_before(min(self.segments.retained_from(self.config, now_ns), self.high_watermark))
        return self.start_offset

    def compactable(self, now_ns: int = _NEVER_NS) -> list[Segment]:
        """The sealed segments that `Compaction` may replace at `now_ns`, oldest first."""
        limit, lag_ns = self.last_stable_offset, self.config.min_compaction_lag_ms * NS_PER_MS
        ripe = takewhile(lambda one: not lag_ns or (one.max_published_ns or 0) <= now_ns - lag_ns, self.segments.sealed)
        return [one for one in ripe if one.end_offset <= limit and not one.is_damaged]

    def replace_segment(self, old: Segment, rewrite: SegmentRewrite) -> None:
        """Replace a sealed segment by its compacted form. Raises STORAGE_ERROR."""
        if self.compacted_to < old.end_offset:
            # The checkpoint first: without it, the gaps would count as lost.
            self.compacted_to = self._active.base_offset
            self._save_checkpoint(start_offset=self.start_offset)
        freed_bytes = old.size_bytes - len(rewrite.content)
        new = old.rewritten(rewrite.path, rewrite.index, durable=self._waits_for_sync)
        if new is not None:
            new.removed = new.messages_count - rewrite.kept
        self.segments.replace(old, new, freed_bytes)
        self._decoded.clear()
        # Release the old segment's memory.
        if old in self._unsynced:
            at = self._unsynced.index(old)
            self._unsynced[at : at + 1] = [new] if new is not None else []
        if old in self._unindexed:
            self._unindexed.remove(old)
        if new is not None and self._writes_indexes:
            rewrite.sparse.save(self._context.files, new.index_path, durable=self._waits_for_sync)

    # -- keeping

    def begin_sync(self) -> SyncTicket | None:
        """A ticket that makes all appended messages durable; None if they are.

        One fdatasync serves all that wait for offsets below the ticket's `end_offset`. Raises STORAGE_ERROR after a
        failed sync.
        """
        if self.read_only:
            raise BrokerError(ErrorCode.STORAGE_ERROR, self.read_only)
        if self.end_offset == self._durable_offset:
            return None
        calls = [segment.file.begin_sync() for segment in (*self._unsynced, self._active)]
        if self._active is not self._named:
            files, directory = self._context.files, self._context.directory
            parent = directory.rpartition("/")[0]
            calls += [partial(files.fsync_dir, directory), partial(files.fsync_dir, parent)]
        return SyncTicket(self.end_offset, self._active, calls)

    def end_sync(self, ticket: SyncTicket) -> None:
        """Complete a ticket. After a failure the partition stays read-only. Raises STORAGE_ERROR.

        The kernel may have dropped the pages that it could not write, so a second fsync could succeed wrongly.
        """
        if ticket.error is not None:
            self.read_only = f"{self.name} accepts no more messages because a sync failed ({ticket.error.about})"
            raise BrokerError(ErrorCode.STORAGE_ERROR, self.read_only)
        self._named = ticket.active
        self._durable_offset = max(self._durable_offset, ticket.end_offset)
        self._unsynced = [segment for segment in self._unsynced if segment.end_offset > ticket.end_offset]
        if self._waits_for_sync:
            self.high_watermark = self._durable_offset
            if self._unindexed:
                with contextlib.suppress(BrokerError):
                    self._save_recovery_point()

    def sync(self) -> None:
        ticket = self.begin_sync()
        if ticket is not None:
            ticket.run()
            self.end_sync(ticket)

    def flush(self) -> None:
        if self._active.end_offset <= self.high_watermark and self._active.size_bytes and self._writes_indexes:
            self._save_index(self._active)
        self._save_recovery_point()

    def _save_recovery_point(self) -> None:
        if self._writes_indexes:
            for segment in [segment for segment in self._unindexed if segment.end_offset <= self.high_watermark]:
                self._save_index(segment)
                self._unindexed.remove(segment)
        self._save_checkpoint(start_offset=self.start_offset)

    def _save_index(self, segment: Segment) -> None:
        segment.save_index(interval_bytes=self.config.index_interval_bytes, durable=self._waits_for_sync)

    def _save_checkpoint(self, *, start_offset: int) -> None:
        offset = self.high_watermark
        producers = self._producers.stored(offset, self._context.epoch_ms)
        checkpoint = Checkpoint(offset, start_offset, self.compacted_to, producers, self.lost, self._active.base_offset)
        checkpoint.save(self._context.files, self._context.directory, durable=self._waits_for_sync)

    def close(self) -> None:
        """Close the log. With `fsync`, it waits for the disk and raises STORAGE_ERROR."""
        if self._closed:
            return
        self._closed = True
        try:
            if self._waits_for_sync and not self.read_only:
                self.sync()
            with contextlib.suppress(BrokerError):
                self.flush()
        finally:
            self.segments.close()

    def abandon(self) -> None:
        if not self._closed:
            self._closed = True
            self.segments.close()
