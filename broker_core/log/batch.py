"""Kafka's record batch, format v2 (KIP-98): bytes in, bytes out.

This is the only file that knows aiokafka's compiled record codec, whose import path is not public. The header is

    base offset i64 | length i32 | leader epoch i32 | magic i8 | crc u32 | attributes i16 | last offset delta i32 |
    first timestamp i64 | max timestamp i64 | producer id i64 | producer epoch i16 | base sequence i32 | records i32

in network byte order, 61 bytes. The CRC-32C covers everything from the attributes (byte 21) on, so the base offset
and the leader epoch can be set without computing it again.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple, cast

import crc32c
from aiokafka.errors import CorruptRecordException
from aiokafka.record.default_records import DefaultRecordBatch, DefaultRecordBatchBuilder

from broker_core.errors import BrokerError, ErrorCode
from broker_core.log.reserved_headers import reserved_headers
from broker_core.messages import Message, StoredMessage

HEADER_BYTES = 61
LENGTH_FIELD_END = 12  # the length counts what comes after it
MAX_BATCH_RECORDS = 1_000  # reading one message decodes at most this many
NO_PRODUCER_ID = -1

_MAGIC = 2
_LEADER_EPOCH = 0
_CRC_START = 21
_PREFIX = struct.Struct(">qiibI")  # what the CRC does not cover, and the CRC
_HEADER = struct.Struct(">qiibIhiqqqhii")
_PLACE = struct.Struct(">qii")  # base offset, length, leader epoch
_SIZE_LIMIT = (1 << 31) - 1
_NO_HEADERS: list[tuple[str, bytes | None]] = []


class ProducerStamp(NamedTuple):
    """Who sent a batch, for idempotence (KIP-98). `sequence` numbers its first message, per partition, from 0."""

    producer_id: int
    epoch: int
    sequence: int


class BatchHeader(NamedTuple):
    """The header of a stored batch; `size_bytes` is the whole batch. `timestamp_ms` is that of its first record."""

    base_offset: int
    size_bytes: int
    count: int
    last_offset_delta: int
    timestamp_ms: int
    max_timestamp_ms: int
    producer_id: int
    producer_epoch: int
    base_sequence: int

    @property
    def end_offset(self) -> int:
        """The offset after its last record."""
        return self.base_offset + self.last_offset_delta + 1


def encode_batch(
    base_offset: int, timestamp_ms: int, messages: Sequence[Message], producer: ProducerStamp | None = None
) -> tuple[bytearray, int]:
    """The batch of these messages at consecutive offsets, and the bytes of their keys and values."""
    producer_id, epoch, sequence = producer or (NO_PRODUCER_ID, -1, -1)
    builder = DefaultRecordBatchBuilder(_MAGIC, 0, 0, producer_id, epoch, sequence, _SIZE_LIMIT)
    append = builder.append
    payload_bytes = 0
    for delta, message in enumerate(messages):
        key = message.key
        value = message.value
        if message.headers or message.ttl_ms is not None or message.priority:
            append(delta, timestamp_ms, key, value, [*message.headers, *reserved_headers(message)])
        else:
            append(delta, timestamp_ms, key, value, _NO_HEADERS)
        if value is not None:
            payload_bytes += len(value)
        if key is not None:
            payload_bytes += len(key)
    data = builder.build()
    _PLACE.pack_into(data, 0, base_offset, len(data) - LENGTH_FIELD_END, _LEADER_EPOCH)
    return data, payload_bytes


def parse_header(data: bytes | memoryview, position: int = 0) -> BatchHeader | None:
    """The header at `position`, or None where there is none that makes sense. Does not look at the checksum."""
    if len(data) - position < HEADER_BYTES:
        return None
    (
        base,
        length,
        epoch,
        magic,
        _,
        _,
        last_delta,
        first_ms,
        max_ms,
        producer_id,
        producer_epoch,
        sequence,
        count,
    ) = _HEADER.unpack_from(data, position)
    size_bytes = length + LENGTH_FIELD_END
    if magic != _MAGIC or epoch != _LEADER_EPOCH or base < 0 or size_bytes < HEADER_BYTES:
        return None
    if count < 1 or last_delta != count - 1:
        return None
    return BatchHeader(
        base, size_bytes, count, last_delta, first_ms, max_ms, producer_id, producer_epoch, sequence
    )


def is_intact(batch: bytes | memoryview, base_offset: int) -> bool:
    """True where `batch` is exactly one whole batch that starts at `base_offset` and its checksum holds."""
    if len(batch) < HEADER_BYTES:
        return False
    base, length, epoch, magic, crc = _PREFIX.unpack_from(batch)
    return (
        base == base_offset
        and length + LENGTH_FIELD_END == len(batch)
        and magic == _MAGIC
        and epoch == _LEADER_EPOCH
        and crc == crc32c.crc32c(memoryview(batch)[_CRC_START:])
    )


def decode_batch(
    batch: bytes | memoryview, topic: str, partition: int, published_ns: int
) -> Iterator[StoredMessage]:
    """The messages of an intact batch, each decoded when asked for. Raises DAMAGED where one does not parse."""
    try:
        for record in DefaultRecordBatch(cast(bytes, batch)):
            headers = record.headers
            yield StoredMessage(
                topic,
                partition,
                record.offset,
                record.timestamp,
                published_ns,
                record.key,
                record.value,
                tuple(headers) if headers else (),  # type: ignore[arg-type]
            )
    except CorruptRecordException as error:
        raise BrokerError(
            ErrorCode.DAMAGED, f"a record in {topic}-{partition} does not parse ({error})"
        ) from error
