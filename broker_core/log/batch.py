"""Kafka's record batch, format v2 (KIP-98).

Only this file uses aiokafka's compiled record codec, whose import path is not public. Uniform messages are encoded by
`alike_records`. The header is

    base offset i64 | length i32 | leader epoch i32 | magic i8 | crc u32 | attributes i16 | last offset delta i32 |
    first timestamp i64 | max timestamp i64 | producer id i64 | producer epoch i16 | base sequence i32 | records i32

in network byte order, 61 bytes. The CRC-32C covers everything from the attributes (byte 21) on, so the base offset
and the leader epoch can be set without computing it again.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from functools import cache
from types import ModuleType
from typing import NamedTuple, cast

import crc32c
import msgspec

from broker_core.errors import BrokerError, ErrorCode
from broker_core.limits import MAX_BATCH_RECORDS, MAX_HEADERS
from broker_core.log.alike_records import HEADER_COUNT_0, records_alike
from broker_core.log.compression import CODECS, packed, unpacked
from broker_core.log.reserved_headers import reserved_headers, users_headers
from broker_core.messages import Message, StoredMessage

HEADER_BYTES = 61
LENGTH_FIELD_END = 12  # the length counts the bytes from here on
MAX_BATCH_BYTES = 4 * 1_048_576  # reading one message decodes at most this much, except for a single message
NO_PRODUCER_ID = -1
SEQUENCES = 1 << 31  # sequence numbers wrap around to 0
CODEC_BITS, LOG_APPEND_TIME_BIT, TRANSACTIONAL_BIT, CONTROL_BIT = 0x07, 0x08, 0x10, 0x20  # of the attributes
LEAST_RECORD_BYTES = 7  # length, attributes, two deltas, null key, null value, no headers

MAGIC = 2
_LEADER_EPOCH = 0
MARK = struct.pack(">ib", _LEADER_EPOCH, MAGIC)  # constant bytes of every header, for finding one
MARK_AT = 12
CRC_START = 21
_LOW_ATTRIBUTES = CRC_START + 1  # the byte with all used bits
_PREFIX = struct.Struct(">qiibI")  # the fields that the CRC does not cover, and the CRC
HEADER = struct.Struct(">qiibIhiqqqhii")
PLACE = struct.Struct(">qii")  # base offset, length, leader epoch
_CRC, _CRC_AT = struct.Struct(">I"), 17
_TIMESTAMP, _MAX_TIMESTAMP_AT = struct.Struct(">q"), 35
_SIZE_LIMIT = (1 << 31) - 1
_NO_HEADERS: list[tuple[str, bytes | None]] = []


@cache
def _codec() -> ModuleType:
    """aiokafka's codec of records, which comes with all of its clients: loaded by what first has records."""
    from aiokafka.record import default_records

    return cast(ModuleType, default_records)


class ProducerStamp(NamedTuple):
    """The producer of a batch, for idempotence (KIP-98). `sequence` is that of the first message, per partition from 0.

    A `transactional` batch belongs to the producer's open transaction.
    """

    producer_id: int
    epoch: int
    sequence: int
    transactional: bool = False


_NOBODY = ProducerStamp(NO_PRODUCER_ID, -1, -1)


class BatchHeader(msgspec.Struct, frozen=True, gc=False):
    """The header of a stored batch. `size_bytes` is the size of the batch, `timestamp_ms` the time of its first record,
    which is that of the broker with LogAppendTime.

    After compaction there may be fewer records than `end_offset` - `base_offset`.
    """

    base_offset: int
    size_bytes: int
    count: int
    last_offset_delta: int
    timestamp_ms: int
    max_timestamp_ms: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    attributes: int = 0

    @property
    def end_offset(self) -> int:
        return self.base_offset + self.last_offset_delta + 1

    @property
    def is_control(self) -> bool:
        return bool(self.attributes & CONTROL_BIT)

    @property
    def is_transactional(self) -> bool:
        return bool(self.attributes & TRANSACTIONAL_BIT)

    @property
    def stamp(self) -> ProducerStamp | None:
        if self.producer_id == NO_PRODUCER_ID:
            return None
        return ProducerStamp(self.producer_id, self.producer_epoch, self.base_sequence, self.is_transactional)


