"""Small things that tools and clients read from a broker, as Kafka answers them."""

from __future__ import annotations

import contextlib
import socket
import struct
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, ConfigSource, NewTopic, ResourceType

from broker_core import Admin, BrokerHost, LogConfig
from broker_core.listeners.kafka.listener import KafkaListener
from broker_core.replies import Reply
from tests.broker_core.listeners.kafka.raw import KEYS, Raw, asked, frame_of
from tests.broker_core.listeners.kafka.test_acls import everything
from tests.broker_core.listeners.kafka.test_produce_and_consume import produce

PATIENCE_S = 30


def described(kafka_admin: AdminClient, kind: ResourceType, name: str) -> dict[str, Any]:
    (future,) = kafka_admin.describe_configs([ConfigResource(kind, name)]).values()
    found: dict[str, Any] = future.result(PATIENCE_S)
    return found


def test_settings_that_nobody_has_changed_are_defaults(kafka_admin: AdminClient):
    (made,) = kafka_admin.create_topics([NewTopic("orders", 1, 1, config={"retention.ms": "60000"})]).values()
    made.result(PATIENCE_S)
    sources = {
        name: (ConfigSource(each.source), each.is_default, each.is_read_only)
        for name, each in described(kafka_admin, ResourceType.TOPIC, "orders").items()
    }
    assert sources["retention.ms"] == (ConfigSource.DYNAMIC_TOPIC_CONFIG, False, False)
    assert sources["cleanup.policy"] == (ConfigSource.DEFAULT_CONFIG, True, False)
    assert sources["min.insync.replicas"] == (ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG, False, False)
    assert kafka_admin.describe_acls(everything()).result(PATIENCE_S) == [], "there is no access file"


def test_the_broker_says_where_it_listens_and_what_it_allows(kafka_admin: AdminClient, listener: KafkaListener):
    settings = {name: each.value for name, each in described(kafka_admin, ResourceType.BROKER, "0").items()}
    assert settings["advertised.listeners"] == f"PLAINTEXT://127.0.0.1:{listener.port}"
    assert (settings["group.min.session.timeout.ms"], settings["message.max.bytes"]) == ("6000", "1048588")


@pytest.mark.parametrize(("timeout_ms", "error"), [(5_999, "invalid_session_timeout"), (1_800_001,) * 2, (6_000, "")])
def test_session_timeouts_have_limits(listener: KafkaListener, timeout_ms: int, error: object):
    body = {
        "group_id": "billing",
        "session_timeout": timeout_ms,
        "rebalance_timeout": 60_000,
        "protocol_type": "consumer",
        "protocols": [{"name": "range", "metadata": b"\0\0\0\0\0\0\0\0\0\0"}],
    }
    told = asked(listener.port, KEYS["JoinGroup"], 9, body).error_code.name
    assert told == ("invalid_session_timeout" if error else "member_id_required")


@pytest.mark.parametrize("version", [2, 3, 5])
def test_a_departure_is_answered_when_it_is_kept(
    host: BrokerHost, listener: KafkaListener, monkeypatch: pytest.MonkeyPatch, version: int
):
    """Else a broker that dies right after its answer would wait for who has gone."""
    kept: list[Reply[None]] = []

    def keep() -> Reply[None]:
        kept.append(Reply.of(None))
        return kept[-1]

    monkeypatch.setattr(host, "durable", keep)
    gone = {"member_id": "nobody"}
    asked(
        listener.port, KEYS["LeaveGroup"], version, {"group_id": "g", **(gone if version < 3 else {"members": [gone]})}
    )
    assert len(kept) == 1


def test_the_same_offset_is_committed_with_other_metadata(admin: Admin, settings: dict[str, Any]):
    admin.create_topic("orders")
    consumer = Consumer({**settings, "group.id": "billing"})
    for metadata in ("", "hello", "नमस्ते", ""):
        consumer.commit(offsets=[TopicPartition("orders", 0, 0, metadata)], asynchronous=False)
        (found,) = consumer.committed([TopicPartition("orders", 0)], PATIENCE_S)
        assert (found.offset, found.metadata or "") == (0, metadata)
    consumer.close()


