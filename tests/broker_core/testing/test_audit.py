"""Verdicts on what real clients, queues and settings have done, in the words that a failing test shows."""

from __future__ import annotations

import json
import re
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaException, Message, TopicPartition

from broker_core import BrokerHost, FlowConfig, GroupConsumer, QueueConfig, QueueConsumer
from broker_core.errors import BrokerError, ErrorCode
from broker_core.log.config import LogConfig
from broker_core.operations.observe import AuditBroker
from broker_core.testing.embedded_broker import EmbeddedBroker
from tests.broker_core.admin import Admin


@pytest.fixture
def broker() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker() as broker:
        broker.create_topic("orders", partitions=2)
        yield broker


def read(broker: EmbeddedBroker, count: int, *, commit: bool = True, reset: str = "earliest") -> list[bytes | None]:
    """Read `count` messages by a real consumer of group "billing", which leaves afterwards."""
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "group.id": "billing",
            "auto.offset.reset": reset,
            "enable.auto.commit": False,
        }
    )
    found: list[bytes | None] = []
    try:
        consumer.subscribe(["orders"])
        while len(found) < count:
            message = consumer.poll(20)
            assert message is not None
            assert message.error() is None
            found.append(message.value())
        if commit:
            consumer.commit(asynchronous=False)
    finally:
        consumer.close()
    return found


def test_a_group_that_reads_and_commits_all_keeps_every_promise(broker: EmbeddedBroker):
    for number in range(10):
        broker.publish("orders", number, key=f"customer-{number % 3}")
    read(broker, 10)
    audit = broker.audit()
    assert {name: verdict.holds for name, verdict in audit.verdicts.items()} == {
        "nothing_lost": True,
        "nothing_twice": True,
        "everything_done": True,
        "commits_are_sound": True,
        "in_order": True,
        "at_least_once": True,
    }
    assert repr(audit.nothing_lost()) == "<no message was lost (10 messages with 1 reader)>"


@pytest.mark.parametrize("assignor", ["range", "cooperative-sticky"])
def test_a_member_that_reads_on_until_it_hears_of_a_rebalance_has_read(broker: EmbeddedBroker, assignor: str):
    """Its partitions are revoked when another joins; it hears of that with its next heartbeat."""
    settings = {
        "bootstrap.servers": broker.bootstrap_servers,
        "group.id": "billing",
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        "partition.assignment.strategy": assignor,
    }
    first, second = (Consumer({**settings, "client.id": name}) for name in ("first", "second"))
    members, ended = [first], threading.Event()

    def work() -> None:
        refused: list[tuple[Consumer, Message]] = []  # while the group rebalances
        while not ended.is_set():
            polled = [(member, member.poll(0.05)) for member in list(members)]
            read = [(member, message) for member, message in polled if message is not None and not message.error()]
            again, refused = [*refused, *read], []
            for member, message in again:
                try:
                    member.commit(message, asynchronous=False)
                except KafkaException:
                    refused.append((member, message))

    first.subscribe(["orders"])
    worker = threading.Thread(target=work)
    worker.start()
    try:
        broker.wait_until("group = billing and state = stable", timeout_s=20)
        second.subscribe(["orders"])
        members.append(second)
        broker.wait_until("group = billing and members = 2", timeout_s=20)
        broker.publish("orders", "a", partition=0)
        broker.publish("orders", "b", partition=1)
        broker.wait_until("group = billing and lag = 0", timeout_s=20)
    finally:
        ended.set()
        worker.join()
        first.close()
        second.close()
    audit = broker.audit()
    assert audit.nothing_lost()
    assert audit.at_least_once()


def test_what_is_not_committed_comes_again_and_is_not_lost(broker: EmbeddedBroker):
    broker.publish("orders", "one", partition=0)
    read(broker, 1, commit=False)
    assert not broker.audit().everything_done()
    read(broker, 1)
    audit = broker.audit()
    assert audit.nothing_lost()
    assert audit.at_least_once()
    assert audit.everything_done()
    twice = audit.nothing_twice()
    assert not twice
    lines = str(twice).splitlines()
    assert lines[0] == "delivered twice: 1 (1 message with 1 reader)"
    told = "rdkafka of billing had it and left without acknowledging it; rdkafka#"
    assert re.fullmatch(rf"- orders/0 @0 may have been handled twice: {told}\w{{4}} was given it again", lines[1])
    assert str(twice) in broker.timeline()
    assert [line.split()[3] for line in lines[2:]] == ["published", "delivered", "delivered", "acknowledged"]


