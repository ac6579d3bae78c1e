"""Checksums of what a session folder holds, so that flipped bytes are never taken for facts. Needs pyarrow alone.

A sealed part has one over all its bytes: 8 bytes between its last page and its footer, where Parquet lets anything lie.
A batch of a stream has one in its own metadata. `session.json` has one of itself.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

#: In the schema of a file: each of its parts has a checksum. A part without one is damaged.
MARK: Final = b"brokerscope.checksums"
#: In `session.json`, and in the metadata of a batch.
CRC32: Final = "crc32"

_RECORD = struct.Struct("<4sI")  # magic, CRC-32 of all other bytes of the part
_MAGIC = b"BSC1"  # the same as in checked files of a log, where a CRC-32C follows
_END = struct.Struct("<I4s")  # length of the footer, "PAR1"


def stamp_part(path: Path) -> None:
    """Put the checksum of a Parquet file into it. Raises OSError."""
    data = memoryview(path.read_bytes())
    footer_at = _footer_at(data)
    with path.open("r+b") as file:
        file.seek(footer_at)
        file.write(_RECORD.pack(_MAGIC, zlib.crc32(data)))
        file.write(data[footer_at:])


def part_fits(path: Path) -> bool:
    """Whether the bytes of a Parquet file are as they were written. Raises OSError."""
    data = memoryview(path.read_bytes())
    footer_at = _footer_at(data)
    record_at = footer_at - _RECORD.size
    if record_at < 0:
        return False
    magic, expected = _RECORD.unpack_from(data, record_at)
    return bool(magic == _MAGIC and zlib.crc32(data[footer_at:], zlib.crc32(data[:record_at])) == expected)


def _footer_at(data: memoryview) -> int:
    length, _ = _END.unpack_from(data, len(data) - _END.size)
    return len(data) - _END.size - int(length)


def batch_checksum(batch: pa.RecordBatch) -> bytes:
    """CRC-32 of the values in a record batch, as decimal digits."""
    return b"%d" % zlib.crc32(pa.ipc.read_message(batch.serialize()).body)


def document_checksum(document: Mapping[str, Any]) -> int:
    """CRC-32 of a JSON object without its own checksum, independent of its layout."""
    told = {name: value for name, value in document.items() if name != CRC32}
    return zlib.crc32(json.dumps(told, sort_keys=True).encode())
