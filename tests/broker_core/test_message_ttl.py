"""A24: a topic or queue may say how long its messages live at most; what is older is handed to nobody."""

from __future__ import annotations

import pytest

from broker_core.errors import BrokerError
from broker_core.events import EventKind
from broker_core.log.config import LogConfig
from broker_core.messages import Message
from broker_core.queues.config import QueueConfig
from broker_core.simulation.scenario import parse_scenario
from tests.broker_core.clients.virtual_broker import VirtualBroker

SECOND = LogConfig(message_ttl_ms=1_000)


@pytest.mark.promise("A24")
def test_readers_of_a_topic_get_nothing_that_is_older_whatever_it_says_of_itself():
    virtual = VirtualBroker(1, log=SECOND)
    for value, ttl_ms in ((b"plain", None), (b"long", 60_000), (b"short", 300)):
        virtual.broker.publishing.publish(0, "commits", Message(value, ttl_ms=ttl_ms), client="p")
    reader = virtual.consumer()
    virtual.run(0.5)
    assert [message.value for message in virtual.do(reader.poll(0))] == [b"plain", b"long"]
    virtual.run(0.6)
    assert virtual.do(virtual.consumer("late", "others").poll(0)) == []


def test_a_queue_passes_over_what_is_too_old_and_its_dead_letters_live_on():
    virtual = VirtualBroker()
    virtual.broker.queues.create(0, "jobs", QueueConfig(max_attempts=1), log=SECOND)
    virtual.publish(b"dies", b"waits", topic="jobs")
    (lease,) = virtual.broker.queues.take(0, "jobs", "w").result()
    virtual.broker.queues.nack(0, lease, "no")
    virtual.run(1.5)
    assert virtual.broker.queues.take(virtual.now_ns, "jobs", "w").result() == []
    (expired,) = virtual.kinds(EventKind.EXPIRED)
    assert expired.offset == 1
    (letter,) = virtual.broker.queues.dead_letters("jobs").list()
    assert virtual.broker.redrives.redrive(virtual.now_ns, "jobs", [letter.offset], client="u").refused == ()
    (again,) = virtual.broker.queues.take(virtual.now_ns, "jobs", "w").result()
    assert again.message.value == b"dies"


def test_it_may_change_and_holds_for_what_comes_after():
    virtual = VirtualBroker(1)
    virtual.publish(b"before")
    virtual.broker.topics.configure(0, "commits", log=SECOND)
    virtual.publish(b"after")
    virtual.run(2)
    assert [message.value for message in virtual.do(virtual.consumer().poll(0))] == [b"before"]
    with pytest.raises(BrokerError, match="message_ttl_ms"):
        LogConfig(message_ttl_ms=-1)


def test_a_scenario_may_say_so_too():
    text = "{title: T, about: x, until_s: 9, topics: [{name: t, log: {message_ttl_ms: 500}}]}"
    (topic,) = parse_scenario(text).topics
    assert topic.log is not None and topic.log.message_ttl_ms == 500
