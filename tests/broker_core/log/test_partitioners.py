"""A1: a key always lands on the same partition; no key spreads the load."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.errors import BrokerError, ErrorCode
from broker_core.log.partitioners import STICKY_MESSAGES, Partitioner, crc32_partition, murmur2_partition
from broker_core.messages import Message


@given(st.binary(max_size=50), st.integers(1, 1_000))
def test_every_key_has_a_partition_and_keeps_it(key, partitions):
    for of_key in (crc32_partition, murmur2_partition):
        assert 0 <= of_key(key, partitions) < partitions
        assert of_key(key, partitions) == of_key(bytes(key), partitions)


@pytest.mark.promise("A1")
def test_crc32_is_the_checksum_of_zip_files():
    # The check value of CRC-32/ISO-HDLC.
    assert crc32_partition(b"123456789", 1 << 32) == 0xCBF43926


@pytest.mark.promise("A1")
@pytest.mark.parametrize(
    ("key", "murmur2"),
    # From the tests of Kafka's own Utils.murmur2.
    [
        (b"21", -973932308),
        (b"foobar", -790332482),
        (b"a-little-bit-long-string", -985981536),
        (b"a-little-bit-longer-string", -1486304829),
        (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
        (b"abc", 479470107),
    ],
)
def test_murmur2_is_that_of_the_java_clients(key, murmur2):
    assert murmur2_partition(key, 1 << 31) == murmur2 & 0x7FFFFFFF


def test_a_keyed_message_does_not_move_the_turn_of_those_without_a_key():
    partitioner = Partitioner(sticky_messages=2)
    chosen = [partitioner.choose(key, 3) for key in (None, b"k", None, b"k", None, None, None)]
    assert [chosen[n] for n in (0, 2, 4, 5, 6)] == [0, 0, 1, 1, 2]
    assert chosen[1] == chosen[3] == crc32_partition(b"k", 3)


@pytest.mark.promise("A1")
@given(st.integers(1, 20), st.integers(1, 30), st.integers(0, 400))
def test_messages_without_a_key_are_spread_evenly_to_within_one_stay(partitions, sticky, count):
    partitioner = Partitioner("murmur2", sticky_messages=sticky)
    counts = Counter(dict.fromkeys(range(partitions), 0))
    counts.update(partitioner.choose(None, partitions) for _ in range(count))
    assert max(counts.values()) - min(counts.values()) <= sticky


def test_an_unknown_kind_is_refused():
    with pytest.raises(BrokerError, match="'md5' must be one of crc32, murmur2") as caught:
        Partitioner("md5")  # type: ignore[arg-type]
    assert caught.value.code is ErrorCode.INVALID_CONFIG
    with pytest.raises(BrokerError, match="sticky_messages 0 must be at least 1"):
        Partitioner(sticky_messages=0)


def number(message: Message) -> int:
    return int(message.value or b"")


@given(st.integers(1, 20), st.integers(0, 400), st.integers(0, 40))
def test_many_messages_without_a_key_go_in_one_run_to_each_partition(partitions, count, before):
    partitioner = Partitioner()
    for _ in range(before):
        partitioner.choose(None, partitions)
    messages = [Message(b"%d" % place) for place in range(count)]
    parts = partitioner.divide(messages, partitions)
    assert sorted((message for part in parts.values() for message in part), key=number) == messages
    assert all(part == sorted(part, key=number) for part in parts.values())
    run = max(16, -(-count // partitions))
    assert sorted(map(len, parts.values()), reverse=True)[:-1] == [run] * (len(parts) - 1)
    following = partitioner.choose(None, partitions)
    assert count == 0 or len(parts) == partitions or following not in parts


@given(st.lists(st.none() | st.binary(max_size=2), max_size=60), st.integers(1, 9))
def test_many_messages_with_keys_go_where_one_by_one_they_would_go(keys, partitions):
    messages = [Message(b"%d" % place, key) for place, key in enumerate(keys)]
    if all(key is None for key in keys):
        messages.append(Message(b"last", b"key"))
    one_by_one = Partitioner()
    wanted: dict[int, list[Message]] = {}
    for message in messages:
        wanted.setdefault(one_by_one.choose(message.key, partitions), []).append(message)
    assert Partitioner().divide(messages, partitions) == wanted


def test_the_first_turn_may_be_another_partition_than_the_first():
    begun = Partitioner(first_turn=2)
    assert [begun.choose(None, 3) for _ in range(STICKY_MESSAGES + 1)] == [2] * STICKY_MESSAGES + [0]
