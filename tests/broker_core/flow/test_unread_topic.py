"""A limit holds for a topic that nobody reads, too."""

from __future__ import annotations

import pytest

from broker_core.flow.config import FlowConfig
from broker_core.log.config import LogConfig
from broker_core.messages import Message
from broker_core.queues.config import QueueConfig
from tests.broker_core.clients.virtual_broker import VirtualBroker

LIMITED = FlowConfig(max_messages=5, policy="reject")


def refused(virtual: VirtualBroker, count: int, key: bytes | None = None) -> int:
    """How many of `count` messages, one by one, the topic does not take."""
    before = virtual.broker.logs.end_offset("commits", 0)
    for number in range(count):
        virtual.broker.publishing.publish(virtual.now_ns, "commits", Message(b"%d" % number, key), client="test")
    return count - (virtual.broker.logs.end_offset("commits", 0) - before)


def depth(virtual: VirtualBroker) -> int:
    gate = virtual.broker.views.topic(virtual.now_ns, "commits").gate
    assert gate is not None
    return gate.depth


@pytest.fixture
def virtual() -> VirtualBroker:
    found = VirtualBroker(1)
    found.broker.topics.configure(0, "commits", flow=LIMITED)
    return found


def test_what_nobody_has_read_counts(virtual: VirtualBroker):
    assert refused(virtual, 8) == 3
    assert depth(virtual) == 5


def test_deleting_makes_room(virtual: VirtualBroker):
    refused(virtual, 8)
    virtual.broker.cleaning.delete_records(0, "commits", 0, 3)
    assert (depth(virtual), refused(virtual, 8)) == (2, 5)


def test_a_subscription_has_a_limit_of_its_own(virtual: VirtualBroker):
    virtual.broker.queues.subscribe(0, "mails", "commits", QueueConfig())
    assert refused(virtual, 8) == 0


def test_what_compaction_has_removed_counts_no_more():
    virtual = VirtualBroker(1, log=LogConfig(cleanup="compact", segment_bytes=200))
    virtual.broker.topics.configure(0, "commits", flow=FlowConfig(max_messages=30, policy="reject"))
    assert refused(virtual, 40, key=b"k") == 10
    virtual.broker.cleaning.clean(virtual.now_ns)
    while virtual.broker.cleaning.compact(virtual.now_ns):
        pass
    assert depth(virtual) == len(virtual.values()[0]) < 10
    assert refused(virtual, 5, key=b"k") == 0
