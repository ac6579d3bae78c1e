"""Kafka's own AdminClient lists, describes and changes what the broker has."""

from __future__ import annotations

import asyncio
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.admin.config_resource import ConfigResource as AioConfigResource
from aiokafka.admin.config_resource import ConfigResourceType as AioConfigResourceType
from confluent_kafka import ConsumerGroupTopicPartitions, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    ResourceType,
)
from kafka.admin import KafkaAdminClient

from broker_core import BrokerHost
from broker_core.groups.protocol import decode_subscription
from broker_core.listeners.kafka.listener import KafkaListener
from broker_core.log.config import LogConfig
from tests.broker_core.admin import Admin
from tests.broker_core.listeners.kafka.raw import KEYS, asked
from tests.broker_core.listeners.kafka.test_produce_and_consume import consume, produce

PATIENCE_S = 30


def outcome(futures: dict[Any, Any]) -> list[Any]:
    return [future.result(PATIENCE_S) for future in futures.values()]


def code_of(futures: dict[Any, Any]) -> int:
    with pytest.raises(KafkaException) as failed:
        outcome(futures)
    error: KafkaError = failed.value.args[0]
    return error.code()


def test_topics_are_created_with_settings_by_kafkas_names(admin: Admin, kafka_admin: AdminClient):
    settings = {"retention.ms": "60000", "cleanup.policy": "compact", "segment.ms": "90000"}
    outcome(kafka_admin.create_topics([NewTopic("orders", 3, 1, config=settings)]))
    config = admin.topic_config("orders")
    assert (config.retention_ms, config.cleanup, config.segment_ms) == (60_000, "compact", 90_000)
    assert len(admin.describe_topic("orders").partitions) == 3
    (described,) = outcome(kafka_admin.describe_configs([ConfigResource(ResourceType.TOPIC, "orders")]))
    assert {name: described[name].value for name in settings} == settings
    assert "orders" in kafka_admin.list_topics(timeout=PATIENCE_S).topics


@pytest.mark.parametrize(
    ("topic", "code"),
    [
        (NewTopic("orders", 1, 1), KafkaError.TOPIC_ALREADY_EXISTS),
        (NewTopic("a/b", 1, 1), KafkaError.TOPIC_EXCEPTION),
        (NewTopic("new", 1, 3), KafkaError.INVALID_REPLICATION_FACTOR),
        (NewTopic("new", 0, 1), KafkaError.INVALID_PARTITIONS),
        (NewTopic("new", 1, 1, config={"retention.ms": "soon"}), KafkaError.INVALID_CONFIG),
        (NewTopic("new", 1, 1, config={"no.such.setting": "1"}), KafkaError.INVALID_CONFIG),
    ],
)
def test_what_cannot_be_created_is_refused_by_kafkas_errors(admin: Admin, kafka_admin: AdminClient, topic, code):
    admin.create_topic("orders")
    assert code_of(kafka_admin.create_topics([topic])) == code
    assert admin.topics() == ("orders",)


def test_validating_creates_nothing(admin: Admin, kafka_admin: AdminClient):
    outcome(kafka_admin.create_topics([NewTopic("orders", 1, 1)], validate_only=True))
    assert admin.topics() == ()


def test_topics_grow_change_and_go(admin: Admin, kafka_admin: AdminClient):
    admin.create_topic("orders", 2)
    outcome(kafka_admin.create_partitions([NewPartitions("orders", 5)]))
    assert len(admin.describe_topic("orders").partitions) == 5
    assert code_of(kafka_admin.create_partitions([NewPartitions("orders", 4)])) == KafkaError.INVALID_PARTITIONS
    entry = ConfigEntry("retention.ms", "5000", incremental_operation=AlterConfigOpType.SET)
    outcome(
        kafka_admin.incremental_alter_configs(
            [ConfigResource(ResourceType.TOPIC, "orders", incremental_configs=[entry])]
        )
    )
    assert admin.topic_config("orders").retention_ms == 5_000
    outcome(kafka_admin.delete_topics(["orders"]))
    assert admin.topics() == ()
    assert code_of(kafka_admin.delete_topics(["orders"])) == KafkaError.UNKNOWN_TOPIC_OR_PART


def test_settings_are_appended_subtracted_and_kept_as_kafka_keeps_them(tmp_path: Path):
    def alter(admin: AdminClient, name: str, value: str, operation: AlterConfigOpType) -> None:
        entry = ConfigEntry(name, value, incremental_operation=operation)
        outcome(
            admin.incremental_alter_configs([ConfigResource(ResourceType.TOPIC, "orders", incremental_configs=[entry])])
        )

    def described(admin: AdminClient, *names: str) -> list[tuple[str, bool]]:
        (found,) = outcome(admin.describe_configs([ConfigResource(ResourceType.TOPIC, "orders")]))
        return [(found[name].value, found[name].is_default) for name in names]

    delay, ratio, policy = "file.delete.delay.ms", "min.cleanable.dirty.ratio", "cleanup.policy"
    append, subtract = AlterConfigOpType.APPEND, AlterConfigOpType.SUBTRACT
    with BrokerHost(tmp_path) as host, KafkaListener(host, port=0) as listener:
        admin = AdminClient({"bootstrap.servers": listener.bootstrap_servers})
        outcome(admin.create_topics([NewTopic("orders", 1, 1, config={delay: "12345"})]))
        alter(admin, policy, "compact", append)
        alter(admin, policy, "compact", append)
        alter(admin, ratio, "0.1", AlterConfigOpType.SET)
        assert described(admin, policy, delay) == [("delete,compact", False), ("12345", False)]
        assert (Admin(host).topic_config("orders").deletes, Admin(host).topic_config("orders").compacts) == (True, True)
        alter(admin, policy, "delete,compact", subtract)
        assert described(admin, policy) == [("", False)]
        for name, value, operation in (
            (policy, "shred", append),
            ("retention.ms", "5", append),
            (delay, "soon", AlterConfigOpType.SET),
            ("preallocate", "maybe", AlterConfigOpType.SET),
        ):
            with pytest.raises(KafkaException) as refused:
                alter(admin, name, value, operation)
            assert refused.value.args[0].code() == KafkaError.INVALID_CONFIG
    with BrokerHost(tmp_path) as host, KafkaListener(host, port=0) as listener:
        admin = AdminClient({"bootstrap.servers": listener.bootstrap_servers})
        assert described(admin, policy, delay, ratio) == [("", False), ("12345", False), ("0.1", False)]
        replaced = {"resource_type": 2, "resource_name": "orders", "configs": [{"name": ratio, "value": "0.2"}]}
        assert asked(listener.port, KEYS["AlterConfigs"], 2, {"resources": [replaced]}).responses[0].error_code == 0
        assert described(admin, policy, delay, ratio) == [("delete", True), ("60000", True), ("0.2", False)]


