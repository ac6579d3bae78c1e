"""Confluent's wire format: a zero byte, the schema's id in four bytes (big-endian), the data."""

from __future__ import annotations

import struct

_HEAD = struct.Struct(">BI")
HEAD_BYTES = _HEAD.size


def frame(schema_id: int, data: bytes) -> bytes:
    return _HEAD.pack(0, schema_id) + data


def framed_id(data: bytes) -> int | None:
    """The id of the schema, or None where `data` has no such prefix. The payload begins at HEAD_BYTES."""
    if len(data) < HEAD_BYTES or data[0] != 0:
        return None
    schema_id: int = _HEAD.unpack_from(data)[1]
    return schema_id
