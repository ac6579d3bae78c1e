"""Recovery: opening a partition. Segments covered by checkpoint and indexes are trusted, the rest is scanned.

Invalid bytes after the checkpoint without a batch behind them are a torn tail and are truncated. Anything else is
corruption: its offsets are reported and never reused.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import NamedTuple

from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError
from broker_core.log.batch import BatchHeader
from broker_core.log.checkpoint import Checkpoint
from broker_core.log.corruption import LostRange
from broker_core.log.producers import ProducerStates, RememberedBatch
from broker_core.log.scan import BadBytes, FoundBatch, scan
from broker_core.log.segment import LOG_SUFFIX, PartitionContext, Segment, segment_path
from broker_core.log.segment_index import INDEX_SUFFIX, SegmentIndex


class RecoveryReport(NamedTuple):
    """The result of opening a partition. `notes` are sentences, empty after a clean shutdown."""

    scanned_bytes: int
    cut_bytes: int
    notes: tuple[str, ...]


class Recovery:
    """Opens the partition of `context`. The results are attributes; `segments` may be empty."""

    def __init__(self, context: PartitionContext) -> None:
        self._context = context
        self._notes: list[str] = []
        self._scanned_bytes = 0
        self._cut_bytes = 0
        self.producers = ProducerStates()
        self.segments: list[Segment] = []
        names = context.files.listdir(context.directory)
        stems = [name.removesuffix(LOG_SUFFIX) for name in names if name.endswith(LOG_SUFFIX)]
        self._bases = sorted(int(stem) for stem in stems if stem.isdecimal())
        self.checkpoint = self._load_checkpoint()
        self.start_offset = self.checkpoint.start_offset
        for lost in self.checkpoint.lost:
            context.corruption.add(*lost)
        self.producers.restore(self.checkpoint.producers, context.epoch_ms)
        for name in names:
            if name.endswith((".tmp", ".cleaned")):  # left by a process that was killed
                context.files.remove(f"{context.directory}/{name}")
        for base, limit in zip_longest(self._bases, self._bases[1:]):
            self._open(base, limit)
        self.end_offset = self._end_offset()
        self.report = RecoveryReport(self._scanned_bytes, self._cut_bytes, tuple(self._notes))

    def _load_checkpoint(self) -> Checkpoint:
        # Without a checkpoint, every segment but the last may have been compacted.
        first, last = (self._bases[0], self._bases[-1]) if self._bases else (0, 0)
        unknown = Checkpoint(offset=0, start_offset=first, compacted_to=last)
        try:
            return Checkpoint.load(self._context.files, self._context.directory) or unknown
        except BrokerError as error:
            self._notes.append(f"{error} Everything was scanned instead; deleted records may reappear.")
            return unknown

    def _open(self, base: int, limit: int | None) -> None:
        files = self._context.files
        path = segment_path(self._context.directory, base)
        expected = self.segments[-1].end_offset if self.segments else self.start_offset
        compacted_to = self.checkpoint.compacted_to
        if expected < base and base > compacted_to:
            self._lose(expected, base, f"the file before {path!r} is missing or ends early")
        indexed = self._load_index(base, path)
        gaps = base < compacted_to
        start = indexed.covered_bytes if indexed else 0
        offset = indexed.end_offset if indexed else base
        found: list[FoundBatch] = []
        bad: list[BadBytes] = []
        size = files.size(path)
        for item in scan(files, path, start=start, end=size, offset=offset, limit=limit, gaps=gaps):
            if isinstance(item, BadBytes):
                bad.append(item)
                continue
            found.append(item)
            self._remember(item.header)
        self._scanned_bytes += size - start
        if bad and bad[-1].next_offset is None and limit is None and bad[-1].offset >= self.checkpoint.offset:
            tail = bad.pop()
            files.truncate(path, tail.start)
            self._cut_bytes += tail.end - tail.start
            self._notes.append(f"{tail.end - tail.start} bytes of an unfinished batch were cut from {path!r}")
        open_before = self.segments[-1].transactions.open if self.segments else None
        segment = Segment(self._context, base, indexed, is_compacted=gaps, open_before=open_before)
        for position, header, commits in found:
            segment.register_batch(position, header, commits=commits)
        self.segments.append(segment)
        for item in bad:
            self._damaged(segment, item, limit)

    def _load_index(self, base: int, path: str) -> SegmentIndex | None:
        files = self._context.files
        index_path = segment_path(self._context.directory, base, INDEX_SUFFIX)
        if not files.exists(index_path):
            return None
        index = SegmentIndex.load(files, index_path)
        if index is None:
            self._notes.append(f"{index_path!r} failed its checksum and was rebuilt")
        elif index.end_offset <= self.checkpoint.offset and index.covered_bytes <= files.size(path):
            return index
        # It must not cover batches that are appended later.
        files.remove(index_path)
        return None

    def _remember(self, header: BatchHeader) -> None:
        stamp = header.stamp
        if stamp is None or header.base_offset < self.checkpoint.offset:
            return
        if header.is_control:
            self.producers.fence(stamp.producer_id, stamp.epoch)
            return
        published_ns = (header.timestamp_ms - self._context.epoch_ms) * NS_PER_MS
        batch = RememberedBatch(header.base_sequence, header.count, header.base_offset, published_ns)
        self.producers.remember(stamp, batch)

    def _damaged(self, segment: Segment, bad: BadBytes, limit: int | None) -> None:
        segment.is_damaged = True
        next_offset = bad.next_offset
        if next_offset is None:
            next_offset = max(self.checkpoint.offset, bad.offset) if limit is None else limit
        self._lose(bad.offset, next_offset, f"{segment.path!r} is damaged from byte {bad.start} on")

    def _lose(self, start_offset: int, end_offset: int, cause: str) -> None:
        start_offset = max(start_offset, self.start_offset)  # deleted offsets are not lost
        if self._context.corruption.add(start_offset, end_offset, cause):
            self._notes.append(LostRange(start_offset, end_offset, cause).sentence)

    def _end_offset(self) -> int:
        end_offset = max(self.start_offset, self.segments[-1].end_offset if self.segments else 0)
        if end_offset < self.checkpoint.offset:
            self._lose(end_offset, self.checkpoint.offset, f"{self._context.directory!r} ends early")
            end_offset = self.checkpoint.offset
        elif self._bases and self.checkpoint.active_base > self._bases[-1]:
            path = segment_path(self._context.directory, self.checkpoint.active_base)
            self._notes.append(f"{path!r} is missing: its messages from offset {end_offset} on are lost")
        return end_offset