def test_an_offset_beyond_the_end_is_committed(
    host: BrokerHost, admin: Admin, producer: Producer, settings: dict[str, Any]
):
    admin.create_topic("orders")
    produce(producer, "orders", 3)
    consumer = Consumer({**settings, "group.id": "billing", "enable.auto.commit": False})
    consumer.assign([TopicPartition("orders", 0, 0)])
    assert len(consumer.consume(3, PATIENCE_S)) == 3, "a commit before any message was asked for is a reset"
    for offset in (2, 50, 40, 60):
        consumer.commit(offsets=[TopicPartition("orders", 0, offset)], asynchronous=False)
        assert consumer.committed([TopicPartition("orders", 0)], PATIENCE_S)[0].offset == offset
    consumer.close()
    (view,) = admin.lag("billing")
    assert (view.committed, view.lag) == (60, 0)
    assert host.call(lambda _now: host.broker.delivery_record.acknowledged) == 3, (
        "what is not there is not acknowledged"
    )


@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.9"])
def test_a_member_is_described_with_the_address_of_its_client(admin: Admin, listener: KafkaListener, address: str):
    admin.create_topic("orders")
    classic = {
        "group_id": "billing",
        "session_timeout": 6_000,
        "rebalance_timeout": 60_000,
        "protocol_type": "consumer",
        "protocols": [{"name": "range", "metadata": b"\0\0\0\0\0\0\0\0\0\0"}],
    }
    shares = {"group_id": "shoppers", "member_id": "one", "member_epoch": 0, "subscribed_topic_names": ("orders",)}
    with socket.create_connection(("127.0.0.1", listener.port), 30, (address, 0)) as connection:
        # JoinGroup of before MEMBER_ID_REQUIRED
        for key, version, body in ((KEYS["JoinGroup"], 3, classic), (KEYS["ShareGroupHeartbeat"], 1, shares)):
            frame = frame_of(key, version, body)
            connection.sendall(struct.pack(">i", len(frame)) + frame)
            (size,) = struct.unpack(">i", connection.recv(4, socket.MSG_WAITALL))
            assert connection.recv(size, socket.MSG_WAITALL)
        (group,) = asked(listener.port, KEYS["DescribeGroups"], 5, {"groups": ("billing",)}).groups
        (share_group,) = asked(listener.port, KEYS["ShareGroupDescribe"], 1, {"group_ids": ("shoppers",)}).groups
    assert [each.client_host for each in (*group.members, *share_group.members)] == [f"/{address}"] * 2


def test_a_join_without_a_rebalance_timeout_is_taken(listener: KafkaListener):
    """kafkajs sends 0 where none is chosen."""
    body = {
        "group_id": "billing",
        "session_timeout": 6_000,
        "rebalance_timeout": 0,
        "protocol_type": "consumer",
        "protocols": [{"name": "range", "metadata": b"\0\0\0\0\0\0\0\0\0\0"}],
    }
    assert asked(listener.port, KEYS["JoinGroup"], 3, body).error_code.name == "none"


def test_replicas_are_assigned_to_the_one_broker(listener: KafkaListener):
    def made(*brokers: tuple[int, ...], partitions: int = -1, first: int = 0) -> str:
        rows = [{"partition_index": number, "broker_ids": ids} for number, ids in enumerate(brokers, first)]
        topic = {"name": "orders", "num_partitions": partitions, "replication_factor": -1, "assignments": rows}
        told = asked(listener.port, KEYS["CreateTopics"], 7, {"topics": [topic]}).topics[0]
        return told.error_code.name if told.error_code.value else f"{told.num_partitions} partitions"

    assert made((0,), (1,)) == made((0, 1)) == made((0,), first=1) == "invalid_replica_assignment"
    assert made((0,), partitions=1) == "invalid_request"
    assert made((0,), (0,)) == "2 partitions"

    def added(count: int, *brokers: tuple[int, ...]) -> str:
        topic = {"name": "orders", "count": count, "assignments": [{"broker_ids": ids} for ids in brokers]}
        return asked(listener.port, KEYS["CreatePartitions"], 3, {"topics": [topic]}).results[0].error_code.name

    assert added(3, (0,), (0,)) == added(3, (10,)) == "invalid_replica_assignment"
    assert added(3, (0,)) == "none"


def test_a_topic_whose_partitions_nobody_counts_has_the_brokers_number(host: BrokerHost):
    with KafkaListener(host, port=0, create_topics=3) as other:
        topic = {"name": "orders", "num_partitions": -1, "replication_factor": -1}
        told = asked(other.port, KEYS["CreateTopics"], 7, {"topics": [topic]}).topics[0]
    assert told.num_partitions == 3