def encode_batch(
    base_offset: int, timestamp_ms: int, messages: Sequence[Message], producer: ProducerStamp | None = None
) -> tuple[bytearray, int]:
    """(batch of the messages at consecutive offsets, bytes of their keys and values)."""
    stamp = producer or _NOBODY
    alike = records_alike(messages)
    if alike is not None:
        return framed(base_offset, timestamp_ms, alike[0], len(messages), stamp), alike[1]
    builder = _codec().DefaultRecordBatchBuilder(
        MAGIC, 0, stamp.transactional, stamp.producer_id, stamp.epoch, stamp.sequence, _SIZE_LIMIT
    )
    append = builder.append
    payload_bytes = 0
    for delta, message in enumerate(messages):
        key = message.key
        value = message.value
        if message.headers or message.ttl_ms is not None or message.priority:
            if len(message.headers) > MAX_HEADERS and users_headers(message.headers) > MAX_HEADERS:
                raise BrokerError(
                    ErrorCode.MESSAGE_TOO_LARGE, f"{len(message.headers)} headers; a message has at most {MAX_HEADERS}"
                )
            append(delta, timestamp_ms, key, value, [*message.headers, *reserved_headers(message)])
        else:
            append(delta, timestamp_ms, key, value, _NO_HEADERS)
        if value is not None:
            payload_bytes += len(value)
        if key is not None:
            payload_bytes += len(key)
    data: bytearray = builder.build()
    PLACE.pack_into(data, 0, base_offset, len(data) - LENGTH_FIELD_END, _LEADER_EPOCH)
    return data, payload_bytes


def framed(
    base_offset: int, timestamp_ms: int, records: Sequence[bytes], count: int, stamp: ProducerStamp, attributes: int = 0
) -> bytearray:
    """The header and the records, given in pieces, of a batch of `count` records."""
    if stamp.transactional:
        attributes |= TRANSACTIONAL_BIT
    data = bytearray().join([bytes(HEADER_BYTES), *records])
    length = len(data) - LENGTH_FIELD_END
    fields = (attributes, count - 1, timestamp_ms, timestamp_ms, *stamp[:3], count)
    HEADER.pack_into(data, 0, base_offset, length, _LEADER_EPOCH, MAGIC, 0, *fields)
    with memoryview(data) as view:
        checksum = crc32c.crc32c(view[CRC_START:])
    _PREFIX.pack_into(data, 0, base_offset, length, _LEADER_EPOCH, MAGIC, checksum)
    return data


def set_log_append_time(batch: bytearray, timestamp_ms: int) -> None:
    """Give the records of `batch` the broker's time, in place: the type, the greatest timestamp and the CRC.

    The records keep the times that they were made with; readers ignore those (KIP-32).
    """
    batch[_LOW_ATTRIBUTES] |= LOG_APPEND_TIME_BIT
    _TIMESTAMP.pack_into(batch, _MAX_TIMESTAMP_AT, timestamp_ms)
    _seal(batch)


def recompressed(batch: bytes | bytearray | memoryview, codec: str, level: int | None = None) -> bytearray:
    """The same batch with its records compressed by `codec`. Raises as `unpacked`."""
    with memoryview(batch) as view:
        made = bytearray(view[:HEADER_BYTES])
        records = unpacked(CODECS[batch[_LOW_ATTRIBUTES] & CODEC_BITS], view[HEADER_BYTES:])
    made += packed(codec, records, level)
    made[_LOW_ATTRIBUTES] = made[_LOW_ATTRIBUTES] & ~CODEC_BITS | CODECS.index(codec)
    PLACE.pack_into(made, 0, PLACE.unpack_from(made)[0], len(made) - LENGTH_FIELD_END, _LEADER_EPOCH)
    _seal(made)
    return made


