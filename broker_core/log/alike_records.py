"""The fast encoding of uniform records: messages of one size without headers, as most batches have.

The bytes between their keys and values depend on the position in the batch only, so the records of a batch are one join
of a table with the keys and values. The result equals that of the general codec; see NOTES.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from broker_core.messages import Message

LEAST_RECORDS = 8  # below, the general codec is as fast
_MOST_RECORDS = 1_000  # of a batch
_KEPT_SIZES = 16  # number of cached tables, 60 kB each at most

_NO_HEADERS = b"\0"
_NO_KEY = b"\x01"
_tables: dict[tuple[int | None, int], list[bytes]] = {}  # by the bytes of a key and of a value


def records_alike(messages: Sequence[Message]) -> tuple[list[bytes], int] | None:
    """(pieces of the records, bytes of keys and values); None where the messages are not uniform."""
    count = len(messages)
    if not LEAST_RECORDS <= count <= _MOST_RECORDS:
        return None
    keys: list[bytes | None] = []
    if [True for one in messages if one.key is not None or one.headers or one.priority or one.ttl_ms is not None]:
        if [True for one in messages if one.headers or one.priority or one.ttl_ms is not None]:
            return None
        keys = [message.key for message in messages]
    values = [message.value for message in messages]
    value_bytes, key_bytes = _length_of_each(values), _length_of_each(keys) if keys else None
    if value_bytes is None or (keys and key_bytes is None):
        return None
    between = _between(key_bytes, value_bytes, count)
    width = 2 if key_bytes is None else 4
    pieces: list[bytes | None] = [None] * (width * count)
    pieces[::width] = between[:count]
    if key_bytes is not None:
        pieces[1::width] = keys
        pieces[2::width] = [_varint(value_bytes)] * count
    pieces[width - 1 :: width] = values
    # A piece ends the record before it: the first piece needs no end, and the last record needs one.
    pieces[0] = between[0][len(_NO_HEADERS) :]
    pieces.append(_NO_HEADERS)
    return pieces, count * (value_bytes + (key_bytes or 0))  # type: ignore[return-value]


def _length_of_each(parts: list[bytes | None]) -> int | None:
    """The common length of `parts`; None where they differ or one is None."""
    try:
        lengths = set(map(len, parts))  # type: ignore[arg-type]
    except TypeError:
        return None
    return lengths.pop() if len(lengths) == 1 else None


def _between(key_bytes: int | None, value_bytes: int, count: int) -> list[bytes]:
    """The bytes before the key, or without keys before the value, of the first records."""
    table = _tables.get((key_bytes, value_bytes))
    if table is None or len(table) < count:
        # A new list, because another thread may be reading the old one.
        table = _made(key_bytes, value_bytes, min(2 * count, _MOST_RECORDS))
        if len(_tables) >= _KEPT_SIZES:
            _tables.clear()
        _tables[key_bytes, value_bytes] = table
    return table


def _made(key_bytes: int | None, value_bytes: int, count: int) -> list[bytes]:
    if key_bytes is None:
        lengths, more = _NO_KEY + _varint(value_bytes), value_bytes
    else:
        lengths, more = _varint(key_bytes), key_bytes + len(_varint(value_bytes)) + value_bytes
    found = []
    for delta in range(count):
        body = b"\0\0" + _varint(delta) + lengths  # no attributes, the batch's timestamp, the offset delta
        found.append(_NO_HEADERS + _varint(len(body) + more + len(_NO_HEADERS)) + body)
    return found


@lru_cache(maxsize=2 * _MOST_RECORDS)
def _varint(number: int) -> bytes:
    """The zigzag varint of a number that is not negative."""
    left = number << 1
    found = bytearray()
    while left > 0x7F:
        found.append(left & 0x7F | 0x80)
        left >>= 7
    found.append(left)
    return bytes(found)