def test_what_is_deleted_before_a_member_that_is_gone_acknowledged_it_is_lost(broker: EmbeddedBroker):
    """librdkafka fetches ahead: what it had not handed out when it was closed, nobody gets again."""
    broker.publish("orders", *range(40), partition=0)
    read(broker, 5)
    Admin(broker.host).delete_records("orders", {0: 25})
    assert not broker.audit().nothing_lost(), "its member is gone, whatever comes"
    read(broker, 15)
    lost = broker.audit().nothing_lost()
    assert not lost and not broker.audit().at_least_once()
    what = "was delivered to rdkafka of billing, and deleted before it was acknowledged, with 19 more"
    assert str(lost).splitlines()[1] == f"- orders/0 @5 {what}"
    assert [line.split()[3] for line in str(lost).splitlines()[2:]] == ["published", "delivered", "records_deleted"]


def test_a_member_that_is_there_may_acknowledge_what_was_deleted_meanwhile(broker: EmbeddedBroker):
    broker.publish("orders", *range(4), partition=0)
    with GroupConsumer(broker.host, "billing", ["orders"]) as consumer:
        while not consumer.poll(0.1):
            pass
        Admin(broker.host).delete_records("orders", {0: 4})
        assert broker.audit().nothing_lost(), "it works on them"
        consumer.commit()
    assert broker.audit().nothing_lost()


def test_a_group_that_begins_at_the_end_after_its_offsets_are_gone_has_lost_messages(broker: EmbeddedBroker):
    """The bug of `auto.offset.reset=latest`: what came while nobody was there is passed over."""
    broker.publish("orders", "one", partition=0)
    read(broker, 1, commit=False)
    broker.publish("orders", "two", partition=0)
    consumer = Consumer({"bootstrap.servers": broker.bootstrap_servers, "group.id": "billing"})
    try:
        consumer.subscribe(["orders"])
        while consumer.poll(0.1) is None:
            broker.publish("orders", "later", partition=0)
    finally:
        consumer.close()
    lost = broker.audit().nothing_lost()
    assert not lost
    assert re.match(r"<lost: \d+; orders/0 @1 was skipped by group billing", repr(lost))


def test_a_commit_of_what_was_never_read_is_a_loss(broker: EmbeddedBroker):
    broker.publish("orders", "one", "two", "three", partition=0)
    broker.publish("orders", "other", partition=1)
    consumer = Consumer({"bootstrap.servers": broker.bootstrap_servers, "group.id": "billing"})
    try:
        consumer.assign([TopicPartition("orders", 1, 0)])
        assert consumer.poll(20) is not None
        consumer.commit(offsets=[TopicPartition("orders", 0, 3)], asynchronous=False)
    finally:
        consumer.close()
    lost = broker.audit().nothing_lost()
    assert "orders/0 @0 was skipped by group billing: it committed beyond it, and was never given it" in str(lost)
    assert "rdkafka of group billing committed 3" in str(broker.audit().commits_are_sound())


def test_what_retention_took_before_it_was_read_is_lost():
    with EmbeddedBroker() as broker:
        broker.create_topic("orders", log=LogConfig(retention_ms=3_600_000, segment_bytes=100))
        broker.create_topic("read", log=LogConfig(retention_ms=3_600_000, segment_bytes=100))
        for topic in ("orders", "read"):
            broker.publish(topic, *range(20))
        with GroupConsumer(broker.host, "billing", ["read"]) as consumer:
            count = 0
            while count < 20:
                count += len(consumer.poll(5))
            consumer.commit()
        broker.clock.advance(10_000)
        lost = broker.audit().nothing_lost()
        assert not lost
        assert {finding.what.partition("/")[0] for finding in lost.findings} == {"orders"}
        assert "was deleted" in str(lost)


