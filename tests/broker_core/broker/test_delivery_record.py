"""What a group was handed, counted: for the first time, again, or only fetched again."""

from __future__ import annotations

from broker_core.events import EventKind
from broker_core.messages import Message
from tests.broker_core.clients.virtual_broker import VirtualBroker

END = 12


def test_totals_and_events_tell_first_and_again_apart():
    virtual = VirtualBroker(1)
    virtual.publish(b"a", b"b", b"c")
    for member, offset in (("c-1", 0), ("c-1", 1), ("c-2", 0)):
        virtual.broker.fetches.fetch(
            0, "g", "c", {("commits", 0): offset}, max_messages=2, deadline_ns=0, member=member
        ).result()
    totals = virtual.broker.views.totals()
    assert (totals.delivered, totals.redelivered, totals.fetched_again) == (6, 2, 1)
    told = [
        (event.member, event.offset, event.count, event.attempt, event.cause)
        for event in virtual.kinds(EventKind.DELIVERED)
    ]
    assert told == [
        ("c-1", 0, 2, 1, ""),
        ("c-1", 1, 1, None, "fetched again"),
        ("c-1", 2, 1, 1, ""),
        ("c-2", 0, 2, 2, "read beside"),
    ]


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


def test_what_an_owner_holds_is_what_it_was_handed_and_has_not_committed():
    virtual = VirtualBroker(1)
    reply = virtual.broker.publishing.publish_batch(
        0, "commits", 0, [Message(b"%d" % n) for n in range(END)], client="test"
    )
    assert reply.done
    handed = virtual.broker.delivery_record

    def read(member: str, offset: int, count: int) -> None:
        virtual.broker.fetches.fetch(
            0, "g", "client", {("commits", 0): offset}, max_messages=count, deadline_ns=0, member=member
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
