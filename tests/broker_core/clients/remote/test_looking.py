"""What a remote broker tells of the broker: its time, its figures, its events, its messages."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from broker_core.clients.admin import Admin
from broker_core.clients.producer import Producer
from broker_core.clients.remote.broker import RemoteBroker
from broker_core.engine.host import BrokerHost
from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.wire.listener import WireListener


@pytest.fixture
def remote() -> Iterator[RemoteBroker]:
    with BrokerHost() as host, WireListener(host, port=0) as listener, RemoteBroker(port=listener.port) as remote:
        Admin(remote).create_topic("t", 1)
        yield remote


def test_figures_and_time(remote: RemoteBroker):
    with Producer(remote) as producer:
        producer.publish("t", b"x")
    figures = remote.metrics()
    assert (figures.totals.published, figures.topics, figures.queues, figures.connections) == (1, 1, 0, 1)
    assert figures.now_ns <= remote.ping(5)


def test_events_are_waited_for_and_gone_on_with(remote: RemoteBroker):
    start = remote.events().next_seq
    threading.Timer(0.1, lambda: Admin(remote).create_topic("later", 2)).start()
    heard = remote.events(start, wait_s=10)
    assert [(event.kind, event.topic, event.count) for event in heard.events] == [("topic_created", "later", 2)]
    assert remote.events(heard.next_seq).events == ()
    with Producer(remote) as producer:
        for _ in range(5):
            producer.publish("later", b"x")
    some = remote.events(heard.next_seq, max_events=2)
    rest = remote.events(some.next_seq)
    assert [event.kind for event in (*some.events, *rest.events)] == ["published"] * 5
    assert (len(some.events), some.missed) == (2, 0)


def test_messages_are_read_for_no_group(remote: RemoteBroker):
    with Producer(remote) as producer:
        for number in range(5):
            producer.publish("t", b"%d" % number)
    assert [message.value for message in remote.read("t", 0, 1, 3)] == [b"1", b"2", b"3"]
    assert Admin(remote).groups() == [] and remote.metrics().totals.delivered == 0
    with pytest.raises(BrokerError) as caught:
        remote.read("t", 4, 0)
    assert caught.value.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
