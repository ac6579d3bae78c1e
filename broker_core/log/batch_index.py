"""The in-memory index of batches in a segment: position, size and publishing time, without decoding."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from functools import partial

import msgspec

from broker_core.messages import MessageRun

UNKNOWN_BYTES = 0xFFFF_FFFF  # of a batch that was found on disk and not decoded
MARKER = 0xFFFF_FFFE  # instead of the payload of a control batch, which holds no message


_UINTS = partial(array, "I")


class BatchIndex(msgspec.Struct, eq=False):
    """One entry (slot) per batch, in order. `spans` counts offsets, including those removed by compaction.

    `positions` and `sizes` are in bytes of the segment file, `payloads` are the bytes of keys and values. Offsets are
    relative to the segment's, so that an entry takes 28 bytes.
    """

    _base_offset: int
    offsets: array[int] = msgspec.field(default_factory=_UINTS)
    spans: array[int] = msgspec.field(default_factory=_UINTS)
    positions: array[int] = msgspec.field(default_factory=_UINTS)
    sizes: array[int] = msgspec.field(default_factory=_UINTS)
    payloads: array[int] = msgspec.field(default_factory=_UINTS)
    published: array[int] = msgspec.field(default_factory=partial(array, "q"))
    with_gaps: set[int] = set()
    last_end_offset: int = 0
    max_published_ns: int | None = None
    _in_time_order: bool = True

    def __post_init__(self) -> None:
        self.last_end_offset = self._base_offset

    def __len__(self) -> int:
        return len(self.offsets)

    def add(
        self, base_offset: int, span: int, position: int, size_bytes: int, payload_bytes: int, published_ns: int
    ) -> None:
        self.last_end_offset = base_offset + span
        self.offsets.append(base_offset - self._base_offset)
        self.spans.append(span)
        self.positions.append(position)
        self.sizes.append(size_bytes)
        self.payloads.append(payload_bytes)
        self.published.append(published_ns)
        if self.max_published_ns is None or published_ns >= self.max_published_ns:
            self.max_published_ns = published_ns
        else:
            self._in_time_order = False

    def base_offset(self, slot: int) -> int:
        return self._base_offset + self.offsets[slot]

    def end_offset(self, slot: int) -> int:
        return self._base_offset + self.offsets[slot] + self.spans[slot]

    def slot_from(self, offset: int) -> int:
        """The slot of the batch with `offset`, or else of the next batch; `len(self)` if there is none."""
        relative = offset - self._base_offset
        slot = bisect_right(self.offsets, relative) - 1
        if slot < 0 or relative >= self.offsets[slot] + self.spans[slot]:
            slot += 1
        return slot

    def slots(self, offset: int, limit: int, max_bytes: int, *, least: int) -> range:
        """The slots from `slot_from(offset)` on of batches that begin below `limit`, of at most `max_bytes` together,
        but `least` in any case if there are so many."""
        first, stop = self.slot_from(offset), bisect_left(self.offsets, limit - self._base_offset)
        if first < stop:
            end = self.positions[first] + max_bytes
            if self.positions[stop - 1] + self.sizes[stop - 1] > end:
                stop = max(bisect_right(self.positions, end, first, stop) - 1, first + least)
        return range(first, stop)

    def slot_for_time(self, published_ns: int, start: int = 0) -> int | None:
        """The first slot from `start` on that was published at `published_ns` or later; None if there is none."""
        if self.max_published_ns is None or self.max_published_ns < published_ns:
            return None
        if self._in_time_order:
            slot = bisect_left(self.published, published_ns, start)
            return slot if slot < len(self) else None
        # A restart has set the clock back within this segment.
        later = (slot for slot in range(start, len(self)) if self.published[slot] >= published_ns)
        return next(later, None)

    def collect_runs(self, offset: int, end_offset: int, runs: list[MessageRun], records: Records) -> None:
        """Append the runs between the two offsets to `runs`; adjacent runs are joined.

        `records` is called for batches with gaps left by compaction, and for those whose payload size is unknown.
        """
        base_offset = self._base_offset
        offsets = self.offsets
        for slot in range(self.slot_from(offset), len(offsets)):
            first = base_offset + offsets[slot]
            if max(first, offset) >= end_offset:
                return
            published_ns = self.published[slot]
            if slot in self.with_gaps:
                for at, size_bytes in records(self, slot):
                    if offset <= at < end_offset:
                        _join(runs, at, 1, size_bytes, published_ns)
                continue
            span = self.spans[slot]
            size_bytes = self.payloads[slot]
            if size_bytes == MARKER:
                continue
            if size_bytes == UNKNOWN_BYTES:
                size_bytes = self.payloads[slot] = sum(size for _, size in records(self, slot))
            if first < offset or first + span > end_offset:
                start = max(first, offset)
                end = min(first + span, end_offset)
                # The shares of a batch add up to its size, however it is divided.
                size_bytes = size_bytes * (end - first) // span - size_bytes * (start - first) // span
                first, span = start, end - start
            _join(runs, first, span, size_bytes, published_ns)


# The (offset, bytes of key and value) of each record in a slot.
Records = Callable[[BatchIndex, int], Sequence[tuple[int, int]]]


def _join(runs: list[MessageRun], offset: int, count: int, size_bytes: int, published_ns: int) -> None:
    if runs:
        last = runs[-1]
        if last.published_ns == published_ns and last.offset + last.count == offset:
            runs[-1] = MessageRun(last.offset, last.count + count, last.size_bytes + size_bytes, published_ns)
            return
    runs.append(MessageRun(offset, count, size_bytes, published_ns))
