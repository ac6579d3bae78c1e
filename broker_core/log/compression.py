"""Kafka's compression of the records of a batch, both ways; unpacking has limits of size and ratio."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable

import cramjam

from broker_core.errors import BrokerError, ErrorCode
from broker_core.limits import MAX_MESSAGE_BYTES

PRODUCER, UNCOMPRESSED = "producer", "uncompressed"  # of compression.type: as the producer sent it, and none
CODECS = (UNCOMPRESSED, "gzip", "snappy", "lz4", "zstd")  # by Kafka's numbers
MAX_UNPACKED_BYTES = 16 * MAX_MESSAGE_BYTES  # unpacked and counted in less than 0.1 s
MAX_RATIO = 100  # of compression, beyond the largest message: text that says something comes to 5 to 20
_GZIP_WINDOW = 31  # the largest, with gzip's header
_XERIAL = b"\x82SNAPPY\x00"
_XERIAL_VERSIONS = struct.pack(">ii", 1, 1)
_XERIAL_HEADER_BYTES = 16
_XERIAL_BLOCK_BYTES = 32_768


def packed(codec: str, records: bytes | memoryview, level: int | None = None) -> bytes:
    """Compress records as Kafka's brokers do; a `level` of None is that of the library."""
    return _PACK[codec](bytes(records), level)


def unpacked(codec: str, packed: bytes | memoryview) -> bytes:
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


def _pack_snappy(records: bytes, _level: int | None) -> bytes:
    """In blocks, as Java's library has them."""
    made = bytearray(_XERIAL + _XERIAL_VERSIONS)
    for start in range(0, len(records), _XERIAL_BLOCK_BYTES):
        block = cramjam.snappy.compress_raw(records[start : start + _XERIAL_BLOCK_BYTES])
        made += struct.pack(">i", len(block)) + bytes(block)
    return bytes(made)


_PACK: dict[str, Callable[[bytes, int | None], bytes]] = {
    UNCOMPRESSED: lambda records, _level: records,
    "gzip": lambda records, level: zlib.compress(records, level=-1 if level is None else level, wbits=_GZIP_WINDOW),
    "snappy": _pack_snappy,
    "lz4": lambda records, level: bytes(cramjam.lz4.compress(records, level)),
    "zstd": lambda records, level: bytes(cramjam.zstd.compress(records, level)),
}


def _unpack_gzip(packed: bytes, limit: int) -> bytes:
    inflater = zlib.decompressobj(_GZIP_WINDOW)
    found = inflater.decompress(packed, limit)
    if inflater.unconsumed_tail:
        raise _too_large(limit)
    if not inflater.eof:
        raise BrokerError(ErrorCode.CORRUPT_MESSAGE, "records end inside their compression")
    return found


def _unpack_snappy(packed: bytes, limit: int) -> bytes:
    if not packed.startswith(_XERIAL):
        return _snappy_block(packed, limit)
    found = bytearray()
    position = _XERIAL_HEADER_BYTES
    while position < len(packed):
        (size,) = struct.unpack_from(">i", packed, position)
        position += 4
        if size <= 0 or position + size > len(packed):
            raise BrokerError(ErrorCode.CORRUPT_MESSAGE, "a snappy block is incomplete")
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
    UNCOMPRESSED: lambda records, _limit: records,
    "gzip": _unpack_gzip,
    "snappy": _unpack_snappy,
    "lz4": _bounded(cramjam.lz4.decompress_into),
    "zstd": _bounded(cramjam.zstd.decompress_into),
}