def test_records_are_deleted(admin: Admin, kafka_admin: AdminClient, producer: Producer):
    admin.create_topic("orders")
    produce(producer, "orders", 10)
    (deleted,) = outcome(kafka_admin.delete_records([TopicPartition("orders", 0, 4)]))
    assert deleted.low_watermark == 4
    assert admin.describe_topic("orders").partitions[0].start_offset == 4


def test_groups_are_listed_described_and_deleted(
    admin: Admin, kafka_admin: AdminClient, producer: Producer, new_consumer, listener: KafkaListener
):
    admin.create_topic("orders")
    produce(producer, "orders", 10)
    consumer = new_consumer("biller")
    consumer.subscribe(["orders"])
    consume(consumer, 10)
    consumer.commit(asynchronous=False)
    (raw,) = asked(listener.port, 15, 5, {"groups": ["billing"]}).groups
    assert decode_subscription(raw.members[0].member_metadata).topics == ("orders",)
    listed = kafka_admin.list_consumer_groups().result(PATIENCE_S)
    assert [(each.group_id, each.state.name) for each in listed.valid] == [("billing", "STABLE")]
    (described,) = outcome(kafka_admin.describe_consumer_groups(["billing"]))
    (member,) = described.members
    assert (member.client_id, described.partition_assignor) == ("biller", "range")
    assert [(each.topic, each.partition) for each in member.assignment.topic_partitions] == [("orders", 0)]
    assert code_of(kafka_admin.delete_consumer_groups(["billing"])) == KafkaError.NON_EMPTY_GROUP
    consumer.unsubscribe()
    consumer.close()
    (offsets,) = outcome(kafka_admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions("billing")]))
    assert [(each.topic, each.offset) for each in offsets.topic_partitions] == [("orders", 10)]
    outcome(
        kafka_admin.alter_consumer_group_offsets(
            [ConsumerGroupTopicPartitions("billing", [TopicPartition("orders", 0, 2)])]
        )
    )
    assert admin.lag("billing")[0].committed == 2
    outcome(kafka_admin.delete_consumer_groups(["billing"]))
    assert admin.groups() == []


def test_the_cluster_is_this_one_broker(kafka_admin: AdminClient):
    described = kafka_admin.describe_cluster().result(PATIENCE_S)
    assert described.cluster_id == "brokerscope"
    assert [node.id for node in described.nodes] == [0]


def test_the_data_directory_and_the_size_of_each_partition_are_told(tmp_path: Path):
    with BrokerHost(tmp_path) as host, KafkaListener(host, port=0) as listener:
        Admin(host).create_topic("orders", 2)
        with closing(KafkaAdminClient(bootstrap_servers=listener.bootstrap_servers)) as client:
            (empty,) = client.describe_log_dirs()[0]["log_dirs"]
            producer = Producer({"bootstrap.servers": listener.bootstrap_servers})
            produce(producer, "orders", 10)
            (told,) = client.describe_log_dirs()[0]["log_dirs"]
    assert told["log_dir"] == str(tmp_path)
    assert 0 < told["usable_bytes"] <= told["total_bytes"]

    def size(log_dir: dict[str, Any]) -> int:
        (orders,) = log_dir["topics"]
        return sum(each["partition_size"] for each in orders["partitions"])

    assert size(empty) == 0
    assert size(told) == sum(each.stat().st_size for each in tmp_path.glob("orders-*/*.log"))


def test_a_broker_in_memory_has_no_disk(listener: KafkaListener):
    (told,) = asked(listener.port, KEYS["DescribeLogDirs"], 5, {"topics": None}).results
    assert (told.log_dir, told.total_bytes, told.usable_bytes) == ("memory", -1, -1)


def test_the_old_alter_configs_sets_back_what_it_does_not_name(admin: Admin, listener: KafkaListener):
    admin.create_topic("orders", log=LogConfig(retention_ms=5_000, cleanup="compact"))

    async def alter() -> None:
        client = AIOKafkaAdminClient(bootstrap_servers=listener.bootstrap_servers)
        await client.start()
        try:
            settings = {"retention.ms": "7000"}
            await client.alter_configs([AioConfigResource(AioConfigResourceType.TOPIC, "orders", settings)])
        finally:
            await client.close()

    asyncio.run(alter())
    config = admin.topic_config("orders")
    assert (config.retention_ms, config.cleanup) == (7_000, LogConfig().cleanup)
