"""A limit holds for a topic that nobody reads, too."""

from __future__ import annotations

import pytest

from broker_core.flow.config import FlowConfig
from broker_core.log.config import LogConfig
from broker_core.messages import Message
from broker_core.queues.config import QueueConfig
from tests.broker_core.clients.world import World

LIMITED = FlowConfig(max_messages=5, policy="reject")


def refused(world: World, count: int, key: bytes | None = None) -> int:
    """How many of `count` messages, one by one, the topic does not take."""
    before = world.broker.end_offset("commits", 0)
    for number in range(count):
        world.broker.publish(world.now_ns, "commits", Message(b"%d" % number, key), client="test")
    return count - (world.broker.end_offset("commits", 0) - before)


def depth(world: World) -> int:
    gate = world.broker.topic_view(world.now_ns, "commits").gate
    assert gate is not None
    return gate.depth


@pytest.fixture
def world() -> World:
    found = World(1)
    found.broker.configure_topic(0, "commits", flow=LIMITED)
    return found


def test_what_nobody_has_read_counts(world: World):
    assert refused(world, 8) == 3
    assert depth(world) == 5


def test_deleting_makes_room(world: World):
    refused(world, 8)
    world.broker.delete_records(0, "commits", 0, 3)
    assert (depth(world), refused(world, 8)) == (2, 5)


def test_a_subscription_has_a_limit_of_its_own(world: World):
    world.broker.subscribe(0, "mails", "commits", QueueConfig())
    assert refused(world, 8) == 0


def test_what_compaction_has_removed_counts_no_more():
    world = World(1, log=LogConfig(cleanup="compact", segment_bytes=200))
    world.broker.configure_topic(0, "commits", flow=FlowConfig(max_messages=30, policy="reject"))
    assert refused(world, 40, key=b"k") == 10
    world.broker.clean(world.now_ns)
    while world.broker.compact(world.now_ns):
        pass
    assert depth(world) == len(world.values()[0]) < 10
    assert refused(world, 5, key=b"k") == 0
