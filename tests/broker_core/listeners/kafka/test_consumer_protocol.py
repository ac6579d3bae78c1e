"""The consumer group protocol (KIP-848) with real clients, alone and beside classic members."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from confluent_kafka import Consumer, ConsumerGroupState, Producer
from confluent_kafka.admin import AdminClient

from broker_core import Admin, BrokerHost, HostConfig
from broker_core.groups.config import GroupConfig

PATIENCE_S = 30.0


@pytest.fixture
def host() -> Iterator[BrokerHost]:
    config = GroupConfig(initial_rebalance_delay_ms=50, consumer_heartbeat_interval_ms=100)
    with BrokerHost(config=HostConfig(groups=config)) as made:
        yield made


@pytest.fixture
def new_member(settings: dict[str, Any]) -> Iterator[Callable[..., Consumer]]:
    """Makes members of the group "billing" that speak the consumer protocol, closed at the end."""
    made: list[Consumer] = []

    def make(client: str, **more: Any) -> Consumer:
        usual = {
            "client.id": client,
            "group.id": "billing",
            "group.protocol": "consumer",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
        made.append(Consumer({**settings, **usual, **more}))
        made[-1].subscribe(["orders"])
        return made[-1]

    yield make
    for each in made:
        each.close()


def until(condition: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline_s


def owns(consumer: Consumer, count: int) -> Callable[[], bool]:
    def look() -> bool:
        consumer.poll(0.02)
        return len(consumer.assignment()) == count

    return look


def owners(admin: Admin) -> dict[str, list[int]]:
    return {view.client: [number for _, number in view.partitions] for view in admin.describe_group("billing").members}


def test_members_come_and_go_and_every_message_is_read_once(
    admin: Admin, producer: Producer, new_member: Callable[..., Consumer]
):
    admin.create_topic("orders", 6)
    first = new_member("first")
    until(owns(first, 6))
    second = new_member("second")
    until(lambda: owns(first, 3)() & owns(second, 3)())
    assert owners(admin) == {"first": [0, 1, 2], "second": [3, 4, 5]}
    for number in range(60):
        producer.produce("orders", b"%d" % number, partition=number % 6)
    producer.flush(PATIENCE_S)
    read: list[bytes] = []

    def reading() -> bool:
        for member in (first, second):
            message = member.poll(0.02)
            if message is not None and message.error() is None:
                read.append(message.value() or b"")
                member.commit(message, asynchronous=False)
        return len(read) == 60

    until(reading)
    assert sorted(map(int, read)) == list(range(60))
    assert [offset.lag for offset in admin.lag("billing")] == [0] * 6
    second.close()
    until(owns(first, 6))
    assert owners(admin) == {"first": [0, 1, 2, 3, 4, 5]}


def test_a_running_group_is_upgraded_and_goes_on_as_a_classic_one(
    host: BrokerHost, admin: Admin, new_consumer: Callable[..., Consumer], new_member: Callable[..., Consumer]
):
    admin.create_topic("orders", 4)
    old = new_consumer("old", **{"partition.assignment.strategy": "cooperative-sticky"})
    old.subscribe(["orders"])
    until(owns(old, 4))
    new = new_member("new")
    until(lambda: owns(old, 2)() & owns(new, 2)())
    assert host.call(lambda _now: host.broker.groups.type("billing")) == "consumer"
    new.close()
    until(owns(old, 4))
    assert host.call(lambda _now: host.broker.groups.type("billing")) == "classic"
    assert owners(admin) == {"old": [0, 1, 2, 3]}


def test_an_eager_member_is_upgraded_too(
    admin: Admin, new_consumer: Callable[..., Consumer], new_member: Callable[..., Consumer]
):
    admin.create_topic("orders", 4)
    old = new_consumer("old", **{"partition.assignment.strategy": "range"})
    old.subscribe(["orders"])
    until(owns(old, 4))
    new = new_member("new")
    until(lambda: owns(old, 2)() & owns(new, 2)())
    assert sorted(number for numbers in owners(admin).values() for number in numbers) == [0, 1, 2, 3]


def test_administration_tells_both_protocols_apart(
    admin: Admin, kafka_admin: AdminClient, new_consumer: Callable[..., Consumer], new_member: Callable[..., Consumer]
):
    admin.create_topic("orders", 2)
    member = new_member("first")
    until(owns(member, 2))
    classic = new_consumer("reader", **{"group.id": "classics"})
    classic.subscribe(["orders"])
    until(owns(classic, 2))
    listed = kafka_admin.list_consumer_groups(request_timeout=PATIENCE_S).result(PATIENCE_S).valid
    assert {group.group_id: group.type.name for group in listed} == {"billing": "CONSUMER", "classics": "CLASSIC"}
    for group in ("billing", "classics"):
        told = kafka_admin.describe_consumer_groups([group])[group].result(PATIENCE_S)
        assert told.state is ConsumerGroupState.STABLE
        assert [(place.topic, place.partition) for place in told.members[0].assignment.topic_partitions] == [
            ("orders", 0),
            ("orders", 1),
        ]
