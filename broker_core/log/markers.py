"""Markers: the control batches that end a transaction in a partition (KIP-98). Only the broker writes them.

A marker takes an offset and holds one record: its key is (version i16, 0 for abort or 1 for commit i16), its value
(version i16, coordinator epoch i32).
"""

from __future__ import annotations

import struct

from broker_core.log.batch import CONTROL_BIT, HEADER_BYTES, ProducerStamp, framed

_KEY, _VALUE = struct.Struct(">hh"), struct.Struct(">hi")
_ABORT, _COMMIT = 0, 1
# The lengths are zigzag varints: a record of 16 bytes without attributes and deltas, a key of 4 and a value of 6.
_BEFORE_KEY, _BEFORE_VALUE, _NO_HEADERS = b"\x20\0\0\0\x08", b"\x0c", b"\0"
_TYPE_AT = HEADER_BYTES + len(_BEFORE_KEY) + 2


def encode_marker(base_offset: int, timestamp_ms: int, producer_id: int, epoch: int, *, commits: bool) -> bytearray:
    record = (
        _BEFORE_KEY,
        _KEY.pack(0, _COMMIT if commits else _ABORT),
        _BEFORE_VALUE,
        _VALUE.pack(0, 0),
        _NO_HEADERS,
    )
    return framed(base_offset, timestamp_ms, record, 1, ProducerStamp(producer_id, epoch, -1, True), CONTROL_BIT)


def commits(marker: bytes | memoryview) -> bool:
    return len(marker) > _TYPE_AT + 1 and bool(marker[_TYPE_AT + 1] == _COMMIT)
