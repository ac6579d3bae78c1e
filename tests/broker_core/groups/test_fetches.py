"""What a group was handed, counted: the first handing over of an offset is attempt 1, any later one a redelivery."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.events import EventKind
from broker_core.groups import fetches
from broker_core.messages import Message
from tests.broker_core.clients.virtual_broker import VirtualBroker

END = 12


@given(reads=st.lists(st.tuples(st.integers(0, END), st.integers(1, END)), min_size=1, max_size=8))
def test_a_redelivery_is_whatever_the_group_was_handed_before_and_is_counted_as_such(reads: list[tuple[int, int]]):
    """`reads` are fetches from an offset on, of so many messages, as after seeks, crashes and rebalances."""
    virtual = VirtualBroker(1)
    reply = virtual.broker.publishing.publish_batch(
        0, "commits", 0, [Message(b"%d" % n) for n in range(END)], client="test"
    )
    assert reply.done
    known_end = delivered = redelivered = 0
    attempts: list[tuple[int, bool]] = []
    for offset, count in reads:
        end = min(offset + count, END)
        delivered += end - offset
        redelivered += max(0, min(end, known_end) - offset)
        attempts += [(at, at < known_end) for at in range(offset, end)]
        known_end = max(known_end, end if end > offset else 0)
        found = virtual.broker.fetches.fetch(
            0, "g", "c", {("commits", 0): offset}, max_messages=count, deadline_ns=0
        ).result()
        assert [message.offset for message in found] == list(range(offset, end))
    totals = virtual.broker.views.totals()
    assert (totals.delivered, totals.redelivered) == (delivered, redelivered)
    told = [
        (offset, event.attempt != 1)
        for event in virtual.kinds(EventKind.DELIVERED)
        for offset in range(event.offset or 0, (event.offset or 0) + event.count)
    ]
    assert told == attempts


def test_each_group_counts_for_itself_and_what_a_dead_member_had_is_redelivered():
    virtual = VirtualBroker(1)
    virtual.publish(b"a", b"b", b"c")
    first = virtual.consumer("one")
    virtual.do(first.poll(max_messages=2))
    first.abandon()
    virtual.do(virtual.consumer("other", "others").poll())
    virtual.run(20)
    virtual.do(virtual.consumer("two").poll())
    assert (virtual.broker.views.totals().delivered, virtual.broker.views.totals().redelivered) == (2 + 3 + 3, 2)


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


def test_what_an_owner_holds_is_what_it_was_handed_and_has_not_committed():
    virtual = VirtualBroker(1)
    reply = virtual.broker.publishing.publish_batch(
        0, "commits", 0, [Message(b"%d" % n) for n in range(END)], client="test"
    )
    assert reply.done
    handed = virtual.broker.fetches

    def read(client: str, offset: int, count: int) -> None:
        virtual.broker.fetches.fetch(
            0, "g", client, {("commits", 0): offset}, max_messages=count, deadline_ns=0
        ).result()

    assert handed.held("g", "commits", 0, "a", None) == (0, None)
    read("a", 5, 3)  # one that begins in the middle does not hold what lies before
    assert handed.held("g", "commits", 0, "a", None) == (3, 5)
    assert handed.held("g", "commits", 0, "a", 7) == (1, 7)
    read("a", 5, 1)  # again, after a seek: it still has the others
    assert handed.held("g", "commits", 0, "a", None) == (3, 5)
    read("b", 6, 4)  # another owner has only what it was handed itself
    assert (handed.held("g", "commits", 0, "a", None), handed.held("g", "commits", 0, "b", None)) == ((0, None), (4, 6))
    handed.assigned("g", "commits", 0)
    assert handed.held("g", "commits", 0, "b", None) == (0, None)
