"""What a segment file holds, found by reading it: how a log is opened again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from broker_core.files import FileSystem
from broker_core.log.batch import BatchHeader, is_intact, parse_header

_READ_BYTES = 4 * 1_048_576


class FoundBatch(NamedTuple):
    """An intact batch and the byte at which it starts."""

    position: int
    header: BatchHeader
    data: memoryview


def intact_batches(files: FileSystem, path: str) -> Iterator[FoundBatch]:
    """The intact batches from the start of the file up to the first byte that is not one."""
    size = files.size(path)
    position = 0
    window = memoryview(b"")
    window_start = 0
    while position < size:
        header = parse_header(window, position - window_start)
        if header is None or position + header.size_bytes > window_start + len(window):
            wanted = max(_READ_BYTES, header.size_bytes if header else 0)
            if position == window_start and len(window) >= min(wanted, size - position):
                return
            window = memoryview(files.read(path, position, wanted))
            window_start = position
            continue
        start = position - window_start
        data = window[start : start + header.size_bytes]
        if not is_intact(data, header.base_offset):
            return
        yield FoundBatch(position, header, data)
        position += header.size_bytes
