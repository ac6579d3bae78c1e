"""Corruption of the kind that only a checksum notices."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq


def flip(path: Path, at: int) -> None:
    """Turn one bit of the byte `at`, from the end where it is negative."""
    data = bytearray(path.read_bytes())
    data[at] ^= 0x01
    path.write_bytes(data)


def flip_unnoticed(part: Path) -> None:
    """Turn a bit in a page of `part` so that whoever checks nothing reads other values, without an error."""
    whole = part.read_bytes()
    true = pq.read_table(part)
    for at in range(4, len(whole)):
        flip(part, at)
        try:
            if not pq.read_table(part).equals(true):
                return
        except (OSError, pa.ArrowException):
            pass
        part.write_bytes(whole)
    raise AssertionError(f"every flipped bit of {part} is noticed")
