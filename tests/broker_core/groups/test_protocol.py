"""The bytes of Kafka's ConsumerProtocol."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.errors import BrokerError, ErrorCode
from broker_core.groups.protocol import (
    Assignment,
    MemberSubscription,
    decode_assignment,
    decode_subscription,
    encode_assignment,
    encode_subscription,
)

names = st.text(min_size=1, max_size=20)
pairs = st.sets(st.tuples(names, st.integers(0, 2**31 - 1)), max_size=20).map(lambda each: tuple(sorted(each)))
subscriptions = st.builds(
    MemberSubscription,
    topics=st.lists(names, max_size=5).map(tuple),
    user_data=st.binary(max_size=20),
    owned=pairs,
    generation=st.integers(-1, 2**31 - 1),
    rack=st.text(max_size=10),
)


@given(subscriptions)
def test_a_subscription_comes_back_as_it_was(subscription):
    assert decode_subscription(encode_subscription(subscription)) == subscription


@given(subscriptions, st.integers(0, 2))
def test_older_versions_leave_out_what_they_have_no_field_for(subscription, version):
    back = decode_subscription(encode_subscription(subscription, version))
    assert (back.topics, back.user_data) == (subscription.topics, subscription.user_data)
    assert back.owned == (subscription.owned if version >= 1 else ())
    assert back.generation == (subscription.generation if version >= 2 else -1)
    assert back.rack == ""


@given(pairs, st.binary(max_size=20))
def test_an_assignment_comes_back_as_it_was(partitions, user_data):
    assert decode_assignment(encode_assignment(partitions, user_data)) == Assignment(partitions, user_data)


def test_the_layout_is_kafkas():
    # version 1, topics ["t"], user data null, owned {"t": [0, 2]}: laid out by hand after the protocol guide
    data = struct.pack(">hih1siih1siii", 1, 1, 1, b"t", -1, 1, 1, b"t", 2, 0, 2)
    assert decode_subscription(data) == MemberSubscription(("t",), owned=(("t", 0), ("t", 2)))
    assert encode_assignment([("t", 2), ("t", 0)]) == struct.pack(">hih1siiii", 0, 1, 1, b"t", 2, 0, 2, 0)
    assert encode_subscription(MemberSubscription(("t",)), 0) == struct.pack(">hih1si", 0, 1, 1, b"t", 0)


def test_newer_versions_are_read_as_far_as_they_are_known():
    subscription = MemberSubscription(("t",), b"u", (("t", 1),), 4, "rack-1")
    newer = struct.pack(">h", 9) + encode_subscription(subscription)[2:] + b"something new"
    assert decode_subscription(newer) == subscription


def test_no_bytes_are_an_empty_assignment():
    assert decode_assignment(b"") == Assignment(())


@given(st.binary(max_size=60))
def test_any_bytes_give_a_result_or_our_error(data):
    for decode in (decode_subscription, decode_assignment):
        try:
            decode(data)
        except BrokerError as error:
            assert error.code is ErrorCode.INVALID_REQUEST


@given(subscriptions, st.data())
def test_truncated_bytes_are_refused(subscription, data):
    whole = encode_subscription(subscription)
    cut = data.draw(st.integers(0, len(whole) - 1))
    with pytest.raises(BrokerError):
        decode_subscription(whole[:cut])


@pytest.mark.parametrize("count", [2**31 - 1, -5, 1_000])
def test_a_length_that_cannot_be_is_refused_before_memory_is_taken(count):
    with pytest.raises(BrokerError, match="announces"):
        decode_subscription(struct.pack(">hi", 3, count) + b"\0\1t")
    with pytest.raises(BrokerError, match="announces"):
        decode_assignment(struct.pack(">hih1si", 0, 1, 1, b"t", count) + bytes(8))


def test_too_many_bytes_and_too_long_a_name_are_refused():
    with pytest.raises(BrokerError, match="1048576 are allowed"):
        decode_subscription(bytes(1_048_577))
    with pytest.raises(BrokerError, match="32,767"):
        encode_subscription(MemberSubscription(("t" * 40_000,)))
