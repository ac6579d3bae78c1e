"""Transactions of Kafka's clients: all or nothing, fenced by a newer producer, ended by their time-out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import aiokafka
import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from confluent_kafka import Consumer, KafkaException, Message, Producer, TopicPartition
from kafka import KafkaConsumer, KafkaProducer

from broker_core import BrokerHost
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import EventKind
from broker_core.listeners.kafka.listener import KafkaListener
from broker_core.operations.observe import WaitUntil
from broker_core.transactions.transaction import Identity
from tests.broker_core.admin import Admin

PATIENCE_S = 30.0


@pytest.fixture
def new_producer(settings: dict[str, Any]) -> Iterator[Callable[..., Producer]]:
    """Makes producers of the transactional id "payments"."""
    made: list[Producer] = []

    def make(transactional_id: str = "payments", **more: Any) -> Producer:
        made.append(
            Producer({**settings, "client.id": "shop", "transactional.id": transactional_id, "linger.ms": 0, **more})
        )
        return made[-1]

    yield make
    for each in made:
        each.purge()


def begun(producer: Producer, *values: str, topic: str = "orders") -> None:
    """A transaction with these values, all of them stored."""
    producer.begin_transaction()
    for number, value in enumerate(values):
        producer.produce(topic, value.encode(), partition=number % 2)
    assert producer.flush(PATIENCE_S) == 0


def read(consumer: Consumer, count: int, topic: str = "orders") -> list[Message]:
    """So many messages from the beginning of both partitions."""
    consumer.assign([TopicPartition(topic, number, 0) for number in range(2)])
    found = consumer.consume(count, PATIENCE_S)
    assert not [message.error() for message in found if message.error()]
    return found


def values(messages: list[Message]) -> list[str]:
    return sorted((message.value() or b"").decode() for message in messages)


def nothing_more(consumer: Consumer) -> bool:
    """What has been published by now would have come with a message that is published now."""
    return consumer.consume(1, 0.7) == []


@pytest.mark.promise("36")
def test_what_is_committed_is_seen_and_what_is_aborted_is_not(
    admin: Admin, host: BrokerHost, new_producer, new_consumer
):
    admin.create_topic("orders", 2)
    producer = new_producer()
    producer.init_transactions(PATIENCE_S)
    begun(producer, "a", "b")
    producer.commit_transaction(PATIENCE_S)
    begun(producer, "x", "y")
    producer.abort_transaction(PATIENCE_S)
    begun(producer, "c", "d")
    producer.commit_transaction(PATIENCE_S)
    assert values(read(new_consumer(**{"isolation.level": "read_committed"}), 4)) == ["a", "b", "c", "d"]
    assert values(read(new_consumer(**{"isolation.level": "read_uncommitted"}), 6)) == ["a", "b", "c", "d", "x", "y"]
    topic = admin.describe_topic("orders")
    assert [(each.end_offset, each.messages_count) for each in topic.partitions] == [(6, 3), (6, 3)]
    assert topic.published == 6
    assert [message.value for message in admin.messages("orders", 0)] == [b"a", b"x", b"c"]


def test_an_open_transaction_is_seen_all_at_once(admin: Admin, new_producer, new_consumer, producer):
    admin.create_topic("orders", 2)
    transactional = new_producer()
    transactional.init_transactions(PATIENCE_S)
    begun(transactional, "a", "b")
    producer.produce("orders", b"later", partition=0)
    producer.flush(PATIENCE_S)
    consumer = new_consumer(**{"isolation.level": "read_committed"})
    consumer.assign([TopicPartition("orders", number, 0) for number in range(2)])
    assert nothing_more(consumer)
    assert consumer.get_watermark_offsets(TopicPartition("orders", 0), PATIENCE_S, cached=False) == (0, 0)
    transactional.commit_transaction(PATIENCE_S)
    assert values(consumer.consume(3, PATIENCE_S)) == ["a", "b", "later"]


def test_a_second_producer_of_the_same_id_fences_the_first(admin: Admin, host: BrokerHost, new_producer, new_consumer):
    admin.create_topic("orders", 2)
    ended: list[Any] = []
    host.events.attach(lambda event: ended.append(event) if event.kind is EventKind.TRANSACTION_ENDED else None)
    first, second = new_producer(), new_producer()
    first.init_transactions(PATIENCE_S)
    begun(first, "lost")
    second.init_transactions(PATIENCE_S)
    with pytest.raises(KafkaException) as caught:
        first.commit_transaction(PATIENCE_S)
    assert caught.value.args[0].fatal()
    begun(second, "kept")
    second.commit_transaction(PATIENCE_S)
    assert values(read(new_consumer(**{"isolation.level": "read_committed"}), 1)) == ["kept"]
    assert [event.cause for event in ended] == ["another producer came", "committed"]


def test_a_transaction_that_takes_too_long_is_aborted(admin: Admin, host: BrokerHost, new_producer, new_consumer):
    admin.create_topic("orders", 2)
    producer = new_producer(**{"transaction.timeout.ms": 1_000})
    producer.init_transactions(PATIENCE_S)
    begun(producer, "lost")
    (open_one,) = host.call(lambda _now: host.broker.transactions.views())
    assert (open_one.transactional_id, open_one.client, open_one.timeout_ms) == ("payments", "shop", 1_000)
    consumer = new_consumer(**{"isolation.level": "read_committed"})
    other = new_producer("other")
    other.init_transactions(PATIENCE_S)
    begun(other, "kept")
    other.commit_transaction(PATIENCE_S)
    assert values(read(consumer, 1)) == ["kept"]  # it comes when the other one is aborted
    assert host.call(lambda _now: host.broker.transactions.views()) == ()
    with pytest.raises(KafkaException):
        producer.commit_transaction(PATIENCE_S)


@pytest.mark.parametrize("commits", [True, False])
def test_offsets_are_committed_with_the_transaction(admin: Admin, new_producer, new_consumer, producer, commits: bool):
    admin.create_topic("orders", 2)
    admin.create_topic("invoices", 2)
    for number in range(4):
        producer.produce("orders", b"%d" % number, partition=0)
    producer.flush(PATIENCE_S)
    consumer = new_consumer(**{"enable.auto.commit": False})
    consumer.subscribe(["orders"])
    assert len(consumer.consume(4, PATIENCE_S)) == 4
    transactional = new_producer()
    transactional.init_transactions(PATIENCE_S)
    begun(transactional, "invoice", topic="invoices")
    position = consumer.position([TopicPartition("orders", 0)])
    transactional.send_offsets_to_transaction(position, consumer.consumer_group_metadata(), PATIENCE_S)
    assert {each.committed for each in admin.lag("billing")} == {None}
    if commits:
        transactional.commit_transaction(PATIENCE_S)
    else:
        transactional.abort_transaction(PATIENCE_S)
    committed = {each.partition: each.committed for each in admin.lag("billing")}
    assert committed[0] == (4 if commits else None)


def test_a_marker_counts_in_no_lag(admin: Admin, host: BrokerHost, new_producer, new_consumer):
    admin.create_topic("orders", 2)
    producer = new_producer()
    producer.init_transactions(PATIENCE_S)
    begun(producer, "a", "b")
    producer.commit_transaction(PATIENCE_S)
    consumer = new_consumer(**{"enable.auto.commit": False})
    consumer.subscribe(["orders"])
    for message in consumer.consume(2, PATIENCE_S):
        consumer.commit(message, asynchronous=False)  # the offset behind it, which is that of a marker
    rows = admin.lag("billing")
    assert [(each.committed, each.end_offset, each.lag) for each in rows] == [(1, 2, 0), (1, 2, 0)]
    assert host.ask(WaitUntil(condition="group = billing and lag = 0", timeout_ms=0)).holds
    assert host.call(lambda _now: host.broker.groups.commits.lag("billing", "orders", 0)) == 0


def test_what_is_not_of_a_transaction_is_refused(admin: Admin, host: BrokerHost, new_producer, settings):
    admin.create_topic("orders", 2)
    first = new_producer()
    with pytest.raises(KafkaException):
        new_producer(**{"transaction.timeout.ms": 2_000_000}).init_transactions(PATIENCE_S)
    first.init_transactions(PATIENCE_S)
    assert host.call(lambda _now: host.broker.transactions.views()) == ()
    first.begin_transaction()
    first.commit_transaction(PATIENCE_S)  # an empty one needs no word with the broker
    with pytest.raises(BrokerError) as caught:
        host.call(lambda now_ns: host.broker.transactions.end(now_ns, "nobody", Identity(1, 0), commits=True))
    assert caught.value.code is ErrorCode.INVALID_PRODUCER_ID_MAPPING


def test_aiokafka_commits_aborts_and_sends_offsets(admin: Admin, listener: KafkaListener):
    admin.create_topic("orders", 1)
    admin.create_topic("invoices", 1)

    async def run() -> list[bytes | None]:
        async with AIOKafkaProducer(
            bootstrap_servers=listener.bootstrap_servers, transactional_id="payments"
        ) as producer:
            async with producer.transaction():
                await producer.send_and_wait("orders", b"a")
            await producer.begin_transaction()
            await producer.send_and_wait("orders", b"x")
            await producer.abort_transaction()
            await producer.begin_transaction()
            await producer.send_and_wait("invoices", b"invoice")
            await producer.send_offsets_to_transaction({aiokafka.TopicPartition("orders", 0): 1}, "billing")
            await producer.commit_transaction()
            async with producer.transaction():
                await producer.send_and_wait("orders", b"b")
        async with AIOKafkaConsumer(
            "orders",
            bootstrap_servers=listener.bootstrap_servers,
            auto_offset_reset="earliest",
            isolation_level="read_committed",
        ) as consumer:
            return [(await asyncio.wait_for(consumer.getone(), PATIENCE_S)).value for _ in range(2)]

    assert asyncio.run(run()) == [b"a", b"b"]
    assert [each.committed for each in admin.lag("billing")] == [1]


# kafka-python 3 hangs by itself now and then.
@pytest.mark.long
def test_kafka_python_commits_and_aborts(admin: Admin, listener: KafkaListener):
    admin.create_topic("orders", 1)
    producer = KafkaProducer(bootstrap_servers=listener.bootstrap_servers, transactional_id="payments")
    producer.init_transactions()
    for value, ends in (
        (b"a", producer.commit_transaction),
        (b"x", producer.abort_transaction),
        (b"b", producer.commit_transaction),
    ):
        producer.begin_transaction()
        producer.send("orders", value)
        producer.flush(PATIENCE_S)
        ends()
    producer.close()
    consumer = KafkaConsumer(
        "orders",
        bootstrap_servers=listener.bootstrap_servers,
        isolation_level="read_committed",
        auto_offset_reset="earliest",
        consumer_timeout_ms=round(PATIENCE_S * 1_000),
    )
    assert [next(consumer).value for _ in range(2)] == [b"a", b"b"]
    consumer.close()


def test_a_directory_with_an_open_transaction_can_be_read_as_it_is(tmp_path):
    with BrokerHost(tmp_path) as host, KafkaListener(host, port=0) as listener:
        Admin(host).create_topic("orders", 2)
        producer = Producer({"bootstrap.servers": listener.bootstrap_servers, "transactional.id": "payments"})
        producer.init_transactions(PATIENCE_S)
        begun(producer, "a", "b")
    with BrokerHost(tmp_path, read_only=True) as looked_at:
        assert [message.value for message in Admin(looked_at).messages("orders", 0)] == [b"a"]
        assert len(looked_at.call(lambda _now: looked_at.broker.transactions.views())) == 1
    with BrokerHost(tmp_path) as host, KafkaListener(host, port=0) as listener:
        again = Producer({"bootstrap.servers": listener.bootstrap_servers, "transactional.id": "payments"})
        again.init_transactions(PATIENCE_S)
        log = host.broker.logs.partition("orders", 0)
        assert (dict(log.segments.open_transactions), log.last_stable_offset) == ({}, 2)
    producer.purge()
