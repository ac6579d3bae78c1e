"""Topics with a compression.type: what is stored and answered is compressed by it, whatever the producer used."""

from __future__ import annotations

import asyncio
from typing import Any

import crc32c
import pytest
from aiokafka import AIOKafkaConsumer
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, NewTopic, ResourceType
from kafka import KafkaConsumer
from kafka import TopicPartition as PythonPlace

from broker_core import BrokerHost
from broker_core import Producer as OurProducer
from broker_core.listeners.kafka.listener import KafkaListener
from broker_core.log.batch import CODEC_BITS, parse_header
from broker_core.log.compression import CODECS
from tests.broker_core.admin import Admin
from tests.broker_core.log.logs import stored_batches

SETTING = "compression.type"
VALUES = [b"value %d " % number * 20_000 for number in range(3)]  # several blocks of snappy
PATIENCE_S = 30


def codecs(host: BrokerHost, topic: str) -> list[str]:
    """Those of the stored batches, whose checksums hold."""
    log = host.call(lambda _now: host.broker.logs.partition(topic, 0))
    found: list[str] = []
    for batch in stored_batches(log, 0):
        header = parse_header(batch)
        assert header is not None and header.size_bytes == len(batch)
        assert crc32c.crc32c(batch[21:]) == int.from_bytes(batch[17:21], "big")
        found.append(CODECS[header.attributes & CODEC_BITS])
    return found


def alter(kafka_admin: AdminClient, topic: str, value: str | None) -> None:
    kind = AlterConfigOpType.DELETE if value is None else AlterConfigOpType.SET
    entry = ConfigEntry(SETTING, value or "", incremental_operation=kind)
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
    for future in kafka_admin.incremental_alter_configs([resource]).values():
        future.result(PATIENCE_S)


def told(kafka_admin: AdminClient, topic: str) -> str:
    resource = ConfigResource(ResourceType.TOPIC, topic)
    return str(kafka_admin.describe_configs([resource])[resource].result(PATIENCE_S)[SETTING].value)


def test_each_codec_is_stored_and_read_by_every_client(
    host: BrokerHost, kafka_admin: AdminClient, settings: dict[str, Any], listener: KafkaListener, new_consumer: Any
):
    topics = [each for each in CODECS if each != "gzip"] + ["gzip", "producer"]
    for future in kafka_admin.create_topics([NewTopic(each, 1, 1, config={SETTING: each}) for each in topics]).values():
        future.result(PATIENCE_S)
    by_gzip, by_none = Producer({**settings, "compression.type": "gzip", "linger.ms": 50}), Producer(settings)
    for topic in topics:
        assert told(kafka_admin, topic) == topic
        for producer in (by_gzip, by_none):
            for value in VALUES:
                producer.produce(topic, value, b"k", headers=[("h", b"x")], timestamp=1_000_000)
            assert producer.flush(PATIENCE_S) == 0
        stored = set(codecs(host, topic))
        assert stored == ({"gzip", "uncompressed"} if topic == "producer" else {topic})
    consumer: Consumer = new_consumer(**{"check.crcs": True})
    consumer.assign([TopicPartition(topic, 0, 0) for topic in topics])
    found: dict[str, list[Any]] = {topic: [] for topic in topics}
    for _ in range(6 * len(topics)):
        (message,) = consumer.consume(1, PATIENCE_S)
        found[message.topic()].append((message.key(), message.value(), message.headers(), message.timestamp()[1]))
    assert found == {topic: [(b"k", value, [("h", b"x")], 1_000_000) for value in VALUES * 2] for topic in topics}

    async def by_aiokafka() -> set[tuple[str, bytes | None]]:
        async with AIOKafkaConsumer(bootstrap_servers=listener.bootstrap_servers) as reader:
            reader.assign([PythonPlace(topic, 0) for topic in topics])
            await reader.seek_to_beginning()
            got = [await asyncio.wait_for(reader.getone(), PATIENCE_S) for _ in range(6 * len(topics))]
        return {(each.topic, each.value) for each in got}

    assert asyncio.run(by_aiokafka()) == {(topic, value) for topic in topics for value in VALUES}
    python = KafkaConsumer(bootstrap_servers=listener.bootstrap_servers, consumer_timeout_ms=PATIENCE_S * 1_000)
    python.assign([PythonPlace("gzip", 0)])
    python.seek_to_beginning()
    assert [next(python).value for _ in range(6)] == VALUES * 2
    python.close()


def test_a_changed_setting_holds_for_what_comes_later_and_for_our_own_clients(
    host: BrokerHost, admin: Admin, kafka_admin: AdminClient, settings: dict[str, Any]
):
    admin.create_topic("orders")
    assert told(kafka_admin, "orders") == "producer"
    with OurProducer(host) as ours:
        ours.publish("orders", b"a" * 1_000)
        alter(kafka_admin, "orders", "zstd")
        ours.publish("orders", b"b" * 1_000)
    assert admin.topic_config("orders").compression_type == "zstd"
    alter(kafka_admin, "orders", None)
    theirs = Producer({**settings, "compression.type": "lz4"})
    theirs.produce("orders", b"c" * 1_000)
    assert theirs.flush(PATIENCE_S) == 0
    assert codecs(host, "orders") == ["uncompressed", "zstd", "lz4"]
    assert [each.value for each in admin.messages("orders", 0)] == [b"a" * 1_000, b"b" * 1_000, b"c" * 1_000]


def test_what_no_codec_is_is_refused(kafka_admin: AdminClient):
    with pytest.raises(KafkaException) as refused:
        kafka_admin.create_topics([NewTopic("bad", 1, 1, config={SETTING: "rar"})])["bad"].result(PATIENCE_S)
    assert refused.value.args[0].code() == KafkaError.INVALID_CONFIG


def test_what_is_too_large_without_compression_is_refused(
    host: BrokerHost, kafka_admin: AdminClient, settings: dict[str, Any]
):
    limits = {SETTING: "uncompressed", "max.message.bytes": "10000"}
    kafka_admin.create_topics([NewTopic("orders", 1, 1, config=limits)])["orders"].result(PATIENCE_S)
    errors: list[Any] = []
    producer = Producer({**settings, "compression.type": "gzip"})
    producer.produce("orders", bytes(20_000), on_delivery=lambda error, _message: errors.append(error))
    assert producer.flush(PATIENCE_S) == 0
    assert [each.code() for each in errors] == [KafkaError.MSG_SIZE_TOO_LARGE]
    assert codecs(host, "orders") == []
