"""Topics that come late, grow, go and are made again while clients read: each has an id of its own (KIP-516)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from aiokafka import AIOKafkaConsumer
from confluent_kafka import Consumer, Message, Producer, ShareConsumer
from confluent_kafka.admin import AdminClient
from kafka import KafkaConsumer

from broker_core import BrokerHost, HostConfig
from broker_core.groups.config import GroupConfig
from broker_core.listeners.kafka.listener import KafkaListener
from tests.broker_core.admin import Admin
from tests.broker_core.clients.virtual_broker import VirtualBroker
from tests.broker_core.listeners.kafka.raw import KEYS, asked

PATIENCE_S = 30.0
QUICK = HostConfig(groups=GroupConfig(initial_rebalance_delay_ms=50, consumer_heartbeat_interval_ms=100))
#: Clients ask for the metadata of a topic that is not there every few minutes.
SOON = {"topic.metadata.refresh.interval.ms": 200, "metadata.max.age.ms": 200}


@pytest.fixture
def host() -> Iterator[BrokerHost]:
    with BrokerHost(config=QUICK) as made:
        yield made


def id_of(host: BrokerHost, topic: str = "orders") -> UUID:
    return UUID(bytes=host.broker.logs.topic(topic).id)


def put(settings: dict[str, Any], values: list[bytes], partition: int = 0) -> None:
    producer = Producer(settings)
    for value in values:
        producer.produce("orders", value, partition=partition)
    assert producer.flush(PATIENCE_S) == 0


def test_a_topic_that_is_made_again_has_another_id_and_keeps_it_over_a_restart(tmp_path: Path):
    with BrokerHost(tmp_path) as host:
        admin = Admin(host)
        admin.create_topic("orders")
        first = id_of(host)
        admin.delete_topic("orders")
        admin.create_topic("orders")
        admin.create_queue("jobs")
        ids = [id_of(host), id_of(host, "jobs"), id_of(host, "jobs.dlq")]
    assert ids[0] != first and len(set(ids)) == 3
    with BrokerHost(tmp_path) as host:
        assert [id_of(host), id_of(host, "jobs"), id_of(host, "jobs.dlq")] == ids


def test_what_is_brought_back_is_the_same_topic():
    broker = VirtualBroker().broker
    first = broker.logs.topic("commits").id
    broker.topics.delete(0, "commits")
    broker.recently_deleted.restore(0, "commits")
    assert broker.logs.topic("commits").id == first


def test_a_fetch_by_the_former_id_is_answered_at_once_with_unknown_topic_id(
    host: BrokerHost, admin: Admin, listener: KafkaListener
):
    admin.create_topic("orders")
    former = id_of(host)
    admin.delete_topic("orders")
    admin.create_topic("orders")
    body = {
        "max_wait": 60_000,
        "min_bytes": 1,
        "topics": [
            {"topic_id": each, "partitions": [{"partition": 0, "fetch_offset": 0, "partition_max_bytes": 100}]}
            for each in (former, id_of(host))
        ],
    }
    gone, there = asked(listener.port, KEYS["Fetch"], 17, body).responses
    assert [each.partitions[0].error_code.name for each in (gone, there)] == ["unknown_topic_id", "none"]
    (told,) = asked(listener.port, KEYS["Metadata"], 12, {"topics": [{"topic_id": former, "name": None}]}).topics
    assert told.error_code.name == "unknown_topic_id"


def read(consumer: Any, count: int) -> list[bytes]:
    """The values of so many messages, whatever errors come between."""
    found: list[bytes] = []
    deadline_s = time.monotonic() + PATIENCE_S
    while len(found) < count and time.monotonic() < deadline_s:
        polled = consumer.poll(0.1)
        messages = (polled,) if isinstance(polled, Message) else polled or ()
        found += [message.value() for message in messages if message.error() is None]
    return found


@pytest.mark.parametrize("protocol", ["classic", "consumer", "share"])
def test_members_of_librdkafka_go_on_with_a_topic_that_comes_grows_and_is_made_again(
    host: BrokerHost, admin: Admin, kafka_admin: AdminClient, settings: dict[str, Any], protocol: str
):
    """The topic comes after the subscription; another one goes beside it; messages are in one partition of many."""
    admin.create_topic("other")
    group = {**settings, **SOON, "group.id": "billing", "client.id": "biller"}
    consumer: Any
    if protocol == "share":
        consumer = ShareConsumer(group)
    else:
        consumer = Consumer(
            {
                **group,
                "auto.offset.reset": "earliest",
                **(
                    {"group.protocol": "consumer"}
                    if protocol == "consumer"
                    else {"heartbeat.interval.ms": 100, "session.timeout.ms": 6_000}
                ),
            }
        )
    consumer.subscribe(["orders", "other"])
    joined = until_true(lambda: bool(consumer.poll(0.05)) or _members(host, protocol))
    assert joined
    admin.create_topic("orders", 8)
    put(settings, [b"one", b"two"], partition=5)
    assert sorted(read(consumer, 2)) == [b"one", b"two"]
    outcome(kafka_admin.delete_topics(["other"]))
    admin.create_partitions("orders", 10)
    put(settings, [b"three"], partition=9)
    assert read(consumer, 1) == [b"three"]
    outcome(kafka_admin.delete_topics(["orders"]))
    admin.create_topic("orders", 2)
    put(settings, [b"again", b"and again"], partition=1)
    assert sorted(read(consumer, 2)) == [b"again", b"and again"]
    consumer.close()


def _members(host: BrokerHost, protocol: str) -> bool:
    broker = host.broker
    if protocol == "share":
        return bool(broker.share_groups.members("billing"))
    return bool(broker.groups.clients("billing")) and broker.groups.state("billing") == "Stable"


def until_true(condition: Callable[[], bool]) -> bool:
    deadline_s = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > deadline_s:
            return False
    return True


def outcome(futures: dict[Any, Any]) -> None:
    for future in futures.values():
        future.result(PATIENCE_S)


def test_a_waiting_aiokafka_consumer_goes_on_with_a_topic_that_is_made_again(
    admin: Admin, listener: KafkaListener, settings: dict[str, Any]
):
    admin.create_topic("orders")  # aiokafka does not start without

    async def run() -> list[bytes | None]:
        async with AIOKafkaConsumer(
            "orders",
            bootstrap_servers=listener.bootstrap_servers,
            group_id="billing",
            auto_offset_reset="earliest",
            metadata_max_age_ms=200,
            heartbeat_interval_ms=100,
        ) as consumer:
            found = []
            # It knows topics by name: that its place is in another one shows where that is shorter.
            for values in ([b"a", b"b", b"c"], [b"d"]):
                await asyncio.to_thread(put, settings, values)
                found += [(await asyncio.wait_for(consumer.getone(), PATIENCE_S)).value for _ in values]
                await asyncio.to_thread(admin.delete_topic, "orders")
                await asyncio.to_thread(admin.create_topic, "orders")
            return found

    assert asyncio.run(run()) == [b"a", b"b", b"c", b"d"]


# kafka-python 3 hangs by itself now and then.
@pytest.mark.long
def test_a_waiting_kafka_python_consumer_goes_on_with_a_topic_that_is_made_again(
    admin: Admin, listener: KafkaListener, settings: dict[str, Any]
):
    consumer = KafkaConsumer(
        "orders",
        bootstrap_servers=listener.bootstrap_servers,
        group_id="billing",
        auto_offset_reset="earliest",
        metadata_max_age_ms=200,
        enable_auto_commit=False,
        heartbeat_interval_ms=100,
    )
    consumer.poll(200)
    for values in ([b"a", b"b", b"c"], [b"d"]):
        admin.create_topic("orders")
        put(settings, values)
        found: list[bytes] = []
        deadline_s = time.monotonic() + PATIENCE_S
        while len(found) < len(values) and time.monotonic() < deadline_s:
            found += [each.value for rows in consumer.poll(200).values() for each in rows]
        assert found == values
        admin.delete_topic("orders")
    consumer.close()
