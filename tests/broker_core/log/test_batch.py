"""Record batches v2 as bytes: what other programs would read, and what is refused."""

import struct

import crc32c
import pytest
from aiokafka.record.default_records import _DefaultRecordBatchPy
from hypothesis import given
from hypothesis import strategies as st

from broker_core.errors import BrokerError, ErrorCode
from broker_core.limits import MAX_HEADERS
from broker_core.log.batch import (
    ProducerStamp,
    decode_batch,
    encode_batch,
    encode_kept,
    is_intact,
    parse_header,
    set_log_append_time,
)
from broker_core.log.reserved_headers import expires_ns, message_of
from broker_core.messages import PRIORITY_HEADER, TTL_HEADER, Message

OLD_MS = 1_000_000_000_000
MESSAGES = st.builds(
    Message,
    value=st.none() | st.binary(max_size=200),
    key=st.none() | st.binary(max_size=20),
    headers=st.lists(st.tuples(st.text(max_size=5), st.binary(max_size=9)), max_size=3).map(tuple),
    ttl_ms=st.none() | st.integers(0, 1 << 40),
    priority=st.integers(0, 9),
)


@given(st.lists(MESSAGES, min_size=1, max_size=20), st.integers(0, 1 << 60), st.integers(0, 1 << 42))
def test_what_goes_in_comes_out(messages, base_offset, timestamp_ms):
    data, payload_bytes = encode_batch(base_offset, timestamp_ms, messages)
    stored = list(decode_batch(bytes(data), "t", 3, 77))
    assert [message_of(one) for one in stored] == messages
    assert [one.offset for one in stored] == list(range(base_offset, base_offset + len(messages)))
    assert {(one.topic, one.partition, one.published_ns, one.timestamp_ms) for one in stored} == {
        ("t", 3, 77, timestamp_ms)
    }
    assert payload_bytes == sum(one.size_bytes for one in stored)
    assert is_intact(data, base_offset)
    assert not is_intact(data, base_offset + 1)


@given(st.lists(MESSAGES, min_size=1, max_size=9))
def test_another_implementation_reads_the_same(messages):
    data, _ = encode_batch(40, 1_700_000_000_000, messages)
    other = _DefaultRecordBatchPy(data)
    assert other.validate_crc()
    assert [(one.offset, one.key, one.value) for one in other] == [
        (offset, message.key, message.value) for offset, message in enumerate(messages, 40)
    ]


def test_the_header_has_the_fields_of_kip_98_in_their_places():
    data, _ = encode_batch(7, 1_000, [Message(b"v"), Message(b"w")], ProducerStamp(5, 2, 11))
    fields = struct.unpack_from(">qiibIhiqqqhii", data)
    checksum = crc32c.crc32c(data[21:])
    assert fields == (7, len(data) - 12, 0, 2, checksum, 0, 1, 1_000, 1_000, 5, 2, 11, 2)
    header = parse_header(bytes(data))
    assert header is not None
    assert (header.base_offset, header.end_offset, header.count, header.size_bytes) == (7, 9, 2, len(data))
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (5, 2, 11)


@pytest.mark.promise("A24")
def test_ttl_and_priority_travel_in_reserved_headers():
    message = Message(b"v", headers=(("h", b"1"),), ttl_ms=1_500, priority=3)
    (stored,) = decode_batch(bytes(encode_batch(0, 0, [message])[0]), "t", 0, 2_000_000)
    assert stored.headers == (("h", b"1"), (TTL_HEADER, b"1500"), (PRIORITY_HEADER, b"3"))
    assert (stored.ttl_ms, stored.priority, expires_ns(stored)) == (1_500, 3, 1_502_000_000)
    (plain,) = decode_batch(bytes(encode_batch(0, 0, [Message(b"v")])[0]), "t", 0, 0)
    assert (plain.headers, plain.ttl_ms, plain.priority, expires_ns(plain)) == ((), None, 0, None)


@pytest.mark.parametrize(("ttl", "priority"), [(b"soon", b"-1"), (b"9" * 5_000, b"9" * 20)])
def test_reserved_headers_that_are_no_numbers_mean_nothing(ttl: bytes, priority: bytes):
    message = Message(b"v", headers=((TTL_HEADER, ttl), (PRIORITY_HEADER, priority)))
    (stored,) = decode_batch(bytes(encode_batch(0, 0, [message])[0]), "t", 0, 0)
    assert (stored.ttl_ms, stored.priority) == (None, 0)


def test_too_many_headers_are_refused():
    with pytest.raises(BrokerError) as caught:
        encode_batch(0, 0, [Message(b"v", headers=(("h", b""),) * (MAX_HEADERS + 1))])
    assert caught.value.code is ErrorCode.MESSAGE_TOO_LARGE


@given(st.binary(max_size=200))
def test_arbitrary_bytes_are_never_a_batch_and_never_a_crash(data):
    parse_header(data)
    assert not is_intact(data, 0)


@given(st.binary(min_size=1, max_size=80), st.integers(0, 79))
def test_records_that_do_not_parse_are_damage_even_under_a_good_checksum(junk, at):
    data, _ = encode_batch(0, 0, [Message(b"x" * 80, b"key")] * 2)
    data[61 + at : 61 + at + len(junk)] = junk
    struct.pack_into(">I", data, 17, crc32c.crc32c(data[21:]))
    try:
        list(decode_batch(bytes(data), "t", 0, 0))
    except BrokerError as error:
        assert error.code is ErrorCode.DAMAGED


@given(
    st.lists(MESSAGES, min_size=2, max_size=20),
    st.sets(st.integers(0, 19), min_size=1),
    st.integers(0, 1 << 60),
    st.none() | st.integers(OLD_MS, 1 << 42),
    st.none() | st.builds(ProducerStamp, st.integers(0, 1 << 40), st.integers(0, 99), st.integers(0, 1 << 30)),
)
def test_a_batch_of_which_compaction_keeps_a_part_is_intact(messages, places, base_offset, appended_ms, stamp):
    """The CRC is that of what is kept, with the broker's time, too; offsets and sequence numbers stay."""
    batch, _ = encode_batch(base_offset, OLD_MS, messages, stamp)
    if appended_ms is not None:
        set_log_append_time(batch, appended_ms)
    every = list(decode_batch(bytes(batch), "t", 0, 77))
    kept = [message for place, message in enumerate(every) if place in places] or every[:1]
    data = encode_kept(kept, bytes(batch))
    assert struct.unpack_from(">I", data, 17) == (crc32c.crc32c(data[21:]),)
    assert is_intact(data, kept[0].offset)
    assert _DefaultRecordBatchPy(data).validate_crc()
    assert list(decode_batch(bytes(data), "t", 0, 77)) == kept
    header = parse_header(bytes(data))
    assert header is not None
    shift = kept[0].offset - base_offset
    assert (header.producer_id, header.base_sequence) == ((stamp[0], stamp[2] + shift) if stamp else (-1, -1))
    assert {message.timestamp_ms for message in kept} == {OLD_MS if appended_ms is None else appended_ms}
