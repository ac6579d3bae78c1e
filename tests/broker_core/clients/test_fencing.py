"""A3 (KIP-345): a member that is out of step: one that was replaced ends, one that was left behind comes back."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.clients.group_consumer import GroupConsumer
from broker_core.clients.membership import ConsumerConfig
from broker_core.engine.broker_host import BrokerHost
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import EventKind
from tests.broker_core.clients.virtual_broker import VirtualBroker


@pytest.mark.promise("A3")
def test_a3_of_two_with_one_instance_id_the_newer_stays_and_the_older_one_ends():
    virtual = VirtualBroker(2)
    lost: list[object] = []
    older = virtual.consumer("older", instance_id="desk", session_timeout_ms=10_000, heartbeat_interval_ms=1_000)
    older._on_lost = lost.extend
    virtual.do(older.poll(0))
    newer = virtual.consumer("newer", instance_id="desk")
    virtual.do(newer.poll(0))
    virtual.run(2)  # a heartbeat of the older one finds out
    assert older.assignment == () and not older.joined
    for _ in range(2):
        with pytest.raises(BrokerError, match="close older") as fenced:
            virtual.do(older.poll(0))
        assert fenced.value.code is ErrorCode.FENCED_INSTANCE_ID
    assert lost == [("commits", 0), ("commits", 1)]
    with pytest.raises(BrokerError, match="close older"):
        older.commit()
    with pytest.raises(BrokerError, match="close older"):
        older.commit_offsets({("commits", 0): 0})
    virtual.run(30)
    older.close()
    assert newer.joined and len(newer.assignment) == 2
    assert len(virtual.kinds(EventKind.REBALANCE_COMPLETED)) == 1


def test_a3_who_is_replaced_while_it_waits_in_a_poll_or_a_join_ends_too():
    virtual = VirtualBroker(1)
    older = virtual.consumer("older", instance_id="desk", heartbeat_interval_ms=1_000)
    virtual.do(older.poll(0))
    waiting = virtual.loop.spawn(older.poll(60_000), "poll")
    newer = virtual.consumer("newer", instance_id="desk")
    joining = virtual.loop.spawn(newer.poll(0), "join")
    virtual.run(2)
    assert joining.finished.done and waiting.finished.result() == []
    with pytest.raises(BrokerError) as fenced:
        virtual.do(older.poll(0))
    assert fenced.value.code is ErrorCode.FENCED_INSTANCE_ID


@pytest.mark.parametrize("assignor", ["range", "cooperative-sticky"])
def test_a3_who_was_left_behind_by_a_generation_keeps_its_member_id_and_joins_again(assignor: str):
    virtual = VirtualBroker(4)
    times: dict[str, Any] = {
        "session_timeout_ms": 60_000,
        "rebalance_timeout_ms": 5_000,
        "heartbeat_interval_ms": 1_000,
    }
    one = virtual.consumer("one", instance_id="desk-1", assignor=assignor, **times)
    lost: list[object] = []
    one._on_lost = lost.extend
    virtual.do(one.poll(0))
    one.member.muted = True  # and it does not poll: the group waits for it in vain and goes on
    two = virtual.consumer("two", assignor=assignor, **times)
    joining = virtual.loop.spawn(two.poll(0), "two")
    virtual.run(20)
    assert joining.finished.done
    member_id = one.member.member_id
    virtual.publish(b"a")
    with pytest.raises(BrokerError) as behind:
        one.commit_offsets({("commits", 0): 0})
    assert behind.value.code is ErrorCode.ILLEGAL_GENERATION
    one.member.muted = False
    for _ in range(4):
        for reader in (one, two):
            virtual.loop.spawn(reader.poll(0), "poll")
        virtual.run(3)
    assert len(lost) == 4
    assert one.member.member_id == member_id
    assert sorted(one.assignment + two.assignment) == [("commits", number) for number in range(4)]
    assert len([each for each in virtual.kinds(EventKind.MEMBER_JOINED) if each.client == "one"]) <= 2


def test_a3_a_thread_that_was_replaced_is_told_and_can_close():
    with BrokerHost() as host:
        host.call(lambda now_ns: host.broker.topics.create(now_ns, "commits", 1))
        config = ConsumerConfig(instance_id="desk", heartbeat_interval_ms=20)
        older = GroupConsumer(host, "readers", ["commits"], config)
        while not older.assignment:
            older.poll(0.1)
        newer = GroupConsumer(host, "readers", ["commits"], config)
        while not newer.assignment:
            newer.poll(0.1)
        with pytest.raises(BrokerError) as fenced:
            for _ in older:
                pass
        assert fenced.value.code is ErrorCode.FENCED_INSTANCE_ID
        older.close()
        assert newer.assignment == (("commits", 0),)
