"""Lines of standard input, as they come."""

from __future__ import annotations

import io
import os
import select
import sys
from collections.abc import Callable, Iterator

_CHUNK_BYTES = 1 << 16


def typed_lines(before_waiting: Callable[[], object]) -> Iterator[bytes]:
    """Each line, without its end. `before_waiting()` whenever nothing has come yet that could be read."""
    source = sys.stdin.buffer
    try:
        descriptor = source.fileno()
    except io.UnsupportedOperation:
        yield from (line.rstrip(b"\r\n") for line in source)
        return
    begun = bytearray()
    while True:
        # Python's own iteration does not say when it is about to wait.
        if not select.select([descriptor], [], [], 0)[0]:
            before_waiting()
        data = os.read(descriptor, _CHUNK_BYTES)
        begun += data
        if b"\n" in data or (begun and not data):
            *lines, rest = bytes(begun).split(b"\n")
            if not data:
                lines, rest = [*lines, rest], b""
            begun = bytearray(rest)
            yield from (line.rstrip(b"\r") for line in lines)
        if not data:
            return
