"""Scanning a segment file batch by batch, by checksums only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from broker_core.files import FileSystem
from broker_core.log.batch import (
    HEADER_BYTES,
    LEAST_RECORD_BYTES,
    MARK,
    MARK_AT,
    BatchHeader,
    commits,
    is_intact,
    parse_header,
)

_WINDOW_BYTES = 4 * 1_048_576


class FoundBatch(NamedTuple):
    """An intact batch and its position in bytes. `commits` is the outcome of a marker, None for other batches."""

    position: int
    header: BatchHeader
    commits: bool | None


class BadBytes(NamedTuple):
    """Bytes `start` to `end` - 1 are no batch; offsets from `offset` up to `next_offset` (None: all) are missing."""

    start: int
    end: int
    offset: int
    next_offset: int | None


class _Window:
    def __init__(self, files: FileSystem, path: str, end: int) -> None:
        self._files = files
        self._path = path
        self.end = end
        self._start = 0
        self._bytes = memoryview(b"")

    def view(self, position: int, length: int) -> memoryview:
        length = min(length, self.end - position)
        if position < self._start or position + length > self._start + len(self._bytes):
            self._bytes = memoryview(self._read(position, max(length, _WINDOW_BYTES)))
            self._start = position
        return self._bytes[position - self._start : position - self._start + length]

    def _read(self, position: int, length: int) -> bytes:
        return self._files.read(self._path, position, min(length, self.end - position))

    def intact_at(self, position: int) -> FoundBatch | None:
        header = parse_header(self.view(position, HEADER_BYTES))
        if header is None or header.size_bytes > self.end - position:
            return None
        batch = self.view(position, header.size_bytes)
        if not is_intact(batch, header.base_offset):
            return None
        return FoundBatch(position, header, commits(batch) if header.is_control else None)


def scan(
    files: FileSystem, path: str, *, start: int, end: int, offset: int, limit: int | None, gaps: bool
) -> Iterator[FoundBatch | BadBytes]:
    """Scan the bytes `start` to `end` - 1 in order.

    The first batch must be at `offset`, each next one at the end of the last, unless compaction left `gaps`. Offsets
    are below `limit`, the base of the next segment.
    """
    window = _Window(files, path, end)
    position = start
    while position < end:
        found = window.intact_at(position)
        if found is None or not _fits(found, start=position, offset=offset, limit=limit, gaps=gaps):
            following = _next_intact(window, position, offset=offset, limit=limit, gaps=gaps)
            bad_end = following.position if following else end
            yield BadBytes(position, bad_end, offset, following.header.base_offset if following else None)
            if following is None:
                return
            found = following
        yield found
        offset = found.header.end_offset
        position = found.position + found.header.size_bytes


def _fits(found: FoundBatch, *, start: int, offset: int, limit: int | None, gaps: bool) -> bool:
    header = found.header
    if limit is not None and header.end_offset > limit:
        return False
    if gaps:
        return header.base_offset >= offset
    # The lost bytes held at most this many records.
    lost_at_most = (found.position - start) // LEAST_RECORD_BYTES
    return offset <= header.base_offset <= offset + lost_at_most


def _next_intact(window: _Window, start: int, *, offset: int, limit: int | None, gaps: bool) -> FoundBatch | None:
    header = parse_header(window.view(start, HEADER_BYTES))
    if header is not None and header.size_bytes < window.end - start:
        # Usually the records are corrupt, and the length still leads to the next batch.
        found = window.intact_at(start + header.size_bytes)
        if found is not None and _fits(found, start=start, offset=offset, limit=limit, gaps=gaps):
            return found
    rest = bytes(window.view(start, window.end - start))
    at = rest.find(MARK, MARK_AT + 1)
    while at >= 0:
        found = window.intact_at(start + at - MARK_AT)
        if found is not None and _fits(found, start=start, offset=offset, limit=limit, gaps=gaps):
            return found
        at = rest.find(MARK, at + 1)
    return None