def _seal(batch: bytearray) -> None:
    with memoryview(batch) as view:
        _CRC.pack_into(batch, _CRC_AT, crc32c.crc32c(view[CRC_START:]))


def encode_batches(
    base_offset: int, timestamp_ms: int, messages: Sequence[Message], first: int, last: int
) -> Iterator[tuple[bytearray, int, int]]:
    """Messages `first` to `last` - 1 as (batch, count, bytes of keys and values); message 0 has `base_offset`."""
    while last - first > MAX_BATCH_RECORDS:
        yield from encode_batches(base_offset, timestamp_ms, messages, first, first + MAX_BATCH_RECORDS)
        first += MAX_BATCH_RECORDS
    data, payload_bytes = encode_batch(base_offset + first, timestamp_ms, messages[first:last])
    if len(data) <= MAX_BATCH_BYTES or last - first == 1:
        yield data, last - first, payload_bytes
    else:
        half = (first + last) // 2
        yield from encode_batches(base_offset, timestamp_ms, messages, first, half)
        yield from encode_batches(base_offset, timestamp_ms, messages, half, last)


def encode_copies(copies: Sequence[StoredMessage], producer: ProducerStamp | None = None) -> bytearray:
    """A producer's batch of messages with headers and times of their own."""
    stamp = producer or _NOBODY
    builder = _codec().DefaultRecordBatchBuilder(
        MAGIC, 0, stamp.transactional, stamp.producer_id, stamp.epoch, stamp.sequence, _SIZE_LIMIT
    )
    for delta, copy in enumerate(copies):
        builder.append(delta, copy.timestamp_ms, copy.key, copy.value, list(copy.headers))
    data: bytearray = builder.build()
    return data


def encode_kept(kept: Sequence[StoredMessage], batch: bytes | memoryview) -> bytearray:
    """The intact `batch` with only the `kept` messages, at their offsets."""
    base_offset = kept[0].offset
    (first_offset, _, _, _, _, attributes, _, _, max_ms, producer_id, producer_epoch, sequence, _) = HEADER.unpack_from(
        batch
    )
    if producer_id != NO_PRODUCER_ID:
        sequence = (sequence + base_offset - first_offset) % SEQUENCES
    transactional = bool(attributes & TRANSACTIONAL_BIT)
    builder = _codec().DefaultRecordBatchBuilder(
        MAGIC, 0, transactional, producer_id, producer_epoch, sequence, _SIZE_LIMIT
    )
    for message in kept:
        delta = message.offset - base_offset
        builder.append(delta, message.timestamp_ms, message.key, message.value, list(message.headers))
    data: bytearray = builder.build()
    PLACE.pack_into(data, 0, base_offset, len(data) - LENGTH_FIELD_END, _LEADER_EPOCH)
    if attributes & CODEC_BITS:
        data = recompressed(data, CODECS[attributes & CODEC_BITS])
    if attributes & LOG_APPEND_TIME_BIT:
        set_log_append_time(data, max_ms)
    return data


def parse_header(data: bytes | memoryview) -> BatchHeader | None:
    """The header at the beginning, or None if there is no plausible one. The checksum is not verified."""
    if len(data) < HEADER_BYTES:
        return None
    (
        base,
        length,
        epoch,
        magic,
        _,
        attributes,
        last_delta,
        first_ms,
        max_ms,
        producer_id,
        producer_epoch,
        sequence,
        count,
    ) = HEADER.unpack_from(data)
    size_bytes = length + LENGTH_FIELD_END
    if magic != MAGIC or epoch != _LEADER_EPOCH or base < 0 or size_bytes < HEADER_BYTES:
        return None
    if count < 1 or last_delta < count - 1:
        return None
    if attributes & LOG_APPEND_TIME_BIT:
        first_ms = max_ms
    return BatchHeader(
        base, size_bytes, count, last_delta, first_ms, max_ms, producer_id, producer_epoch, sequence, attributes
    )


