from __future__ import annotations

import pytest

from broker_core.broker import fetches
from broker_core.messages import Message
from tests.broker_core.clients.virtual_broker import VirtualBroker


def test_a_fetch_gives_no_more_bytes_than_memory_is_meant_for(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(fetches, "MAX_FETCH_BYTES", 3_000)
    monkeypatch.setattr(fetches, "MAX_PARTITION_FETCH_BYTES", 1_000)
    virtual = VirtualBroker(partitions=5)
    for partition in range(5):
        for _ in range(3):
            virtual.broker.publishing.publish_batch(0, "commits", partition, [Message(bytes(400))], client="p")
    places = {("commits", partition): 0 for partition in range(5)}
    found = virtual.broker.fetches.fetch(0, "readers", "c", places, max_messages=100, deadline_ns=0).result()
    # Two of 400 bytes from a partition, while there is room; then one, as the first may have any size.
    assert [each.partition for each in found] == [0, 0, 1, 1, 2, 2, 3, 4]


def test_partitions_take_turns_where_a_fetch_has_no_room_for_all():
    virtual = VirtualBroker(partitions=2)
    for partition in (0, 1):
        for _ in range(4):
            virtual.broker.publishing.publish_batch(0, "commits", partition, [Message(b"m")], client="p")
    positions, seen = {("commits", 0): 0, ("commits", 1): 0}, []
    for _ in range(4):
        for each in virtual.broker.fetches.fetch(0, "g", "c", positions, max_messages=2, deadline_ns=0).result():
            positions[each.topic, each.partition] = each.offset + 1
            seen.append(each.partition)
    assert seen == [0, 0, 1, 1] * 2


def test_a_position_that_deletion_has_overtaken_goes_on_at_the_first_message_that_is_left():
    virtual = VirtualBroker(1)
    virtual.publish(b"a", b"b", b"c")
    virtual.broker.cleaning.delete_records(0, "commits", 0, 2)
    found = virtual.broker.fetches.fetch(0, "g", "c", {("commits", 0): 0}, max_messages=9, deadline_ns=0).result()
    assert [(each.offset, each.value) for each in found] == [(2, b"c")]
