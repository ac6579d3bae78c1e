"""Record batches of Kafka clients: splitting, checking, and decoding with limits of size and compression ratio."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import crc32c
import msgspec

from broker_core.errors import BrokerError, ErrorCode
from broker_core.log.batch import (
    CODEC_BITS,
    CONTROL_BIT,
    CRC_START,
    HEADER,
    HEADER_BYTES,
    LENGTH_FIELD_END,
    LOG_APPEND_TIME_BIT,
    MAGIC,
    NO_PRODUCER_ID,
    PLACE,
    TRANSACTIONAL_BIT,
    ProducerStamp,
    decode_batch,
    recompressed,
)
from broker_core.log.compression import CODECS, MAX_UNPACKED_BYTES, PRODUCER, UNCOMPRESSED
from broker_core.messages import Message

MAX_RECORDS = 100_000  # of one batch: ten times librdkafka's default


class ClientBatch(msgspec.Struct, frozen=True, gc=False):
    """A complete batch of format v2 with a valid checksum and consistent counts."""

    data: bytes | memoryview
    count: int
    timestamp_ms: int  # of the first message, and the latest of all
    max_timestamp_ms: int
    stamp: ProducerStamp | None
    codec: str

    @property
    def records_bytes(self) -> int:
        return len(self.data) - HEADER_BYTES

    def placed(self, base_offset: int, compression_type: str = PRODUCER, level: int | None = None) -> bytearray:
        """The batch for `base_offset`, otherwise unchanged where the producer's compression will do."""
        keeps = compression_type in {PRODUCER, self.codec}
        stored = bytearray(self.data) if keeps else recompressed(self.data, compression_type, level)
        PLACE.pack_into(stored, 0, base_offset, len(stored) - LENGTH_FIELD_END, 0)
        return stored

    def messages(self) -> list[Message]:
        """The decoded messages. Raises CORRUPT_MESSAGE, MESSAGE_TOO_LARGE."""
        plain = self.data if self.codec == UNCOMPRESSED else memoryview(recompressed(self.data, UNCOMPRESSED))
        try:
            return [Message(each.value, each.key, each.headers) for each in decode_batch(plain, "", 0, 0)]
        except BrokerError as error:
            if error.code is not ErrorCode.DAMAGED:
                raise
            raise BrokerError(ErrorCode.CORRUPT_MESSAGE, "a record of the batch does not parse") from error

    def unpacks_beyond(self, most_bytes: int) -> bool:
        """Whether a record is larger than that once the batch is decompressed."""
        if self.codec == UNCOMPRESSED or most_bytes >= MAX_UNPACKED_BYTES:
            return False
        return any(each.size_bytes > most_bytes for each in self.messages())

    def only_key(self) -> bytes | None:
        """The key of a batch of one record; those of larger ones cost too much to be read before somebody asks."""
        if self.count != 1:
            return None
        with contextlib.suppress(BrokerError):  # it is stored as it came all the same
            return self.messages()[0].key
        return None


def producer_of(records: bytes | memoryview) -> ProducerStamp | None:
    """The producer whose transaction the first of a client's batches belongs to, if any; nothing is checked."""
    if len(records) < HEADER_BYTES:
        return None
    # Java writes -1 as leader epoch, librdkafka 0; that and the base offset are the broker's.
    attributes, _, _, _, producer_id, epoch, sequence, _ = HEADER.unpack_from(records)[5:]
    transactional = bool(attributes & TRANSACTIONAL_BIT) and producer_id != NO_PRODUCER_ID
    return ProducerStamp(producer_id, epoch, sequence, True) if transactional else None


def client_batches(records: bytes | memoryview) -> Iterator[ClientBatch]:
    """The batches of a produce request for one partition, in order.

    Raises CORRUPT_MESSAGE for incomplete, corrupt or inconsistent batches; MESSAGE_TOO_LARGE for compressed records
    above the limits; UNSUPPORTED_FOR_MESSAGE_FORMAT for formats before v2; INVALID_RECORD for none, and for control
    batches, which only the broker writes.
    """
    position = 0
    if not records:
        raise BrokerError(ErrorCode.INVALID_RECORD, "a request to produce has no batch")
    while position < len(records):
        batch = _checked(records, position)
        position += len(batch.data)
        yield batch


def _checked(records: bytes | memoryview, position: int) -> ClientBatch:
    if len(records) - position < HEADER_BYTES:
        raise BrokerError(ErrorCode.CORRUPT_MESSAGE, "a batch ends inside its header")
    _, length, _, magic, checksum, attributes, last_delta, first_ms, max_ms, producer_id, epoch, sequence, count = (
        HEADER.unpack_from(records, position)
    )
    if magic != MAGIC:
        about = f"a batch has format {magic}; only format {MAGIC} is supported"
        raise BrokerError(ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT, about)
    end = position + LENGTH_FIELD_END + length
    if length < HEADER_BYTES - LENGTH_FIELD_END or end > len(records):
        raise BrokerError(ErrorCode.CORRUPT_MESSAGE, f"a batch announces {length} bytes, which do not follow")
    data = records[position:end]
    if crc32c.crc32c(memoryview(data)[CRC_START:]) != checksum:
        raise BrokerError(ErrorCode.CORRUPT_MESSAGE, "the checksum of a batch is wrong")
    if not 0 < count <= MAX_RECORDS or last_delta != count - 1:
        raise BrokerError(ErrorCode.CORRUPT_MESSAGE, f"a batch counts {count} records up to number {last_delta}")
    if attributes & CONTROL_BIT:
        raise BrokerError(ErrorCode.INVALID_RECORD, "a control batch, which clients may not send")
    transactional = bool(attributes & TRANSACTIONAL_BIT)
    if transactional and producer_id == NO_PRODUCER_ID:
        raise BrokerError(ErrorCode.INVALID_RECORD, "a batch belongs to a transaction, but to no producer")
    if attributes & LOG_APPEND_TIME_BIT:
        raise BrokerError(
            ErrorCode.CORRUPT_MESSAGE, "a batch has the broker's timestamp type, which clients may not set"
        )
    packed_by = attributes & CODEC_BITS
    if packed_by >= len(CODECS):
        raise BrokerError(ErrorCode.CORRUPT_MESSAGE, f"a batch is compressed with {packed_by}, which is not a codec")
    stamp = None if producer_id == NO_PRODUCER_ID else ProducerStamp(producer_id, epoch, sequence, transactional)
    batch = ClientBatch(data, count, first_ms, max_ms, stamp, CODECS[packed_by])
    if batch.codec != UNCOMPRESSED and len(batch.messages()) != count:
        raise BrokerError(ErrorCode.CORRUPT_MESSAGE, f"a batch does not hold the {count} records that it counts")
    return batch
