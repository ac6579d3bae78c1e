"""A fast encoder for messages without headers with one length of key and one of value: most bytes are made before."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from broker_core.limits import MAX_BATCH_RECORDS
from broker_core.messages import Message
from broker_core.varint import varint

LEAST_RECORDS = 8  # below, the general codec is as fast
_KEPT_SIZES = 16  # number of cached tables, 60 kB each at most

HEADER_COUNT_0 = b"\0"
_NO_KEY = b"\x01"  # its length, -1
_tables: dict[tuple[int | None, int], list[bytes]] = {}  # by the bytes of a key and of a value


def records_alike(messages: Sequence[Message]) -> tuple[list[bytes], int] | None:
    """(pieces of the records, bytes of keys and values); None if the messages are not uniform."""
    count = len(messages)
    if not LEAST_RECORDS <= count <= MAX_BATCH_RECORDS:
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
        pieces[2::width] = [_zigzag(value_bytes)] * count
    pieces[width - 1 :: width] = values
    # A piece ends the record before it: the first piece needs no end, and the last record needs one.
    pieces[0] = between[0][len(HEADER_COUNT_0) :]
    pieces.append(HEADER_COUNT_0)
    return pieces, count * (value_bytes + (key_bytes or 0))  # type: ignore[return-value]


def _length_of_each(parts: list[bytes | None]) -> int | None:
    """The common length of `parts`; None if they differ or one is None."""
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
        table = _made(key_bytes, value_bytes, min(2 * count, MAX_BATCH_RECORDS))
        if len(_tables) >= _KEPT_SIZES:
            _tables.clear()
        _tables[key_bytes, value_bytes] = table
    return table


def _made(key_bytes: int | None, value_bytes: int, count: int) -> list[bytes]:
    if key_bytes is None:
        lengths, more = _NO_KEY + _zigzag(value_bytes), value_bytes
    else:
        lengths, more = _zigzag(key_bytes), key_bytes + len(_zigzag(value_bytes)) + value_bytes
    found = []
    for delta in range(count):
        body = b"\0\0" + _zigzag(delta) + lengths  # no attributes, the batch's timestamp, the offset delta
        found.append(HEADER_COUNT_0 + _zigzag(len(body) + more + len(HEADER_COUNT_0)) + body)
    return found


@lru_cache(maxsize=2 * MAX_BATCH_RECORDS)
def _zigzag(number: int) -> bytes:
    """The zigzag varint of a number that is not negative."""
    return varint(number << 1)