def test_a_dropped_message_is_lost_and_a_refused_one_is_not():
    with EmbeddedBroker() as broker:
        broker.create_topic("few", flow=FlowConfig(max_messages=1, policy="drop_newest"))
        broker.create_topic("refusing", flow=FlowConfig(max_messages=1, policy="reject"))
        broker.publish("refusing", "one")
        with pytest.raises(BrokerError):
            broker.publish("refusing", "two")
        assert broker.audit().nothing_lost()
        broker.publish("few", "one")
        with pytest.raises(BrokerError):
            broker.publish("few", "two")
        assert "dropped before they were stored" in str(broker.audit().nothing_lost())


def test_a_queue_is_done_when_all_is_acknowledged_or_dead_lettered(broker: EmbeddedBroker):
    broker.create_queue("mail", QueueConfig(max_attempts=1))
    broker.publish("mail", "good", "bad")
    with QueueConsumer(broker.host, "mail", client_id="worker") as worker:
        good, bad = worker.take(5), worker.take(5)
        assert good is not None
        assert bad is not None
        done = broker.audit().everything_done()
        assert "mail/0 @0 is the first of 2 messages that queue mail has not acknowledged" in str(done)
        assert "2 in hand, the first of worker" in str(done)
        good.ack()
        bad.nack("no address")
    audit = broker.audit()
    assert audit.everything_done()
    assert audit.nothing_lost()
    assert audit.nothing_twice()


def test_a_key_in_two_partitions_may_lose_its_order(broker: EmbeddedBroker):
    with GroupConsumer(broker.host, "billing", ["orders"]) as consumer:
        while not consumer.assignment:
            consumer.poll(0.05)
        consumer.pause([("orders", 1)])
        broker.publish("orders", "first", key="customer", partition=1)
        broker.publish("orders", "second", key="customer", partition=0)
        assert [message.value for message in consumer.poll(10)] == [b"second"]
        assert broker.audit().in_order()
        consumer.resume([("orders", 1)])
        assert [message.value for message in consumer.poll(10)] == [b"first"]
    order = broker.audit().in_order()
    assert not order
    assert "orders/1 @0 with key b'customer' is delivered to" in str(order)
    assert "after orders/0 @0, which was published later" in str(order)


def test_an_audit_covers_a_crash():
    with EmbeddedBroker(durability="file") as broker:
        broker.create_topic("orders", partitions=2)
        broker.create_queue("mail", QueueConfig(max_attempts=3))
        broker.publish("orders", "one", "two", partition=0)
        broker.publish("mail", "letter")
        read(broker, 2)
        with QueueConsumer(broker.host, "mail", client_id="worker") as worker:
            letter = worker.take(5)
            assert letter is not None
            broker.restart()
        broker.clock.advance(3_600)
        with QueueConsumer(broker.host, "mail", client_id="worker") as worker:
            again = worker.take(5)
            assert again is not None
            again.ack()
        broker.publish("orders", "three", partition=0)
        assert read(broker, 1) == [b"three"]
        audit = broker.audit()
        assert audit.at_least_once(), str(audit)
        assert audit.everything_done(), str(audit)
        assert not audit.nothing_twice()  # the letter


def test_a_reset_begins_an_audit_anew(broker: EmbeddedBroker):
    broker.publish("orders", "one", partition=0)
    read(broker, 1, commit=False)
    broker.reset()
    assert str(broker.audit().everything_done()).endswith("(0 messages with 0 readers)")


def test_it_is_asked_for_by_http_too(broker: EmbeddedBroker):
    broker.create_queue("mail")
    broker.publish("mail", "letter")
    with urllib.request.urlopen(f"{broker.http_url}/v1/audit", timeout=30) as answer:
        verdicts = {each["name"]: each for each in json.load(answer)}
    assert verdicts["nothing_lost"]["holds"] is True
    assert verdicts["everything_done"]["holds"] is False
    assert "queue mail has not acknowledged (1 waiting)" in verdicts["everything_done"]["explanation"]


def test_a_broker_that_does_not_know_its_beginning_refuses(tmp_path: Path):
    with BrokerHost() as host, pytest.raises(BrokerError, match="does not keep its events") as refused:
        host.ask(AuditBroker())
    assert refused.value.code is ErrorCode.INVALID_REQUEST
    with EmbeddedBroker(tmp_path) as broker:
        broker.create_topic("orders")
        assert broker.audit().nothing_lost()
    with EmbeddedBroker(tmp_path) as again, pytest.raises(BrokerError, match="from its beginning"):
        again.audit()
