"""Records encoded all at once are, byte for byte, those of the compiled codec."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.limits import MAX_BATCH_RECORDS
from broker_core.log import batch
from broker_core.log.alike_records import LEAST_RECORDS, records_alike
from broker_core.log.batch import ProducerStamp, decode_batch, encode_batch, is_intact
from broker_core.messages import Message

# Lengths around those where a number needs one more byte.
LENGTHS = st.sampled_from([0, 1, 63, 64, 100, 127, 8_191, 8_192]) | st.integers(0, 300)


def by_the_codec(monkeypatch: pytest.MonkeyPatch, *batch_of: object) -> tuple[bytearray, int]:
    with monkeypatch.context() as patched:
        patched.setattr(batch, "records_alike", lambda _messages: None)
        return encode_batch(*batch_of)  # type: ignore[arg-type]


@given(
    count=st.sampled_from([LEAST_RECORDS, 63, 64, 65, 999, MAX_BATCH_RECORDS]),
    key_bytes=st.none() | LENGTHS,
    value_bytes=LENGTHS,
    base_offset=st.integers(0, 1 << 60),
    timestamp_ms=st.integers(0, 1 << 42),
    stamp=st.none() | st.builds(ProducerStamp, st.integers(0, 1 << 60), st.integers(0, 99), st.integers(0, 1 << 30)),
)
def test_messages_of_one_size_give_the_bytes_of_the_codec(
    count, key_bytes, value_bytes, base_offset, timestamp_ms, stamp
):
    messages = [
        Message(bytes([n % 256]) * value_bytes, None if key_bytes is None else bytes([n % 251]) * key_bytes)
        for n in range(count)
    ]
    assert records_alike(messages) is not None
    made = encode_batch(base_offset, timestamp_ms, messages, stamp)
    with pytest.MonkeyPatch.context() as patch:
        assert made == by_the_codec(patch, base_offset, timestamp_ms, messages, stamp)
    assert is_intact(made[0], base_offset)
    stored = list(decode_batch(bytes(made[0]), "t", 0, 0))
    assert [(one.key, one.value) for one in stored] == [(one.key, one.value) for one in messages]


@pytest.mark.parametrize(
    "other",
    [
        Message(b"longer"),
        Message(None),
        Message(b"same", b"key"),
        Message(b"same", headers=(("h", b"1"),)),
        Message(b"same", ttl_ms=0),
        Message(b"same", priority=1),
    ],
    ids=["size", "no value", "key", "headers", "ttl", "priority"],
)
@pytest.mark.parametrize("place", [0, 20])
def test_one_message_that_differs_leaves_the_batch_to_the_codec(other, place):
    messages = [Message(b"same")] * 20
    messages.insert(place, other)
    assert records_alike(messages) is None
    stored = decode_batch(bytes(encode_batch(0, 0, messages)[0]), "t", 0, 0)
    assert [(one.key, one.value) for one in stored] == [(one.key, one.value) for one in messages]


def test_a_few_messages_and_too_many_are_left_to_the_codec():
    assert records_alike([Message(b"a")] * (LEAST_RECORDS - 1)) is None
    assert records_alike([Message(b"a")] * (MAX_BATCH_RECORDS + 1)) is None
