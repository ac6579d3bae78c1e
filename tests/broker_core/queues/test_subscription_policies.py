"""A fan-out subscription takes every policy, and priorities; several workers share it."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import EventKind
from broker_core.flow.config import FlowConfig
from broker_core.messages import Message
from broker_core.queues.config import QueueConfig
from broker_core.replies import Reply
from broker_core.settings import LimitPolicy
from broker_core.simulation.scenario import parse_scenario
from broker_core.simulation.simulation import Simulation
from tests.broker_core.clients.virtual_broker import VirtualBroker


def publish(virtual: VirtualBroker, value: str, priority: int = 0, client: str = "shop") -> Reply[Any]:
    return virtual.broker.publishing.publish(
        virtual.now_ns, "commits", Message(value.encode(), None, priority=priority), client=client
    )


def full(policy: LimitPolicy, **config: Any) -> VirtualBroker:
    """A subscription with room for two, in which two wait; another one has no limit."""
    virtual = VirtualBroker(1)
    virtual.broker.queues.subscribe(0, "mails", "commits", QueueConfig(**config), max_messages=2, policy=policy)
    virtual.broker.queues.subscribe(0, "audit", "commits", QueueConfig())
    for value, priority in (("a", 2), ("b", 1)):
        assert publish(virtual, value, priority).done
    return virtual


def waiting(virtual: VirtualBroker, name: str = "mails") -> list[str]:
    return [(message.value or b"").decode() for message in virtual.broker.queues.queue(name).peek(99)]


def take(virtual: VirtualBroker, name: str = "mails") -> None:
    for lease in virtual.broker.queues.take(virtual.now_ns, name, "worker").result():
        virtual.broker.queues.ack(virtual.now_ns, lease)


def gauges(virtual: VirtualBroker) -> Any:
    return virtual.broker.views.queue(virtual.now_ns, "mails").gate


def test_block_holds_up_the_producer_until_there_is_room_and_nobody_gets_it_before():
    virtual = full("block")
    reply = publish(virtual, "c")
    assert not reply.done and waiting(virtual, "audit") == ["a", "b"]
    virtual.run(3)
    assert gauges(virtual).blocked == (("shop", 0),) and gauges(virtual).blocked_ns_total == 3_000_000_000
    assert (
        virtual.broker.views.topic(virtual.now_ns, "commits").gate is None
        and virtual.broker.backpressure.config("commits") is None
    )
    take(virtual)
    assert reply.done and waiting(virtual) == ["b", "c"] and waiting(virtual, "audit") == ["a", "b", "c"]
    assert gauges(virtual).blocked == ()
    assert [event.group for event in virtual.events if event.kind is EventKind.PRODUCER_BLOCKED] == ["mails"]


def test_what_has_waited_long_enough_comes_before_what_is_urgent_and_new():
    virtual = VirtualBroker(1)
    virtual.broker.queues.subscribe(0, "mails", "commits", QueueConfig(priorities=3, ageing_ms=1_000))
    publish(virtual, "old", 2)
    virtual.run(2.5)
    publish(virtual, "urgent")
    taken = [virtual.broker.queues.take(virtual.now_ns, "mails", "worker").result()[0] for _ in range(2)]
    assert [lease.message.value for lease in taken] == [b"old", b"urgent"]


def test_reject_refuses_it_for_all_and_counts_it_where_it_had_no_room():
    virtual = full("reject")
    reply = publish(virtual, "c")
    assert isinstance(reply.error, BrokerError) and reply.error.code is ErrorCode.THROTTLED
    assert waiting(virtual, "audit") == ["a", "b"] and gauges(virtual).rejected == 1
    assert virtual.broker.views.totals().rejected == 1
    take(virtual)
    assert publish(virtual, "d").done and waiting(virtual) == ["b", "d"]


def test_what_is_handed_straight_over_does_not_count():
    virtual = VirtualBroker(1)
    virtual.broker.queues.subscribe(0, "mails", "commits", QueueConfig(), max_messages=1, policy="block")
    virtual.broker.queues.take(0, "mails", "worker", max_messages=2, deadline_ns=1 << 60)
    assert [publish(virtual, value).done for value in "abc"] == [True, True, False]


def test_one_that_refuses_comes_before_one_that_waits_and_a_deleted_one_holds_up_nobody():
    virtual = full("block")
    blocked = publish(virtual, "c")
    virtual.broker.queues.subscribe(
        0, "strict", "commits", QueueConfig(), max_messages=1, policy="reject", from_end=False
    )
    assert isinstance(publish(virtual, "d", client="other").error, BrokerError)
    virtual.broker.queues.delete(virtual.now_ns, "strict")
    assert not blocked.done
    virtual.broker.queues.delete(virtual.now_ns, "mails")
    assert blocked.done and waiting(virtual, "audit") == ["a", "b", "c"]


def test_a_limit_of_the_topic_and_those_of_subscriptions_hold_together():
    virtual = full("block")
    virtual.broker.topics.configure(0, "commits", flow=FlowConfig(rate_per_s=1, burst=1, policy="drop_newest"))
    first = publish(virtual, "c")
    assert not first.done
    take(virtual)
    take(virtual)
    # There is room, and the rate is used up.
    assert first.done and publish(virtual, "d").result() is None and virtual.broker.views.totals().dropped == 1


@pytest.mark.parametrize(
    ("policy", "priority", "left", "missed"),
    [
        ("drop_newest", 0, ["b", "a"], True),
        ("drop_oldest", 0, ["c", "b"], False),
        ("priority_evict", 0, ["c", "b"], False),  # the least urgent goes
        ("priority_evict", 2, ["b", "a"], True),  # the newest of the least urgent is the new one
        ("priority_evict", 1, ["b", "c"], False),
    ],
)
def test_messages_give_way_in_this_subscription_alone(
    policy: LimitPolicy, priority: int, left: list[str], missed: bool
):
    virtual = full(policy, priorities=3)
    published = publish(virtual, "c", priority).result()
    assert waiting(virtual) == left and waiting(virtual, "audit") == ["a", "b", "c"]
    assert (published.missed_by == ("mails",)) == missed
    assert gauges(virtual).evicted == 1


def test_priority_evict_takes_the_newest_of_the_least_urgent_of_a_queue_too():
    virtual = VirtualBroker(1)
    flow = FlowConfig(max_messages=4, policy="priority_evict")
    virtual.broker.queues.create(0, "jobs", QueueConfig(priorities=3), flow=flow)
    for value, priority in (("old", 2), ("new", 2), ("mid", 1), ("top", 0), ("more", 1)):
        assert virtual.broker.publishing.publish(0, "jobs", Message(value.encode(), priority=priority), client="c").done
    assert waiting(virtual, "jobs") == ["top", "mid", "more", "old"]


def test_priorities_come_first_whatever_their_partition_and_a_retry_keeps_its_own():
    virtual = VirtualBroker(3)
    virtual.broker.queues.subscribe(0, "mails", "commits", QueueConfig(priorities=3))
    for number, priority in enumerate((2, 0, 1, 7, 0, 2, 1)):
        message = Message(b"%d" % number, b"key %d" % number, priority=priority)
        virtual.broker.publishing.publish(virtual.now_ns, "commits", message, client="c")
        virtual.run(0.001)
    taken = [virtual.broker.queues.take(virtual.now_ns, "mails", "w").result()[0] for _ in range(3)]
    assert [lease.message.value for lease in taken] == [b"1", b"4", b"2"]
    virtual.broker.queues.nack(virtual.now_ns, taken[2], "again")
    virtual.broker.queues.release(virtual.now_ns, taken[0])
    rest = [virtual.broker.queues.take(virtual.now_ns, "mails", "w").result()[0].message.value for _ in range(6)]
    assert rest == [b"1", b"2", b"6", b"0", b"3", b"5"]


def test_a_saved_state_keeps_the_priorities():
    virtual = VirtualBroker(2)
    virtual.broker.queues.subscribe(0, "mails", "commits", QueueConfig(priorities=2))
    for number, priority in enumerate((1, 0, 1, 0)):
        virtual.broker.publishing.publish(
            0, "commits", Message(b"%d" % number, b"%d" % number, priority=priority), client="c"
        )
    [held] = virtual.broker.queues.take(0, "mails", "w").result()
    state = virtual.broker.queues.queue("mails").state(0)
    virtual.broker.queues.delete(0, "mails")
    virtual.broker.queues.subscribe(0, "mails", "commits", QueueConfig(priorities=2), from_end=False, restored=True)
    virtual.broker.queues.queue("mails").restore(0, state)
    virtual.broker.queues.release(0, held)
    order = [virtual.broker.queues.take(0, "mails", "w").result()[0].message.priority for _ in range(4)]
    assert order == [0, 0, 1, 1]


SCENARIO = """
title: Orders
about: A topic whose subscribers are full now and then.
seed: 3
until_s: 60
topics: [{{name: orders, partitions: 2}}]
producers:
  - {{name: shop, to: orders, arrivals: {{kind: rate, per_s: 20, keys: 9, priorities: [1, 1, 1]}}}}
subscribers:
  - {{name: mailer, count: 2, topics: [orders], backlog: 5, policy: {policy}, config: {{priorities: 3}},
     processing: {{mean_ms: 150}}}}
  - {{name: audit, topics: [orders], processing: {{mean_ms: 1}}}}
"""


@pytest.mark.parametrize("policy", ["block", "reject", "drop_newest", "drop_oldest", "priority_evict"])
def test_a_scenario_names_policy_priorities_and_workers(policy: str):
    simulation = Simulation(parse_scenario(SCENARIO.format(policy=policy)))
    simulation.run()
    view = simulation.broker.views.queue(simulation.loop.now_ns, "mailer")
    actors = {actor.name for actor in simulation.snapshot().actors}
    assert {"mailer-1", "mailer-2", "audit"} <= actors
    assert view.gate is not None and view.gate.depth <= 5
    done = simulation.broker.queues.queue("mailer").counts.acknowledged
    told = {"block": view.gate.blocked_ns_total, "reject": view.gate.rejected}.get(policy, view.gate.evicted)
    assert done > 500 and told > 0
    simulation.close()
