"""A broker in a test crashes, is restarted, and is cleaned for the next test."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer

from broker_core import QueueConsumer
from broker_core.engine.writer import Writer
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import Event, EventKind
from broker_core.recording.fold import Fold
from broker_core.snapshots import Snapshot
from broker_core.testing.embedded_broker import EmbeddedBroker
from tests.broker_core.listeners.kafka.raw import KEYS, asked


@pytest.fixture
def broker() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker(durability="file") as broker:
        yield broker


def test_what_a_client_was_told_is_stored_outlives_a_crash(broker: EmbeddedBroker):
    broker.create_topic("orders", partitions=2)
    servers = broker.bootstrap_servers
    producer = Producer({"bootstrap.servers": servers})
    for number in range(20):
        producer.produce("orders", str(number), partition=number % 2)
    assert producer.flush(10) == 0
    broker.restart()
    assert broker.bootstrap_servers == servers
    producer.produce("orders", "after", partition=0)
    assert producer.flush(20) == 0
    kept = [message.value or b"" for message in broker.messages("orders")]
    assert sorted(kept[:-1]) == sorted(b"%d" % number for number in range(20))
    assert kept[-1] == b"after"


def test_a_group_goes_on_where_it_has_committed(broker: EmbeddedBroker):
    broker.create_topic("orders")
    broker.publish("orders", "one", "two")
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "group.id": "billing",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    try:
        consumer.subscribe(["orders"])
        first = consumer.poll(10)
        assert first is not None
        consumer.commit(first, asynchronous=False)
        broker.restart()
        assert broker.admin.lag("billing")[0].committed == 1
    finally:
        consumer.close()


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_who_was_told_its_partitions_is_a_member_after_a_crash(
    broker: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch, protocol: str
):
    """As with Kafka, which stores the group before it answers: no commit and no tick of the writer lies between."""
    monkeypatch.setattr(Writer, "_tick", lambda _self: None)
    broker.create_topic("orders")
    port = int(broker.bootstrap_servers.rpartition(":")[2])
    group = {"group_id": "billing"}
    if protocol == "consumer":
        news = {**group, "member_id": "one", "rebalance_timeout": 60_000, "subscribed_topic_names": ["orders"]}
        told = asked(port, KEYS["ConsumerGroupHeartbeat"], 1, {**news, "member_epoch": 0, "topic_partitions": []})
        key, version, beat = KEYS["ConsumerGroupHeartbeat"], 1, {"member_id": "one", "member_epoch": told.member_epoch}
    else:
        offer = {"protocol_type": "consumer", "protocols": [{"name": "range", "metadata": b"\0" * 10}]}
        timeouts = {"session_timeout": 10_000, "rebalance_timeout": 60_000}
        told = asked(port, KEYS["JoinGroup"], 2, {**group, **offer, **timeouts})
        key, version, beat = KEYS["Heartbeat"], 1, {"member_id": told.member_id, "generation_id": told.generation_id}
        mine = [{"member_id": told.member_id, "assignment": b"\0" * 10}]
        assert asked(port, KEYS["SyncGroup"], 1, {**group, **beat, "assignments": mine}).error_code.name == "none"
    broker.restart()
    assert asked(port, key, version, {**group, **beat}).error_code.name == "none"


def test_time_and_events_go_on_after_a_crash(broker: EmbeddedBroker):
    events: list[Event] = []
    broker.host.events.attach(events.append)
    broker.create_topic("orders")
    before_s = broker.clock.time_s
    broker.restart()
    assert broker.clock.time_s >= before_s
    broker.publish("orders", "after")
    assert [event.seq for event in events] == list(range(events[0].seq, events[-1].seq + 1))
    assert [event.time_ns for event in events] == sorted(event.time_ns for event in events)
    assert EventKind.FAULT in {event.kind for event in events}
    assert events[-1].kind is EventKind.PUBLISHED


def test_a_lease_outlives_a_crash_with_its_attempt(broker: EmbeddedBroker):
    broker.create_queue("mail")
    broker.publish("mail", "letter")
    with broker.clock.stopped():
        worker = QueueConsumer(broker.host, "mail", client_id="worker")
        assert worker.take(1) is not None
        broker.restart()
        assert broker.clock.is_stopped
        assert broker.admin.describe_queue("mail").in_flight == 1
        broker.clock.advance(3_600)
        with QueueConsumer(broker.host, "mail", client_id="other") as other:
            again = other.take(1)
            assert again is not None
            assert again.attempt == 2


def test_a_recording_goes_on_after_a_crash(broker: EmbeddedBroker):
    broker.create_topic("orders")
    broker.create_queue("mail")
    broker.publish("orders", "one")
    broker.publish("mail", "letter", "bill")
    with QueueConsumer(broker.host, "mail", client_id="worker") as worker:
        letter = worker.take(1)
        assert letter is not None
        letter.ack()
    broker.restart()
    broker.publish("orders", "two")
    fold = Fold(Snapshot(0, 0))
    for event in broker.events.events:
        fold.add(event)
    (queue,), topics = fold.snapshot().queues, {view.name: view for view in fold.snapshot().topics}
    assert (queue.ready, queue.acknowledged) == (1, 1)
    assert topics["orders"].partitions[0].end_offset == 2


def test_a_broker_in_memory_has_nothing_to_restart_with():
    with EmbeddedBroker() as broker:
        with pytest.raises(BrokerError, match='durability="file"') as refused:
            broker.restart()
        assert refused.value.code is ErrorCode.INVALID_REQUEST
        broker.create_topic("orders")  # it is as it was


@pytest.mark.parametrize("durability", ["memory", "file"])
def test_a_reset_leaves_nothing_of_the_last_test(durability):
    with EmbeddedBroker(durability=durability) as broker:
        servers, url = broker.bootstrap_servers, broker.http_url
        broker.create_topic("orders")
        broker.clock.advance(3_600)
        broker.reset()
        assert (broker.bootstrap_servers, broker.http_url) == (servers, url)
        assert broker.admin.topics() == ()
        assert broker.clock.time_s < 3_600
        broker.create_topic("orders")
        broker.publish("orders", "new")
        assert [message.value for message in broker.messages("orders")] == [b"new"]


def test_a_directory_that_was_given_is_not_deleted(tmp_path: Path):
    with EmbeddedBroker(tmp_path) as broker:
        broker.create_topic("orders")
        with pytest.raises(BrokerError, match="does not delete its contents"):
            broker.reset()
        assert broker.admin.topics() == ("orders",)
    with EmbeddedBroker(tmp_path) as again:
        assert again.admin.topics() == ("orders",)


def test_a_directory_of_its_own_is_removed_at_the_end():
    with EmbeddedBroker(durability="file") as broker:
        assert broker.path is not None
        assert broker.path.is_dir()
    assert not broker.path.exists()


def test_nothing_is_left_after_the_end():
    before = {thread.name for thread in threading.enumerate()}
    broker = EmbeddedBroker()
    broker.create_topic("orders")
    consumer = Consumer({"bootstrap.servers": broker.bootstrap_servers, "group.id": "billing"})
    consumer.subscribe(["orders"])
    consumer.poll(0.5)  # it fetches, or is about to, when the broker closes
    broker.close()
    assert {thread.name for thread in threading.enumerate() if thread.name.startswith("broker")} <= before
    consumer.close()


def test_a_thread_that_goes_on_is_said(monkeypatch: pytest.MonkeyPatch):
    broker = EmbeddedBroker()
    monkeypatch.setattr(broker.host, "threads_left", lambda: ["broker-timers"])
    with pytest.raises(BrokerError, match="broker-timers runs") as left:
        broker.close()
    assert left.value.code is ErrorCode.INTERNAL_ERROR
