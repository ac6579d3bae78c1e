"""What librdkafka produces is stored, and what is stored it consumes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition

from broker_core import BrokerHost, EventKind, FlowConfig, GroupConsumer, HostConfig, LogConfig
from broker_core import Producer as OwnProducer
from broker_core.listeners.kafka.listener import KafkaListener
from tests.broker_core.admin import Admin

PATIENCE_S = 30.0


def produce(producer: Producer, topic: str, count: int, **more: Any) -> list[Message]:
    """Produce numbered messages and wait for their acknowledgements, of which none fails."""
    found: list[Message] = []
    for number in range(count):
        producer.produce(
            topic,
            f"value {number}".encode(),
            key=f"key {number % 7}".encode(),
            on_delivery=lambda error, message: found.append(error or message),
            **more,
        )
    assert producer.flush(PATIENCE_S) == 0
    assert all(isinstance(each, Message) for each in found), found[:3]
    return found


def consume(consumer: Consumer, count: int) -> list[Message]:
    """Consume so many messages, or fewer where they do not come in time."""
    found: list[Message] = []
    deadline_s = time.monotonic() + PATIENCE_S
    while len(found) < count and time.monotonic() < deadline_s:
        batch = consumer.consume(count - len(found), 0.5)
        assert [message.error() for message in batch if message.error()] == []
        found += batch
    return found


def test_what_is_produced_is_consumed_and_committed(admin: Admin, producer: Producer, new_consumer):
    admin.create_topic("orders", 3)
    sent = produce(producer, "orders", 500, headers={"kind": b"order"})
    consumer = new_consumer()
    consumer.subscribe(["orders"])
    got = consume(consumer, 500)

    def facts(messages: list[Message]) -> set[tuple[object, ...]]:
        return {(each.partition(), each.offset(), each.key(), each.value(), each.timestamp()) for each in messages}

    assert facts(got) == facts(sent)
    assert {message.headers()[0] for message in got} == {("kind", b"order")}
    consumer.commit(asynchronous=False)
    offsets = admin.lag("billing")
    # Where no key has gone to, nothing is committed.
    assert sum(each.committed or 0 for each in offsets) == 500 and {each.lag or 0 for each in offsets} == {0}
    assert {each.owner for each in offsets} == {"biller"}


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_every_compression_is_stored_as_it_came_and_read_by_our_own_clients(
    admin: Admin, host: BrokerHost, settings: dict[str, Any], new_consumer, codec: str
):
    admin.create_topic("orders")
    producer = Producer({**settings, "compression.type": codec, "linger.ms": 50})
    produce(producer, "orders", 300)
    values = [f"value {number}".encode() for number in range(300)]
    with GroupConsumer(host, "ours", ["orders"]) as ours:
        own: list[bytes | None] = []
        while len(own) < 300:
            own += [message.value for message in ours.poll(PATIENCE_S)]
    assert own == values
    theirs = new_consumer()
    theirs.subscribe(["orders"])
    assert [message.value() for message in consume(theirs, 300)] == values


def test_what_our_own_producer_stores_librdkafka_reads(admin: Admin, host: BrokerHost, new_consumer):
    admin.create_topic("orders")
    with OwnProducer(host) as own:
        for number in range(50):
            own.publish("orders", b"ours %d" % number, key=b"k")
    consumer = new_consumer()
    consumer.subscribe(["orders"])
    assert [message.value() for message in consume(consumer, 50)] == [b"ours %d" % number for number in range(50)]


def test_deliveries_to_a_kafka_member_are_events_of_its_group(
    admin: Admin, host: BrokerHost, producer: Producer, new_consumer
):
    events: list[Any] = []
    host.events.attach(events.append)
    admin.create_topic("orders", 2)
    produce(producer, "orders", 100)
    consumer = new_consumer()
    consumer.subscribe(["orders"])
    consume(consumer, 100)
    consumer.commit(asynchronous=False)
    counts = {
        kind: sum(event.count for event in events if event.kind is kind and event.group in {"", "billing"})
        for kind in (EventKind.PUBLISHED, EventKind.DELIVERED, EventKind.ACKNOWLEDGED)
    }
    assert set(counts.values()) == {100}, counts
    assert {event.client for event in events if event.kind is EventKind.DELIVERED} == {"biller"}


def test_an_offset_beyond_the_log_is_reset_as_configured(admin: Admin, producer: Producer, new_consumer):
    admin.create_topic("orders")
    produce(producer, "orders", 10)
    consumer = new_consumer()
    consumer.assign([TopicPartition("orders", 0, 1_000)])
    assert [message.offset() for message in consume(consumer, 10)] == list(range(10))


def test_offsets_are_looked_up_by_time_and_watermarks_are_told(admin: Admin, producer: Producer, new_consumer):
    admin.create_topic("orders")
    produce(producer, "orders", 5)
    consumer = new_consumer()
    assert consumer.get_watermark_offsets(TopicPartition("orders", 0), timeout=PATIENCE_S) == (0, 5)
    (found,) = consumer.offsets_for_times([TopicPartition("orders", 0, 0)], timeout=PATIENCE_S)
    assert found.offset == 0
    later_ms = int((time.time() + 3_600) * 1_000)
    (found,) = consumer.offsets_for_times([TopicPartition("orders", 0, later_ms)], timeout=PATIENCE_S)
    assert found.offset == -1


def test_a_commit_may_go_backwards_as_in_kafka(admin: Admin, producer: Producer, new_consumer):
    admin.create_topic("orders")
    produce(producer, "orders", 10)
    consumer = new_consumer(**{"enable.auto.commit": False})
    consumer.subscribe(["orders"])
    consume(consumer, 10)
    for offset in (8, 3):
        consumer.commit(offsets=[TopicPartition("orders", 0, offset, "note")], asynchronous=False)
        (committed,) = consumer.committed([TopicPartition("orders", 0)], timeout=PATIENCE_S)
        assert (committed.offset, committed.metadata) == (offset, "note")
        assert admin.lag("billing")[0].lag == 10 - offset


def test_an_unknown_topic_is_an_error_unless_topics_are_created(host: BrokerHost, admin: Admin, settings, new_consumer):
    errors: list[KafkaError] = []
    producer = Producer({**settings, "message.timeout.ms": 1_500, "topic.metadata.propagation.max.ms": 200})
    producer.produce("nowhere", b"x", on_delivery=lambda error, _message: errors.append(error))
    producer.flush(PATIENCE_S)
    assert [error.code() for error in errors] == [KafkaError.UNKNOWN_TOPIC_OR_PART]
    with KafkaListener(host, port=0, create_topics=4) as creating:
        producer = Producer({**settings, "bootstrap.servers": creating.bootstrap_servers})
        produce(producer, "somewhere", 3)
    assert len(admin.describe_topic("somewhere").partitions) == 4


def test_a_full_topic_holds_the_producer_until_there_is_room(admin: Admin, host: BrokerHost, settings: dict[str, Any]):
    admin.create_topic("orders", flow=FlowConfig(max_messages=10, policy="block"))
    with GroupConsumer(host, "readers", ["orders"]) as reader:
        while not reader.assignment:
            reader.poll(0.1)
        producer = Producer({**settings, "batch.num.messages": 5, "linger.ms": 0})
        acknowledged: list[object] = []
        for number in range(40):
            producer.produce("orders", b"%d" % number, on_delivery=lambda error, _m: acknowledged.append(error))
        read = 0
        while read < 40:
            producer.poll(0)
            found = reader.poll(PATIENCE_S)
            assert len(found) <= 10
            read += len(found)
            reader.commit()
        assert producer.flush(PATIENCE_S) == 0
    assert acknowledged == [None] * 40


@pytest.mark.promise("35")
def test_what_was_acknowledged_is_there_after_a_restart(tmp_path, settings: dict[str, Any]):
    config = HostConfig(log=LogConfig(durability="fsync"))
    for start in (0, 100):
        with BrokerHost(tmp_path, config) as host, KafkaListener(host, port=0) as listener:
            if not start:
                Admin(host).create_topic("orders")
            place = {**settings, "bootstrap.servers": listener.bootstrap_servers}
            producer = Producer({**place, "enable.idempotence": True, "compression.type": "zstd"})
            sent = produce(producer, "orders", 100)
            assert {message.offset() for message in sent} == set(range(start, start + 100))
    with BrokerHost(tmp_path, config) as host:
        messages = Admin(host).messages("orders", limit=1_000)
    assert [message.value for message in messages] == [b"value %d" % number for number in range(100)] * 2


def wait_for(condition: Callable[[], object], *consumers: Consumer) -> None:
    """Let consumers poll until `condition` holds."""
    deadline_s = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline_s
        for consumer in consumers:
            consumer.poll(0.05)


@pytest.mark.parametrize("strategy", ["range", "roundrobin", "cooperative-sticky"])
def test_members_share_a_topic_and_take_over_from_who_leaves(admin: Admin, producer, new_consumer, strategy: str):
    admin.create_topic("orders", 6)
    more = {"partition.assignment.strategy": strategy}
    consumers = [new_consumer(f"biller-{number}", **more) for number in range(3)]
    for consumer in consumers:
        consumer.subscribe(["orders"])
    wait_for(lambda: [len(each.assignment()) for each in consumers] == [2, 2, 2], *consumers)
    group = admin.describe_group("billing")
    assert (group.state, group.assignor) == ("Stable", strategy)
    assert {member.client for member in group.members} == {"biller-0", "biller-1", "biller-2"}
    consumers[0].unsubscribe()
    wait_for(lambda: [len(each.assignment()) for each in consumers[1:]] == [3, 3], *consumers[1:])


def test_members_of_one_client_id_are_told_apart(admin: Admin, new_consumer):
    admin.create_topic("orders", 2)
    consumers = [new_consumer("same"), new_consumer("same")]
    for consumer in consumers:
        consumer.subscribe(["orders"])
    wait_for(lambda: [len(each.assignment()) for each in consumers] == [1, 1], *consumers)
    clients = [member.client for member in admin.describe_group("billing").members]
    assert len(set(clients)) == 2 and all(client.startswith("same") for client in clients)


def test_a_static_member_comes_back_without_a_rebalance(admin: Admin, new_consumer):
    admin.create_topic("orders", 2)
    first = new_consumer("one", **{"group.instance.id": "till"})
    first.subscribe(["orders"])
    wait_for(lambda: len(first.assignment()) == 2, first)
    generation = admin.describe_group("billing").generation
    first.close()
    second = new_consumer("one", **{"group.instance.id": "till"})
    second.subscribe(["orders"])
    wait_for(lambda: len(second.assignment()) == 2, second)
    assert admin.describe_group("billing").generation == generation
