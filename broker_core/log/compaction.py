from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from broker_core.clock import NS_PER_MS, NS_PER_S
from broker_core.errors import BrokerError, ErrorCode
from broker_core.log.batch_index import MARKER
from broker_core.log.partition_log import PartitionLog
from broker_core.log.segment import Segment
from broker_core.log.segment_rewrite import SegmentRewrite
from broker_core.messages import StoredMessage

# The share of time for compaction: usually, and where it falls behind. Then producers are slowed down, because
# otherwise the log would grow without limit.
USUAL_FRACTION, BEHIND_FRACTION = 0.4, 0.9


class Cleaner:
    def __init__(self) -> None:
        self._running: dict[PartitionLog, Compaction] = {}

    def begin(self, now_ns: int, logs: Iterable[PartitionLog]) -> None:
        for log in logs:
            if log not in self._running and is_due(log, now_ns):
                self._running[log] = Compaction(log, now_ns)

    def step(self, now_ns: int) -> float:
        """Run one slice. Returns the share of time for the next ones, 0 for none. Raises STORAGE_ERROR."""
        if not self._running:
            return 0.0
        log = next(iter(self._running))
        running = self._running.pop(log)
        if running.step():
            self._running[log] = running  # behind the others
        else:
            self.begin(now_ns, (log,))  # another pass may be due for what was written meanwhile
        if not self._running:
            return 0.0
        return BEHIND_FRACTION if any(is_behind(log, now_ns) for log in self._running) else USUAL_FRACTION

    def forget(self, log: PartitionLog) -> None:
        self._running.pop(log, None)


SLICE_BYTES = 64 * 1_024  # of stored batches that one step reads or writes, in one to three milliseconds
_CALM_NS = 60 * NS_PER_S
_BEHIND_TIMES = 4


class Compacted(msgspec.Struct, frozen=True):
    """Totals of a compaction: removed messages, and sealed segments left unchanged because they are corrupt."""

    messages: int = 0
    stored_bytes: int = 0
    skipped_segments: int = 0


def is_due(log: PartitionLog, now_ns: int) -> bool:
    """Whether a pass is due: `dirty_ratio` of the log was sealed since the last pass, some of it is as old as
    `max_compaction_lag_ms`, or writing has stopped.

    A pass also reads what the last pass left. Waiting for half bounds the reading to about three times the writing,
    independent of the size of the log.
    """
    if not log.config.compacts:
        return False
    sealed = log.compactable(now_ns)
    fresh = [segment for segment in sealed if segment.end_offset > log.cleaned_to]
    if not fresh:
        return False
    fresh_bytes = sum(segment.size_bytes for segment in fresh)
    if fresh_bytes >= log.config.dirty_ratio * sum(segment.size_bytes for segment in sealed):
        return True
    first_ns = fresh[0].first_ns
    if first_ns is not None and now_ns - first_ns >= log.config.max_compaction_lag_ms * NS_PER_MS:
        return True
    latest_ns = fresh[-1].max_published_ns
    return latest_ns is None or now_ns - latest_ns >= _CALM_NS


def is_behind(log: PartitionLog, now_ns: int) -> bool:
    """Whether several times as much was written since the last pass as it left."""
    fresh_bytes = kept_bytes = 0
    for segment in log.compactable(now_ns):
        if segment.end_offset > log.cleaned_to:
            fresh_bytes += segment.size_bytes
        else:
            kept_bytes += segment.size_bytes
    return fresh_bytes > _BEHIND_TIMES * (kept_bytes + log.config.segment_bytes)


class Compaction:
    """One pass over the sealed segments of a log. Each `step` is a short slice.

    A message without a value (tombstone) deletes its key and is itself removed after `tombstone_ms`, so that slow
    readers see it. Segments are replaced oldest first, so that an interrupted pass never restores a deleted value.
    Messages that are appended during a pass are left for the next one.
    """

    def __init__(self, log: PartitionLog, now_ns: int) -> None:
        self.done = Compacted()
        self._log, self._now_ns = log, now_ns
        self._forget_tombstones_ns = now_ns - log.config.tombstone_ms * NS_PER_MS
        self._latest: dict[bytes, int] = {}
        self._left_bytes = 0
        self._steps = self._all_steps()

    def step(self) -> bool:
        """Read or write one slice; False when the pass is over. Raises STORAGE_ERROR."""
        self._left_bytes = SLICE_BYTES
        return next(self._steps, False)

    def run(self) -> Compacted:
        while self.step():
            pass
        return self.done

    def _all_steps(self) -> Iterator[bool]:
        log = self._log
        segments = log.compactable(self._now_ns)
        damaged: set[Segment] = set()
        for segment in segments:
            # Earlier passes left each key once, so only new segments can supersede messages.
            if segment.end_offset > log.cleaned_to:
                yield from self._reading(segment, damaged, self._note_keys(segment))
        for segment in segments:
            if segment not in damaged:
                yield from self._reading(segment, damaged, self._rewrite(segment))
        if segments:
            log.cleaned_to = segments[-1].end_offset
        self.done = msgspec.structs.replace(self.done, skipped_segments=len(damaged))

    def _reading(self, segment: Segment, damaged: set[Segment], work: Iterator[None]) -> Iterator[bool]:
        """Run `work` in slices, until it ends, the segment is deleted, or it is found corrupt."""
        while self._log.segments.holds(segment):
            try:
                next(work)
            except StopIteration:
                break
            except BrokerError as error:
                if error.code is not ErrorCode.DAMAGED:
                    raise
                damaged.add(segment)
                break
            yield True
        yield True

    def _took(self, size_bytes: int) -> bool:
        self._left_bytes -= size_bytes
        return self._left_bytes <= 0

    def _note_keys(self, segment: Segment) -> Iterator[None]:
        latest = self._latest
        for index in segment.indexes(segment.base_offset):
            for slot in range(len(index)):
                # Aborted messages supersede nothing, and are removed.
                if not self._log.segments.was_aborted(segment, index, slot):
                    for message in segment.messages(index, slot):
                        if message.key is not None:
                            latest[message.key] = message.offset
                if self._took(index.sizes[slot]):
                    yield

    def _stays(self, message: StoredMessage) -> bool:
        if message.offset < self._log.start_offset:
            return False
        if message.key is None:
            return True
        if message.value is None and message.published_ns < self._forget_tombstones_ns:
            return False
        return self._latest.get(message.key, message.offset) <= message.offset

    def _rewrite(self, segment: Segment) -> Iterator[None]:
        rewrite = SegmentRewrite(segment, self._log.config.index_interval_bytes)
        for index in segment.indexes(segment.base_offset):
            for slot in range(len(index)):
                if index.payloads[slot] == MARKER:
                    rewrite.keep_marker(index, slot)
                else:
                    every = list(segment.messages(index, slot))
                    gone = self._log.segments.was_aborted(segment, index, slot)
                    kept = [] if gone else [message for message in every if self._stays(message)]
                    rewrite.keep(index, slot, every, kept)
                if self._took(index.sizes[slot]):
                    yield
        if not rewrite.removed:
            self._log.segments.note_count(segment, rewrite.kept)
            return
        for size_bytes in rewrite.write(SLICE_BYTES, durable=self._log.config.durability == "fsync"):
            if self._took(size_bytes):
                yield
        freed_bytes = segment.size_bytes - len(rewrite.content)
        self._log.replace_segment(segment, rewrite)
        self.done = msgspec.structs.replace(
            self.done, messages=self.done.messages + rewrite.removed, stored_bytes=self.done.stored_bytes + freed_bytes
        )