def place_bytes(base_offset: int, size_bytes: int) -> bytes:
    """The first 12 bytes of a batch, which its CRC does not cover: base offset and length."""
    return PLACE.pack(base_offset, size_bytes - LENGTH_FIELD_END, _LEADER_EPOCH)[:LENGTH_FIELD_END]


def places_checksum(batches: bytes) -> int:
    """The CRC-32C of the `place_bytes` of consecutive batches."""
    checksum = 0
    position = 0
    while position + HEADER_BYTES <= len(batches):
        base_offset, length, _ = PLACE.unpack_from(batches, position)
        size_bytes = length + LENGTH_FIELD_END
        if size_bytes < HEADER_BYTES:
            break
        checksum = crc32c.crc32c(place_bytes(base_offset, size_bytes), checksum)
        position += size_bytes
    return checksum


def is_intact(batch: bytes | bytearray | memoryview, base_offset: int) -> bool:
    """Whether `batch` is exactly one complete batch at `base_offset` with a matching checksum."""
    if len(batch) < HEADER_BYTES:
        return False
    base, length, epoch, magic, checksum = _PREFIX.unpack_from(batch)
    if base != base_offset or length + LENGTH_FIELD_END != len(batch) or magic != MAGIC or epoch != _LEADER_EPOCH:
        return False
    return bool(crc32c.crc32c(memoryview(batch)[CRC_START:]) == checksum)


def decode_batch(batch: bytes | memoryview, topic: str, partition: int, published_ns: int) -> Iterator[StoredMessage]:
    """The messages of an intact batch, decoded lazily; none of a control batch. Raises DAMAGED."""
    if batch[_LOW_ATTRIBUTES] & CONTROL_BIT:
        return
    try:
        for record in _codec().DefaultRecordBatch(cast(bytes, batch)):
            headers = record.headers
            yield StoredMessage(
                topic,
                partition,
                record.offset,
                record.timestamp,
                published_ns,
                record.key,
                record.value,
                tuple(headers) if headers else (),
            )
    except (_codec().CorruptRecordException, UnicodeDecodeError) as error:
        raise BrokerError(ErrorCode.DAMAGED, f"a record in {topic}-{partition} does not parse ({error})") from error


_KEY, _VALUE = struct.Struct(">hh"), struct.Struct(">hi")
_ABORT, _COMMIT = 0, 1
# The lengths are zigzag varints: a record of 16 bytes without attributes and deltas, a key of 4 and a value of 6.
_BEFORE_KEY, _BEFORE_VALUE = b"\x20\0\0\0\x08", b"\x0c"
_TYPE_AT = HEADER_BYTES + len(_BEFORE_KEY) + 2


def encode_marker(base_offset: int, timestamp_ms: int, producer_id: int, epoch: int, *, commits: bool) -> bytearray:
    """The control batch that ends a transaction in a partition (KIP-98). Only the broker writes it.

    It takes an offset and holds one record: its key is (version i16, 0 for abort or 1 for commit i16), its value
    (version i16, coordinator epoch i32).
    """
    key, value = _KEY.pack(0, _COMMIT if commits else _ABORT), _VALUE.pack(0, 0)
    record = (_BEFORE_KEY, key, _BEFORE_VALUE, value, HEADER_COUNT_0)
    return framed(base_offset, timestamp_ms, record, 1, ProducerStamp(producer_id, epoch, -1, True), CONTROL_BIT)


def commits(marker: bytes | memoryview) -> bool:
    return len(marker) > _TYPE_AT + 1 and bool(marker[_TYPE_AT + 1] == _COMMIT)
