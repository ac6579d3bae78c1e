"""The transactions of a segment: markers, aborted transactions, and those that are open at its end (KIP-98)."""

from __future__ import annotations

import struct
from array import array
from bisect import bisect_left
from collections.abc import Mapping
from typing import NamedTuple

import msgspec


class AbortedTransaction(NamedTuple):
    """A producer's messages from `first_offset` up to its abort marker at `marker_offset`."""

    producer_id: int
    first_offset: int
    marker_offset: int


class StoredTransactions(msgspec.Struct, array_like=True, frozen=True):
    """The transactions in the index file. The offsets of markers are eight bytes each, little-endian."""

    markers: bytes = b""
    aborted: tuple[AbortedTransaction, ...] = ()
    open: tuple[tuple[int, int], ...] = ()


class SegmentTransactions:
    """`markers` are offsets in order; `open` maps producer ids to the first offset of open ones, oldest first."""

    __slots__ = ("aborted", "markers", "open")

    def __init__(self, open_before: Mapping[int, int] | None = None) -> None:
        self.markers = array("q")
        self.aborted: list[AbortedTransaction] = []
        self.open = dict(open_before or ())

    def begin(self, producer_id: int, offset: int) -> None:
        self.open.setdefault(producer_id, offset)

    def end(self, producer_id: int, marker_offset: int, *, commits: bool) -> int | None:
        """Register a marker. Returns the first offset of the transaction, None if the log has no message of it."""
        self.markers.append(marker_offset)
        first_offset = self.open.pop(producer_id, None)
        if first_offset is not None and not commits:
            self.aborted.append(AbortedTransaction(producer_id, first_offset, marker_offset))
        return first_offset

    def markers_between(self, offset: int, end_offset: int) -> int:
        return max(0, bisect_left(self.markers, end_offset) - bisect_left(self.markers, offset))

    def stored(self) -> StoredTransactions:
        markers = struct.pack(f"<{len(self.markers)}q", *self.markers)
        return StoredTransactions(markers, tuple(self.aborted), tuple(self.open.items()))

    @classmethod
    def of(cls, stored: StoredTransactions) -> SegmentTransactions:
        found = cls(dict(stored.open))
        found.markers.extend(struct.unpack(f"<{len(stored.markers) // 8}q", stored.markers))
        found.aborted.extend(stored.aborted)
        return found
