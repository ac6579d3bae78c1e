"""Topics with message.timestamp.type LogAppendTime: clients see the broker's time, not that of the producer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from confluent_kafka import (
    TIMESTAMP_CREATE_TIME,
    TIMESTAMP_LOG_APPEND_TIME,
    Consumer,
    KafkaException,
    Message,
    Producer,
)
from confluent_kafka import TopicPartition as Place
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, NewTopic, ResourceType
from kafka import KafkaConsumer, KafkaProducer
from kafka import TopicPartition as PythonPlace

from broker_core import BrokerHost, HostConfig, LogConfig
from broker_core import Message as OurMessage
from broker_core import Producer as OurProducer
from broker_core.listeners.kafka.listener import KafkaListener
from broker_core.log.batch import ProducerStamp, encode_batch
from broker_core.testing.embedded_broker import EmbeddedBroker
from tests.broker_core.admin import Admin
from tests.broker_core.listeners.kafka.raw import KEYS, asked

OLD_MS = 1_000_000_000_000  # 2001, the time that producers give
LOG_APPEND_TIME = 1  # Kafka's number of the type
PATIENCE_S = 30
SETTING = "message.timestamp.type"


def now_ms() -> int:
    return time.time_ns() // 1_000_000


@pytest.fixture
def topic(kafka_admin: AdminClient) -> str:
    made = kafka_admin.create_topics([NewTopic("orders", 1, 1, config={SETTING: "LogAppendTime"})])
    made["orders"].result(PATIENCE_S)
    return "orders"


def produced(producer: Producer, topic: str, count: int = 3) -> list[Message]:
    """What the producer was told of each message."""
    told: list[Message] = []
    for number in range(count):
        producer.produce(
            topic, b"%d" % number, b"k", timestamp=OLD_MS, on_delivery=lambda _error, message: told.append(message)
        )
    assert producer.flush(PATIENCE_S) == 0
    return told


def consumed(consumer: Consumer, topic: str, count: int, offset: int = 0) -> list[Message]:
    consumer.assign([Place(topic, 0, offset)])
    found: list[Message] = []
    deadline_s = time.monotonic() + PATIENCE_S
    while len(found) < count and time.monotonic() < deadline_s:
        found += consumer.consume(count - len(found), 1.0)
    return found


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_confluent_kafka_sees_the_time_of_the_broker(
    topic: str, settings: dict[str, Any], new_consumer: Callable[..., Consumer], codec: str
):
    before_ms = now_ms()
    told = produced(Producer({**settings, "compression.type": codec}), topic)
    found = consumed(new_consumer(**{"check.crcs": True}), topic, 3)
    after_ms = now_ms()
    assert [message.value() for message in found] == [b"0", b"1", b"2"]
    for message in (*told, *found):
        kind, timestamp_ms = message.timestamp()
        assert kind == TIMESTAMP_LOG_APPEND_TIME and before_ms - 1 <= timestamp_ms <= after_ms
    assert told[0].timestamp() == found[0].timestamp()


@pytest.mark.parametrize("more", [{"cleanup.policy": "compact"}, {}])
def test_a_topic_changes_its_type_and_what_is_stored_keeps_its_own(
    admin: Admin,
    kafka_admin: AdminClient,
    producer: Producer,
    new_consumer: Callable[..., Consumer],
    more: dict[str, str],
):
    kafka_admin.create_topics([NewTopic("orders", 1, 1, config=more)])["orders"].result(PATIENCE_S)
    produced(producer, "orders", 1)
    entry = ConfigEntry(SETTING, "LogAppendTime", incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.TOPIC, "orders", incremental_configs=[entry])
    for future in kafka_admin.incremental_alter_configs([resource]).values():
        future.result(PATIENCE_S)
    asked = ConfigResource(ResourceType.TOPIC, "orders")
    assert kafka_admin.describe_configs([asked])[asked].result(PATIENCE_S)[SETTING].value == "LogAppendTime"
    assert admin.topic_config("orders").timestamp_type == "LogAppendTime"
    produced(producer, "orders", 1)
    kinds = [message.timestamp()[0] for message in consumed(new_consumer(), "orders", 2)]
    assert kinds == [TIMESTAMP_CREATE_TIME, TIMESTAMP_LOG_APPEND_TIME]


def test_another_type_is_refused(kafka_admin: AdminClient):
    with pytest.raises(KafkaException):
        kafka_admin.create_topics([NewTopic("bad", 1, 1, config={SETTING: "Noon"})])["bad"].result(PATIENCE_S)


def test_a_time_is_looked_up_among_those_of_the_broker(
    topic: str, producer: Producer, new_consumer: Callable[..., Consumer]
):
    produced(producer, topic, 1)
    (first,) = consumed(new_consumer(), topic, 1)
    appended_ms = first.timestamp()[1]
    consumer = new_consumer("searcher")
    assert consumer.offsets_for_times([Place(topic, 0, appended_ms)], PATIENCE_S)[0].offset == 0
    assert consumer.offsets_for_times([Place(topic, 0, OLD_MS)], PATIENCE_S)[0].offset == 0
    assert consumer.offsets_for_times([Place(topic, 0, appended_ms + 60_000)], PATIENCE_S)[0].offset == -1


def test_messages_of_our_own_clients_have_it_too(
    host: BrokerHost, admin: Admin, topic: str, new_consumer: Callable[..., Consumer]
):
    with OurProducer(host) as producer:
        producer.send(topic, b"v")
    (found,) = consumed(new_consumer(), topic, 1)
    (ours,) = admin.messages(topic, 0)
    assert found.timestamp() == (TIMESTAMP_LOG_APPEND_TIME, ours.timestamp_ms)


def test_aiokafka_and_kafka_python_see_it(topic: str, listener: KafkaListener):
    before_ms = now_ms()

    async def by_aiokafka() -> list[Any]:
        async with AIOKafkaProducer(bootstrap_servers=listener.bootstrap_servers) as producer:
            told = await producer.send_and_wait(topic, b"a", timestamp_ms=OLD_MS)
        async with AIOKafkaConsumer(bootstrap_servers=listener.bootstrap_servers) as consumer:
            consumer.assign([TopicPartition(topic, 0)])
            await consumer.seek_to_beginning()
            return [told, await asyncio.wait_for(consumer.getone(), PATIENCE_S)]

    aio_told, aio_read = asyncio.run(by_aiokafka())
    producer = KafkaProducer(bootstrap_servers=listener.bootstrap_servers)
    told = producer.send(topic, b"b", timestamp_ms=OLD_MS).get(PATIENCE_S)
    producer.close()
    consumer = KafkaConsumer(bootstrap_servers=listener.bootstrap_servers, consumer_timeout_ms=PATIENCE_S * 1_000)
    consumer.assign([PythonPlace(topic, 0)])
    consumer.seek_to_beginning()
    read = [next(consumer), next(consumer)]
    consumer.close()
    after_ms = now_ms()
    assert {each.timestamp_type for each in (aio_told, aio_read, *read)} == {LOG_APPEND_TIME}
    assert aio_told.timestamp == aio_read.timestamp == read[0].timestamp
    assert told.timestamp == read[1].timestamp
    assert before_ms - 1 <= aio_read.timestamp <= read[1].timestamp <= after_ms


def test_setting_and_times_survive_a_restart(tmp_path: Path):
    config = HostConfig(log=LogConfig(durability="file"))
    with BrokerHost(tmp_path, config) as host, KafkaListener(host, port=0) as listener:
        Admin(host).create_topic("orders", log=LogConfig(durability="file", timestamp_type="LogAppendTime"))
        (told,) = produced(Producer({"bootstrap.servers": listener.bootstrap_servers}), "orders", 1)
        appended_ms = told.timestamp()[1]
    for index in tmp_path.rglob("*.index"):
        index.unlink()  # so that the times come from the batches
    with BrokerHost(tmp_path, config) as host, KafkaListener(host, port=0) as listener:
        assert Admin(host).topic_config("orders").timestamp_type == "LogAppendTime"
        consumer = Consumer({"bootstrap.servers": listener.bootstrap_servers, "group.id": "g"})
        (found,) = consumed(consumer, "orders", 1)
        at = consumer.offsets_for_times([Place("orders", 0, appended_ms)], PATIENCE_S)[0].offset
        after = consumer.offsets_for_times([Place("orders", 0, appended_ms + 1)], PATIENCE_S)[0].offset
        consumer.close()
    assert found.timestamp() == (TIMESTAMP_LOG_APPEND_TIME, appended_ms)
    assert (at, after) == (0, -1)


def test_a_batch_that_is_sent_again_is_answered_with_the_time_of_the_first():
    """The producer that lost the first answer learns where and when its messages are stored."""
    with EmbeddedBroker() as broker:
        broker.create_topic("orders", log=LogConfig(durability="memory", timestamp_type="LogAppendTime"))
        broker.clock.stop()
        producer_id, epoch = broker.host.admin(lambda _now: broker.host.broker.producer_ids.register(""))
        batch, _ = encode_batch(0, OLD_MS, [OurMessage(b"a"), OurMessage(b"b")], ProducerStamp(producer_id, epoch, 0))
        partition = {"index": 0, "records": bytes(batch)}
        body = {
            "transactional_id": None,
            "acks": -1,
            "timeout": PATIENCE_S * 1_000,
            "topic_data": [{"name": "orders", "partition_data": [partition]}],
        }
        port = int(broker.bootstrap_servers.rpartition(":")[2])

        def answered() -> tuple[int, int, Any]:
            (topic,) = asked(port, KEYS["Produce"], 9, body).responses
            (told,) = topic.partition_responses
            return told.error_code, told.base_offset, told.log_append_time

        first_ms = round(broker.clock.time.timestamp() * 1_000)
        first = answered()
        broker.clock.advance(60)
        again = answered()
        assert first[:2] == (0, 0) and abs(round(first[2].timestamp() * 1_000) - first_ms) <= 1
        assert again == first
        assert len(broker.messages("orders")) == 2, "it is not stored again"
