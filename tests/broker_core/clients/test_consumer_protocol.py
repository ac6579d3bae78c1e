"""Consumers of the process in the consumer group protocol (KIP-848), in virtual time."""

from __future__ import annotations

from broker_core.clients.consumer import Consumer
from broker_core.events import EventKind
from broker_core.groups.states import GroupState
from tests.broker_core.clients.virtual_broker import VirtualBroker


def member(virtual: VirtualBroker, name: str, **config: object) -> Consumer:
    return virtual.consumer(name, "readers", group_protocol="consumer", **config)


def poll_all(virtual: VirtualBroker, *consumers: Consumer, rounds: int = 4) -> None:
    """Let them poll, and hear of what has changed: the heartbeat interval is five seconds."""
    for _ in range(rounds):
        for consumer in consumers:
            virtual.do(consumer.poll(10))
        virtual.run(5)


def test_members_share_the_partitions_and_read_them():
    virtual = VirtualBroker(4)
    first, second = member(virtual, "first"), member(virtual, "second")
    virtual.do(first.poll(10))
    assert len(first.assignment) == 4
    poll_all(virtual, second, first)
    assert (len(first.assignment), len(second.assignment)) == (2, 2)
    assert set(first.assignment).isdisjoint(second.assignment)
    assert virtual.broker.groups.state("readers") is GroupState.STABLE
    assert virtual.broker.groups.type("readers") == "consumer"
    virtual.publish(*(b"%d" % number for number in range(20)))
    found = [*virtual.do(first.poll(10)), *virtual.do(second.poll(10))]
    assert sorted(int(message.value or b"") for message in found) == list(range(20))
    first.commit_handed()
    second.commit_handed()
    committed = [virtual.broker.groups.committed("readers", "commits", number) for number in range(4)]
    assert sum(offset or 0 for offset in committed) == 20


def test_a_member_reads_on_from_what_does_not_move():
    virtual = VirtualBroker(4)
    first, second = member(virtual, "first"), member(virtual, "second")
    virtual.do(first.poll(10))
    poll_all(virtual, second, first)
    revoked = [event for event in virtual.kinds(EventKind.PARTITIONS_REVOKED) if event.client == "first"]
    assert [len((event.detail or {})["partitions"]) for event in revoked] == [2]


def test_who_leaves_gives_its_partitions_to_the_others_and_who_was_put_out_joins_again():
    virtual = VirtualBroker(2)
    first, second = member(virtual, "first"), member(virtual, "second")
    poll_all(virtual, first, second)
    second.close()
    poll_all(virtual, first)
    assert len(first.assignment) == 2
    first.member.muted = True
    virtual.run(60)
    assert virtual.broker.groups.clients("readers") == {}
    first.member.muted = False
    virtual.run(6)
    assert not first.joined
    assert not first.assignment
    virtual.do(first.poll(10))
    assert len(first.assignment) == 2


def test_a_static_member_that_comes_back_is_the_same():
    virtual = VirtualBroker(2)
    first = member(virtual, "first", instance_id="desk")
    virtual.do(first.poll(10))
    first.abandon()
    virtual.run(10)
    again = member(virtual, "first", instance_id="desk")
    virtual.do(again.poll(10))
    assert len(again.assignment) == 2
    assert list(virtual.broker.groups.clients("readers")) == ["desk"]
    again.close()
    assert list(virtual.broker.groups.clients("readers")) == ["desk"]
