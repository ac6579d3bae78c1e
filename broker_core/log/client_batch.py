"""Record batches of Kafka clients: splitting, checking, and decoding with limits of size and compression ratio."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator

import cramjam
import crc32c
import msgspec

from broker_core.errors import BrokerError, ErrorCode
from broker_core.limits import MAX_MESSAGE_BYTES
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
)
from broker_core.messages import Message

MAX_RECORDS = 100_000  # of one batch: ten times librdkafka's default
MAX_UNPACKED_BYTES = 64 * MAX_MESSAGE_BYTES
MAX_RATIO = 1_000  # of compression: that of a repeated letter
_CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
_XERIAL = b"\x82SNAPPY\x00"
_XERIAL_HEADER_BYTES = 16


class ClientBatch(msgspec.Struct, frozen=True, gc=False):
    """A complete batch of format v2 with a valid checksum and consistent counts."""

    data: bytes
    count: int
    timestamp_ms: int
    stamp: ProducerStamp | None
    codec: str

    @property
    def records_bytes(self) -> int:
        """The size of the records as sent."""
        return len(self.data) - HEADER_BYTES

    def placed(self, base_offset: int) -> bytearray:
        """The batch for `base_offset`, otherwise unchanged."""
        stored = bytearray(self.data)
        PLACE.pack_into(stored, 0, base_offset, len(stored) - LENGTH_FIELD_END, 0)
        return stored

    def messages(self) -> list[Message]:
        """The decoded messages. Raises CORRUPT_MESSAGE, MESSAGE_TOO_LARGE."""
        try:
            return [Message(each.value, each.key, each.headers) for each in decode_batch(self._plain(), "", 0, 0)]
        except BrokerError as error:
            if error.code is not ErrorCode.DAMAGED:
                raise
            raise BrokerError(ErrorCode.CORRUPT_MESSAGE, "a record of the batch does not parse") from error

    def _plain(self) -> bytes:
        """The batch without compression and without a valid checksum."""
        if self.codec == "none":
            return self.data
        header = bytearray(self.data[:HEADER_BYTES])
        records = unpacked(self.codec, memoryview(self.data)[HEADER_BYTES:])
        (attributes,) = struct.unpack_from(">h", header, CRC_START)
        struct.pack_into(">h", header, CRC_START, attributes & ~CODEC_BITS)
        PLACE.pack_into(header, 0, 0, HEADER_BYTES + len(records) - LENGTH_FIELD_END, 0)
        return bytes(header) + records


def client_batches(records: bytes) -> Iterator[ClientBatch]:
    """The batches of a produce request for one partition, in order.

    Raises CORRUPT_MESSAGE for incomplete, corrupt or inconsistent batches; MESSAGE_TOO_LARGE for compressed records
    above the limits; UNSUPPORTED_FOR_MESSAGE_FORMAT for formats before v2; INVALID_RECORD for control batches, which
    only the broker writes.
    """
    position = 0
    if not records:
        raise BrokerError(ErrorCode.CORRUPT_MESSAGE, "a request to produce has no batch")
    while position < len(records):
        batch = _checked(records, position)
        position += len(batch.data)
        yield batch


def _checked(records: bytes, position: int) -> ClientBatch:
    if len(records) - position < HEADER_BYTES:
        raise BrokerError(ErrorCode.CORRUPT_MESSAGE, "a batch ends inside its header")
    fields = HEADER.unpack_from(records, position)
    (_, length, _, magic, checksum, attributes, last_delta, first_ms, _, producer_id, epoch, sequence, count) = fields
    if magic != MAGIC:
        raise BrokerError(
            ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT, f"a batch has format {magic}; only format {MAGIC} is taken"
        )
    end = position + LENGTH_FIELD_END + length
    if length < HEADER_BYTES - LENGTH_FIELD_END or end > len(records):
        raise BrokerError(ErrorCode.CORRUPT_MESSAGE, f"a batch announces {length} bytes, which do not follow")
    data = records[position:end]
    if crc32c.crc32c(memoryview(data)[CRC_START:]) != checksum:
        raise BrokerError(ErrorCode.CORRUPT_MESSAGE, "the checksum of a batch does not hold")
    if not 0 < count <= MAX_RECORDS or last_delta != count - 1:
        raise BrokerError(ErrorCode.CORRUPT_MESSAGE, f"a batch counts {count} records up to number {last_delta}")
    if attributes & CONTROL_BIT:
        raise BrokerError(ErrorCode.INVALID_RECORD, "a control batch, which no client may send")
    transactional = bool(attributes & TRANSACTIONAL_BIT)
    if transactional and producer_id == NO_PRODUCER_ID:
        raise BrokerError(ErrorCode.INVALID_RECORD, "a batch belongs to a transaction, but to no producer")
    if attributes & LOG_APPEND_TIME_BIT:
        raise BrokerError(ErrorCode.CORRUPT_MESSAGE, "a batch has the broker's time, which no client sets")
    packed_by = attributes & CODEC_BITS
    if packed_by >= len(_CODECS):
        raise BrokerError(ErrorCode.CORRUPT_MESSAGE, f"a batch is compressed by {packed_by}, which is no codec")
    stamp = None if producer_id == NO_PRODUCER_ID else ProducerStamp(producer_id, epoch, sequence, transactional)
    batch = ClientBatch(data, count, first_ms, stamp, _CODECS[packed_by])
    if batch.codec != "none" and len(batch.messages()) != count:
        raise BrokerError(ErrorCode.CORRUPT_MESSAGE, f"a batch does not hold the {count} records that it counts")
    return batch


def unpacked(codec: str, packed: memoryview) -> bytes:
    """Decompress records. Raises MESSAGE_TOO_LARGE above the limits, before allocating that much; CORRUPT_MESSAGE."""
    limit = min(MAX_UNPACKED_BYTES, max(len(packed) * MAX_RATIO, MAX_MESSAGE_BYTES))
    try:
        return _UNPACK[codec](bytes(packed), limit)
    except (zlib.error, cramjam.DecompressionError, struct.error) as error:
        if "whole buffer" in str(error):
            raise _too_large(limit) from error
        raise BrokerError(ErrorCode.CORRUPT_MESSAGE, f"records do not decompress by {codec} ({error})") from error


def _too_large(limit: int) -> BrokerError:
    return BrokerError(ErrorCode.MESSAGE_TOO_LARGE, f"a batch unpacks to more than {limit} bytes")


def _gzip(packed: bytes, limit: int) -> bytes:
    inflater = zlib.decompressobj(31)
    found = inflater.decompress(packed, limit)
    if inflater.unconsumed_tail:
        raise _too_large(limit)
    if not inflater.eof:
        raise BrokerError(ErrorCode.CORRUPT_MESSAGE, "records end inside their compression")
    return found


def _snappy(packed: bytes, limit: int) -> bytes:
    if not packed.startswith(_XERIAL):
        return _snappy_block(packed, limit)
    found = bytearray()
    position = _XERIAL_HEADER_BYTES
    while position < len(packed):
        (size,) = struct.unpack_from(">i", packed, position)
        position += 4
        if size <= 0 or position + size > len(packed):
            raise BrokerError(ErrorCode.CORRUPT_MESSAGE, "a block of snappy is not whole")
        found += _snappy_block(packed[position : position + size], limit - len(found))
        position += size
    return bytes(found)


def _snappy_block(packed: bytes, limit: int) -> bytes:
    if cramjam.snappy.decompress_raw_len(packed) > limit:
        raise _too_large(limit)
    return bytes(cramjam.snappy.decompress_raw(packed))


def _bounded(decompress_into: Callable[[bytes, bytearray], int]) -> Callable[[bytes, int], bytes]:
    """Decompress into buffers that grow up to the limit, so that a small decompression bomb costs little."""

    def unpack(packed: bytes, limit: int) -> bytes:
        size = min(limit, max(4 * len(packed), 65_536))
        while True:
            buffer = bytearray(size)
            try:
                return bytes(buffer[: decompress_into(packed, buffer)])
            except cramjam.DecompressionError as error:
                if "whole buffer" not in str(error) or size == limit:
                    raise
                size = min(limit, 4 * size)

    return unpack


_UNPACK: dict[str, Callable[[bytes, int], bytes]] = {
    "gzip": _gzip,
    "snappy": _snappy,
    "lz4": _bounded(cramjam.lz4.decompress_into),
    "zstd": _bounded(cramjam.zstd.decompress_into),
}
