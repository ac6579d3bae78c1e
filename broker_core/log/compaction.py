"""Compaction: of each key only the latest message stays, at the offset that it always had."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError
from broker_core.log.batch import encode_kept
from broker_core.log.batch_index import BatchIndex
from broker_core.log.partition_log import PartitionLog
from broker_core.log.segment import Segment
from broker_core.messages import StoredMessage


class Compacted(msgspec.Struct, frozen=True):
    """What compaction has removed so far, and how many sealed segments it had to leave alone as damaged."""

    messages: int = 0
    stored_bytes: int = 0
    skipped_segments: int = 0


class Compaction:
    """One pass over the sealed segments of a log, one at each `step`, which fits between other work.

    A message without a value (a tombstone) deletes its key; it stays for `tombstone_ms`, so that readers who are
    behind learn of it, then goes too. Segments are replaced oldest first: wherever a pass is cut short, no deleted
    value comes back. Messages that are appended meanwhile are left for the next pass.
    """

    def __init__(self, log: PartitionLog, now_ns: int) -> None:
        self.done = Compacted()
        self._log = log
        self._forget_tombstones_ns = now_ns - log.config.tombstone_ms * NS_PER_MS
        self._latest: dict[bytes, int] = {}
        self._steps = self._all_steps()

    def step(self) -> bool:
        """Read or replace one more segment; False where the pass is over. Raises STORAGE_ERROR."""
        return next(self._steps, False)

    def run(self) -> Compacted:
        """All steps at once. Raises STORAGE_ERROR."""
        while self.step():
            pass
        return self.done

    def _all_steps(self) -> Iterator[bool]:
        segments = self._log.compactable()
        damaged: list[Segment] = []
        for segment in segments:
            if segment in self._log.compactable():  # it may have been deleted since
                try:
                    self._note_keys(segment)
                except BrokerError:
                    damaged.append(segment)
            yield True
        for segment in segments:
            if segment not in damaged and segment in self._log.compactable():
                self._rewrite(segment)
            yield True
        self.done = msgspec.structs.replace(self.done, skipped_segments=len(damaged))

    def _note_keys(self, segment: Segment) -> None:
        for index in segment.indexes(segment.base_offset):
            for slot in range(len(index)):
                for message in segment.messages(index, slot):
                    if message.key is not None:
                        self._latest[message.key] = message.offset

    def _stays(self, message: StoredMessage) -> bool:
        if message.offset < self._log.start_offset:
            return False
        if message.key is None:
            return True
        if message.value is None and message.published_ns < self._forget_tombstones_ns:
            return False
        return self._latest.get(message.key, message.offset) <= message.offset

    def _rewrite(self, segment: Segment) -> None:
        content = bytearray()
        content_index = BatchIndex(segment.base_offset)
        removed = 0
        for index in segment.indexes(segment.base_offset):
            for slot in range(len(index)):
                every = list(segment.messages(index, slot))
                kept = [message for message in every if self._stays(message)]
                removed += len(every) - len(kept)
                if not kept:
                    continue
                stored = segment.batch(index, slot)
                data = encode_kept(kept, stored) if len(kept) < len(every) else stored
                span = kept[-1].offset - kept[0].offset + 1
                if len(kept) < span:
                    content_index.with_gaps.add(len(content_index))
                payload_bytes = sum(message.size_bytes for message in kept)
                published_ns = index.published[slot]
                content_index.add(kept[0].offset, span, len(content), len(data), payload_bytes, published_ns)
                content += data
        if removed:
            removed_bytes = segment.size_bytes - len(content)
            self._log.replace_segment(segment, content, content_index)
            self.done = msgspec.structs.replace(
                self.done,
                messages=self.done.messages + removed,
                stored_bytes=self.done.stored_bytes + removed_bytes,
            )
