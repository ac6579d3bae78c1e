"""Offsets and settings of share groups by Kafka's APIs (KIP-932), over a restart too.

No client of Python has these APIs yet, so requests are made of the schemas.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import ShareConsumer

from broker_core import Admin, BrokerHost, HostConfig
from broker_core.clients.producer import Producer
from broker_core.events import Event
from broker_core.groups.config import GroupConfig
from broker_core.listeners.access.access import Access, Rule
from broker_core.listeners.kafka.listener import KafkaListener
from broker_core.log.batch import encode_batch
from broker_core.messages import Message
from broker_core.operations.entry import Operation
from broker_core.recording.checker import Checker
from tests.broker_core.listeners.kafka.raw import KEYS, asked
from tests.broker_core.listeners.kafka.test_share_groups import taken
from tests.broker_core.recording.drained import finish

GROUPS = GroupConfig(initial_rebalance_delay_ms=50, consumer_heartbeat_interval_ms=100)
GROUP_RESOURCE, SET = 32, 0


@contextmanager
def opened(path: Path | None = None) -> Iterator[tuple[BrokerHost, int]]:
    with BrokerHost(path, HostConfig(groups=GROUPS)) as host, KafkaListener(host, port=0) as listener:
        yield host, listener.port


@contextmanager
def member(port: int, **more: Any) -> Iterator[ShareConsumer]:
    made = ShareConsumer(
        {"bootstrap.servers": f"127.0.0.1:{port}", "group.id": "workers", "client.id": "one", "log_level": 0, **more}
    )
    made.subscribe(["orders"])
    try:
        yield made
    finally:
        made.close()


def configured(port: int, **settings: str) -> None:
    rows = [
        {"name": name.replace("_", "."), "config_operation": SET, "value": value} for name, value in settings.items()
    ]
    resource = {"resource_type": GROUP_RESOURCE, "resource_name": "workers", "configs": rows}
    body = {"resources": [resource], "validate_only": False}
    (answer,) = asked(port, KEYS["IncrementalAlterConfigs"], 1, body).responses
    assert answer.error_code == 0, answer


def started(host: BrokerHost, port: int, count: int = 6) -> None:
    """The group has read the first `count` messages of `orders`, all acknowledged."""
    Admin(host).create_topic("orders", 1)
    configured(port, share_auto_offset_reset="earliest")
    with Producer(host) as producer:
        for number in range(count):
            producer.publish("orders", b"%d" % number)
    with member(port) as consumer:
        assert len(taken(consumer, count)) == count
        consumer.commit_sync()


def offsets(port: int, group: str = "workers", topics: Any = None) -> Any:
    (answer,) = asked(
        port, KEYS["DescribeShareGroupOffsets"], 1, {"groups": [{"group_id": group, "topics": topics}]}
    ).groups
    return answer


def start_and_lag(port: int) -> tuple[int, int]:
    (topic,) = offsets(port).topics
    (partition,) = topic.partitions
    return partition.start_offset, partition.lag


def altered(port: int, offset: int, partition: int = 0, topic: str = "orders", group: str = "workers") -> int:
    rows = [{"partition_index": partition, "start_offset": offset}]
    body = {"group_id": group, "topics": [{"topic_name": topic, "partitions": rows}]}
    answer = asked(port, KEYS["AlterShareGroupOffsets"], 0, body)
    return int(answer.error_code or answer.responses[0].partitions[0].error_code)


def test_a_group_without_members_reads_again_from_an_earlier_offset():
    with opened() as (host, port):
        seen: list[Event] = []
        host.events.attach(seen.append)
        started(host, port)
        assert start_and_lag(port) == (6, 0)
        assert altered(port, 2) == 0
        assert start_and_lag(port) == (2, 4)
        with member(port) as consumer:
            assert sorted(taken(consumer, 4)) == [b"2", b"3", b"4", b"5"]
            consumer.commit_sync()
        assert start_and_lag(port) == (6, 0)
        assert Admin(host).describe_queue("workers.orders").redelivered == 0
        checker = Checker()
        for event in seen:
            checker(event)
        finish(checker)


def test_a_later_offset_passes_over_what_was_not_read():
    with opened() as (host, port):
        started(host, port)
        with Producer(host) as producer:
            for number in range(6, 10):
                producer.publish("orders", b"%d" % number)
        assert start_and_lag(port) == (6, 4)
        assert altered(port, 9) == 0
        assert start_and_lag(port) == (9, 1)
        with member(port) as consumer:
            assert taken(consumer, 1) == [b"9"]


def test_the_other_partitions_of_a_topic_that_is_new_to_the_group_begin_at_their_start():
    """As Kafka 4.4.0 does, by whatever reset the group begins otherwise."""
    with opened() as (host, port):
        Admin(host).create_topic("orders", 2)
        with Producer(host) as producer:
            for number in range(4):
                producer.publish("orders", b"%d" % number, partition=number % 2)
        configured(port, share_auto_offset_reset="latest")
        assert altered(port, 1) == 0
        with member(port) as consumer:
            assert sorted(taken(consumer, 3)) == [b"1", b"2", b"3"]


def test_what_is_altered_and_what_is_set_outlives_the_broker(tmp_path: Path):
    with opened(tmp_path) as (host, port):
        started(host, port)
        configured(port, share_record_lock_duration_ms="1500", share_delivery_count_limit="3")
        assert altered(port, 4) == 0
    with opened(tmp_path) as (host, port):
        assert start_and_lag(port) == (4, 2)
        resource = {"resource_type": GROUP_RESOURCE, "resource_name": "workers", "configuration_keys": None}
        (described,) = asked(port, KEYS["DescribeConfigs"], 4, {"resources": [resource]}).results
        values = {row.name: row.value for row in described.configs}
        assert values["share.record.lock.duration.ms"] == "1500"
        assert values["share.delivery.count.limit"] == "3"
        (listed,) = asked(port, KEYS["ListGroups"], 5, {"types_filter": ["share"]}).groups
        assert (listed.group_id, listed.group_state) == ("workers", "Empty")


def test_what_a_group_has_read_of_a_topic_is_forgotten():
    with opened() as (host, port):
        started(host, port)
        body = {"group_id": "workers", "topics": [{"topic_name": "orders"}, {"topic_name": "mails"}]}
        answer = asked(port, KEYS["DeleteShareGroupOffsets"], 0, body)
        assert [each.error_code for each in answer.responses] == [0, 3]
        assert (offsets(port).error_code, offsets(port).topics) == (0, ())
        with member(port) as consumer:  # earliest again
            assert len(taken(consumer, 6)) == 6


def test_who_may_only_read_a_group_cannot_make_it_forget():
    rules = (Rule("*", (Operation.READ,), ("*",), groups=("*",)),)
    with opened() as (host, port), KafkaListener(host, port=0, access=Access((), rules)) as guarded:
        started(host, port)
        body = {"group_id": "workers", "topics": [{"topic_name": "orders"}]}
        answer = asked(guarded.port, KEYS["DeleteShareGroupOffsets"], 0, body)
        assert (answer.error_code, answer.responses) == (30, ())
        assert offsets(guarded.port).error_code == 0


def test_a_share_group_is_deleted_like_any_other():
    with opened() as (host, port):
        started(host, port)
        answer = asked(port, KEYS["DeleteGroups"], 2, {"groups_names": ["workers", "nobody"]})
        assert [each.error_code for each in answer.results] == [0, 69]
        assert "workers.orders" not in Admin(host).queues()
        assert asked(port, KEYS["ListGroups"], 5, {}).groups == ()


def with_a_member(port: int, then: Callable[[], int]) -> int:
    with member(port) as consumer:
        consumer.poll(0.2)
        while offsets(port).error_code or not asked(port, KEYS["ListGroups"], 5, {"states_filter": ["Stable"]}).groups:
            consumer.poll(0.1)
        return then()


@pytest.mark.parametrize(
    ("asked_for", "code"),
    [
        pytest.param(lambda port: altered(port, 0, partition=5), 3, id="no such partition"),
        pytest.param(lambda port: altered(port, 0, topic="mails"), 3, id="no such topic"),
        pytest.param(lambda port: with_a_member(port, lambda: altered(port, 0)), 68, id="NON_EMPTY_GROUP"),
    ],
)
def test_what_cannot_be_altered_is_refused(asked_for: Callable[[int], int], code: int):
    with opened() as (host, port):
        started(host, port)
        assert asked_for(port) == code
        assert start_and_lag(port) == (6, 0)


def listed(port: int) -> list[tuple[str, str]]:
    groups = asked(port, KEYS["ListGroups"], 5, {"types_filter": ["share"]}).groups
    return [(each.group_id, each.group_state) for each in groups]


def test_a_share_group_stays_until_it_is_deleted(tmp_path: Path):
    """Without members, without offsets, and over a restart."""
    with opened(tmp_path) as (host, port):
        started(host, port)
        assert listed(port) == [("workers", "Empty")]
        body = {"group_id": "workers", "topics": [{"topic_name": "orders"}]}
        assert asked(port, KEYS["DeleteShareGroupOffsets"], 0, body).responses[0].error_code == 0
        assert listed(port) == [("workers", "Empty")]
    with opened(tmp_path) as (host, port):
        assert listed(port) == [("workers", "Empty")]
        (described,) = asked(port, KEYS["ShareGroupDescribe"], 1, {"group_ids": ["workers"]}).groups
        assert (described.error_code, described.group_state, described.members) == (0, "Empty", ())
        (gone,) = asked(port, KEYS["DeleteGroups"], 2, {"groups_names": ["workers"]}).results
        assert (gone.error_code, listed(port)) == (0, [])
    with opened(tmp_path) as (host, port):
        assert listed(port) == []


def test_a_deleted_share_group_is_there_again_with_what_is_brought_back():
    with opened() as (host, port):
        started(host, port)
        asked(port, KEYS["DeleteGroups"], 2, {"groups_names": ["workers"]})
        assert (offsets(port).error_code, listed(port)) == (0, []), "Kafka says nothing of one that is not there"
        with member(port) as consumer:
            assert len(taken(consumer, 6)) == 6
        assert listed(port) == [("workers", "Empty")]


def test_an_offset_makes_the_group_and_is_in_the_log(tmp_path: Path):
    with opened(tmp_path) as (host, port):
        started(host, port)
        for offset, start in ((7, (6, 0)), (2, (2, 4))):
            assert altered(port, offset, group="later") == 0
            (partition,) = offsets(port, "later").topics[0].partitions
            assert (partition.start_offset, partition.lag) == start
        assert listed(port) == [("workers", "Empty"), ("later", "Empty")]
    with opened(tmp_path) as (host, port):
        (partition,) = offsets(port, "later").topics[0].partitions
        assert (partition.start_offset, partition.lag) == (2, 4)


def test_a_partition_of_which_nobody_has_read_has_no_offset():
    with opened() as (host, port):
        Admin(host).create_topic("orders", 2)
        configured(port, share_auto_offset_reset="earliest")
        row = {"index": 0, "records": bytes(encode_batch(0, 0, [Message(b"one")])[0])}
        asked(port, KEYS["Produce"], 12, {"acks": 1, "topic_data": [{"name": "orders", "partition_data": [row]}]})
        with member(port) as consumer:
            assert taken(consumer, 1) == [b"one"]
            consumer.commit_sync()
        told = {each.partition_index: (each.start_offset, each.lag) for each in offsets(port).topics[0].partitions}
        assert told == {0: (1, 0), 1: (-1, -1)}
        assert altered(port, 0, partition=1) == 0
        told = {each.partition_index: (each.start_offset, each.lag) for each in offsets(port).topics[0].partitions}
        assert told == {0: (1, 0), 1: (0, 0)}


def test_a_topic_without_a_subscription_has_no_offset():
    with opened() as (host, port):
        started(host, port)
        Admin(host).create_topic("mails", 1)
        (topic,) = offsets(port, topics=[{"topic_name": "mails", "partitions": [0]}]).topics
        (partition,) = topic.partitions
        assert (partition.start_offset, partition.lag, partition.error_code) == (-1, -1, 0)
