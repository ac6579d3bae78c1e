"""Messages on the wire: Kafka's record batches, as in the log. What comes in is checked before anybody uses it."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from broker_core.errors import BrokerError, ErrorCode
from broker_core.log.batch import (
    HEADER_BYTES,
    MAX_BATCH_BYTES,
    MAX_BATCH_RECORDS,
    NO_PRODUCER_ID,
    ProducerStamp,
    decode_batch,
    encode_batch,
    is_intact,
    parse_header,
)
from broker_core.log.reserved_headers import message_of
from broker_core.messages import Message

_ATTRIBUTES = struct.Struct(">h")
_ATTRIBUTES_AT = 21


def encode_messages(messages: Sequence[Message], stamp: ProducerStamp | None) -> bytearray:
    """The record batch of these: base offset 0, Unix time 0 (the log puts in its own), numbered by `stamp`."""
    return encode_batch(0, 0, messages, stamp)[0]


def decode_messages(batch: memoryview | bytes) -> tuple[list[Message], ProducerStamp | None]:
    """The messages of a batch that a client has encoded, and the stamp in its header; times in it are not looked at.

    Raises CORRUPT_MESSAGE where the checksum or the form is wrong, MESSAGE_TOO_LARGE for too many records or bytes,
    INVALID_REQUEST for what is not taken: compression (a small batch could swell), transactions, gaps.
    """
    header = parse_header(batch)
    if header is None or header.base_offset != 0 or header.size_bytes != len(batch) or not is_intact(batch, 0):
        raise BrokerError(ErrorCode.CORRUPT_MESSAGE, f"the {len(batch)} bytes are no whole record batch")
    if _ATTRIBUTES.unpack_from(batch, _ATTRIBUTES_AT)[0]:
        raise BrokerError(ErrorCode.INVALID_REQUEST, "a batch that is compressed or part of a transaction")
    if header.count > MAX_BATCH_RECORDS or (len(batch) > MAX_BATCH_BYTES and header.count > 1):
        about = f"a batch of {header.count} messages and {len(batch)} bytes; send at most "
        about += f"{MAX_BATCH_RECORDS} messages and {MAX_BATCH_BYTES} bytes in one"
        raise BrokerError(ErrorCode.MESSAGE_TOO_LARGE, about)
    if header.last_offset_delta != header.count - 1 or header.count > len(batch) - HEADER_BYTES:
        raise BrokerError(ErrorCode.INVALID_REQUEST, "a batch with gaps")
    try:
        stored = list(decode_batch(batch, "", 0, 0))
    except (BrokerError, ValueError, OverflowError, MemoryError, TypeError) as error:
        raise BrokerError(ErrorCode.CORRUPT_MESSAGE, f"a record of the batch does not parse ({error})") from None
    if [one.offset for one in stored] != list(range(header.count)):
        raise BrokerError(ErrorCode.CORRUPT_MESSAGE, f"{len(stored)} records where {header.count} were announced")
    messages = [message_of(one) if one.headers else Message(one.value, one.key) for one in stored]
    for message in messages:
        if message.headers and any(value is None for _, value in message.headers):
            raise BrokerError(ErrorCode.INVALID_REQUEST, "a header without a value")
    return messages, _stamp(header.producer_id, header.producer_epoch, header.base_sequence)


def _stamp(producer_id: int, epoch: int, sequence: int) -> ProducerStamp | None:
    if producer_id == NO_PRODUCER_ID:
        return None
    if producer_id < 0 or epoch < 0 or sequence < 0:
        raise BrokerError(ErrorCode.INVALID_REQUEST, f"producer {producer_id} sent epoch {epoch}, number {sequence}")
    return ProducerStamp(producer_id, epoch, sequence)