def test_settings_say_what_stands_in_for_them(admin: Admin, listener: KafkaListener):
    """No names ask for all, as in Kafka."""
    admin.create_topic("orders", log=LogConfig(retention_ms=60_000))
    resource = {"resource_type": 2, "resource_name": "orders", "configuration_keys": ()}
    body = {"resources": [resource], "include_synonyms": True}
    rows = asked(listener.port, KEYS["DescribeConfigs"], 4, body).results[0].configs
    told = {row.name: [(each.name, each.value, each.source) for each in row.synonyms] for row in rows}
    assert told["cleanup.policy"] == [("log.cleanup.policy", "delete", 5)]
    assert told["max.message.bytes"] == [("message.max.bytes", "1048588", 5)]
    assert told["retention.ms"] == [("retention.ms", "60000", 1)]


def test_the_bytes_of_members_are_told_as_they_came(admin: Admin, listener: KafkaListener):
    """@platformatic/kafka says version 1 and ends before the partitions that it owned; its topics are known."""
    admin.create_topic("orders")
    metadata = b"\0\1\0\0\0\1\0\6orders\xff\xff\xff\xff"
    body = {
        "group_id": "billing",
        "session_timeout": 6_000,
        "rebalance_timeout": 6_000,
        "protocol_type": "consumer",
        "protocols": [{"name": "roundrobin", "metadata": metadata}],
    }
    with contextlib.closing(Raw(listener.port)) as member:
        joined = member.asked(KEYS["JoinGroup"], 3, body)
        mine = {"member_id": joined.member_id, "assignment": b"\0\0\0\0\0\1\0\6orders\0\0\0\1\0\0\0\0\xff\xff\xff\xff"}
        synced = {"group_id": "billing", "member_id": joined.member_id, "generation_id": 1, "assignments": [mine]}
        member.asked(KEYS["SyncGroup"], 2, synced)
        (group,) = member.asked(KEYS["DescribeGroups"], 5, {"groups": ["billing"]}).groups
    assert admin.describe_group("billing").members[0].topics == ("orders",)
    (told,) = group.members
    assert (told.member_metadata, told.member_assignment) == (metadata, mine["assignment"])


def test_a_group_of_kip_848_is_no_classic_one(admin: Admin, listener: KafkaListener):
    admin.create_topic("orders")
    body = {
        "group_id": "billing",
        "member_id": "one",
        "member_epoch": 0,
        "rebalance_timeout": 60_000,
        "subscribed_topic_names": ("orders",),
        "topic_partitions": (),
    }
    assert asked(listener.port, KEYS["ConsumerGroupHeartbeat"], 1, body).error_code.name == "none"
    described = [asked(listener.port, KEYS["DescribeGroups"], version, {"groups": ["billing"]}) for version in (5, 6)]
    told = [(each.groups[0].group_state, each.groups[0].error_code.name) for each in described]
    assert told == [("Dead", "none"), ("Dead", "group_id_not_found")]


def test_a_group_with_a_static_member_that_is_away_is_reconciling_wherever_it_is_told(
    admin: Admin, listener: KafkaListener
):
    admin.create_topic("orders")
    body = {"group_id": "billing", "member_id": "one", "instance_id": "pod-1", "member_epoch": 0}
    joining = {"rebalance_timeout": 60_000, "subscribed_topic_names": ("orders",), "topic_partitions": ()}
    for each in ({**body, **joining}, {**body, "member_epoch": -2}):
        assert asked(listener.port, KEYS["ConsumerGroupHeartbeat"], 1, each).error_code.name == "none"
    (described,) = asked(listener.port, KEYS["ConsumerGroupDescribe"], 1, {"group_ids": ["billing"]}).groups
    (listed,) = asked(listener.port, KEYS["ListGroups"], 5, {"states_filter": ["Reconciling"]}).groups
    assert (described.group_state, listed.group_state) == ("Reconciling", "Reconciling")


def test_an_offset_below_zero_is_none(admin: Admin, listener: KafkaListener):
    """kafkajs commits -2 where its offset is out of range, and begins anew."""
    admin.create_topic("orders")

    def committed(offset: int) -> tuple[str, int]:
        row = {"partition_index": 0, "committed_offset": offset}
        body = {"group_id": "billing", "topics": [{"name": "orders", "partitions": [row]}]}
        error = asked(listener.port, KEYS["OffsetCommit"], 7, body).topics[0].partitions[0].error_code.name
        body = {"group_id": "billing", "topics": [{"name": "orders", "partition_indexes": [0]}]}
        return error, asked(listener.port, KEYS["OffsetFetch"], 5, body).topics[0].partitions[0].committed_offset

    assert (committed(7), committed(-2)) == (("none", 7), ("none", -1))
