"""Where the batches of one segment are: a few bytes per batch, and no decoding to answer what was published when."""

from __future__ import annotations

from array import array
from bisect import bisect_right

from broker_core.messages import Run


class BatchIndex:
    """One entry per batch, in order. Offsets inside a batch have no gaps; between batches there may be.

    `positions` and `sizes` are bytes in the segment file, `payloads` the bytes of keys and values. Offsets are kept
    relative to the segment's, so that an entry takes 24 bytes.
    """

    __slots__ = (
        "_base_offset",
        "counts",
        "max_published_ns",
        "offsets",
        "payloads",
        "positions",
        "published",
    )

    def __init__(self, base_offset: int) -> None:
        self._base_offset = base_offset
        self.offsets = array("I")
        self.counts = array("I")
        self.positions = array("I")
        self.payloads = array("I")
        self.published = array("q")
        self.max_published_ns: int | None = None

    def __len__(self) -> int:
        return len(self.offsets)

    def add(self, base_offset: int, count: int, position: int, payload_bytes: int, published_ns: int) -> None:
        """The next batch."""
        self.offsets.append(base_offset - self._base_offset)
        self.counts.append(count)
        self.positions.append(position)
        self.payloads.append(payload_bytes)
        self.published.append(published_ns)
        if self.max_published_ns is None or published_ns > self.max_published_ns:
            self.max_published_ns = published_ns

    def base_offset(self, slot: int) -> int:
        """The first offset of the batch in this slot."""
        return self._base_offset + self.offsets[slot]

    def end_offset(self, slot: int) -> int:
        """The offset after the batch in this slot."""
        return self._base_offset + self.offsets[slot] + self.counts[slot]

    def slot_from(self, offset: int) -> int:
        """The slot of the batch that holds `offset`, else of the next batch after it; `len(self)` where none is."""
        slot = bisect_right(self.offsets, max(offset - self._base_offset, 0)) - 1
        if slot < 0 or offset >= self.end_offset(slot):
            slot += 1
        return slot

    def slot_for_time(self, published_ns: int) -> int | None:
        """The first slot published at `published_ns` or later; None where none was."""
        if self.max_published_ns is None or self.max_published_ns < published_ns:
            return None
        # Not bisected: a restart may have moved the clock back inside a segment.
        return next(slot for slot, time_ns in enumerate(self.published) if time_ns >= published_ns)

    def collect_runs(self, offset: int, end_offset: int, runs: list[Run]) -> None:
        """Append the runs between the two offsets, joined with the last of `runs` where they go on from it."""
        base_offset = self._base_offset
        offsets = self.offsets
        for slot in range(self.slot_from(offset), len(offsets)):
            first = base_offset + offsets[slot]
            if first >= end_offset:
                return
            count = self.counts[slot]
            size_bytes = self.payloads[slot]
            published_ns = self.published[slot]
            if first < offset or first + count > end_offset:
                start = max(first, offset)
                end = min(first + count, end_offset)
                # Shares of one batch add up to the whole of it, whichever way it is divided.
                size_bytes = size_bytes * (end - first) // count - size_bytes * (start - first) // count
                first, count = start, end - start
            if runs and runs[-1].published_ns == published_ns and runs[-1].end_offset == first:
                last = runs.pop()
                first, count, size_bytes = last.offset, last.count + count, last.size_bytes + size_bytes
            runs.append(Run(first, count, size_bytes, published_ns))
