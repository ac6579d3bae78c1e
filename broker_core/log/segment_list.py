from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from broker_core.log.batch_index import BatchIndex
from broker_core.log.segment import Segment
from broker_core.log.segment_transactions import AbortedTransaction


class SegmentList:
    """At least one segment; the last is the active one, the others are sealed."""

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

    def drop_before(self, offset: int) -> list[Segment]:
        """Delete the sealed segments that end before `offset`, with their files. Returns them."""
        gone = [segment for segment, following in pairwise(self._segments) if following.base_offset <= offset]
        for segment in gone:
            self._sealed_bytes -= segment.size_bytes
            self._sealed_messages -= segment.messages_count
            segment.remove()
        del self._segments[: len(gone)]
        del self._bases[: len(gone)]
        return gone

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
        if offset >= active.warm_from:  # nearly always
            return ((active, active.warm),)
        return self._older_indexes(offset)

    def _older_indexes(self, offset: int) -> Iterator[tuple[Segment, BatchIndex]]:
        for number in range(max(bisect_right(self._bases, offset) - 1, 0), len(self._segments)):
            segment = self._segments[number]
            for index in segment.indexes(offset):
                yield segment, index

    def close(self) -> None:
        for segment in self._segments:
            segment.close()
