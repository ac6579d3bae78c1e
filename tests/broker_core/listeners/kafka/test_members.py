"""What members of a group are called, now and over time."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from confluent_kafka import Consumer

from broker_core import Admin, BrokerHost, Event, EventKind
from broker_core.listeners.kafka import fetch
from broker_core.listeners.kafka.call import Waiting
from broker_core.listeners.kafka.listener import KafkaListener
from broker_core.listeners.kafka.members import MOST, PendingMembers
from broker_core.replies import Reply
from broker_core.snapshots import MemberView
from tests.broker_core.listeners.http.raw import until
from tests.broker_core.listeners.kafka.raw import KEYS, Raw


def member_of(admin: Admin, consumer: Consumer) -> str:
    """Have `consumer` join, alone; what it is called."""
    consumer.subscribe(["orders"])
    while True:
        consumer.poll(0.05)
        members = admin.describe_group("billing").members if "billing" in admin.groups() else ()
        if members:
            return members[0].client


@pytest.mark.parametrize("client", ["rdkafka", "aiokafka-0.12.0", "kafka-python-2.2.3", "sarama", "kafkajs"])
def test_one_without_a_client_id_has_a_name_that_no_other_had(client: str):
    pending = PendingMembers()
    assert pending.label("billing", client, {}, "a-1111", 1) == client
    assert pending.label("billing", client, {}, "a-2222", 1) == client, "it joins again, by its connection"
    assert pending.label("billing", client, {}, "a-3333", 2) == f"{client}#3333"
    assert pending.label("billing", client, {}, "a-5555", 2) == f"{client}#3333", "so does this one"
    assert pending.label("shipping", client, {}, "a-4444", 2) == client, "in another group it is the first"


def test_one_with_a_client_id_has_it_again_after_a_restart():
    pending = PendingMembers()
    assert pending.label("billing", "biller", {}, "a-1111", 1) == "biller"
    assert pending.label("billing", "biller", {"a-1111": "biller"}, "a-2222", 2) == "biller#2222", "two at once"
    assert pending.label("billing", "biller", {}, "a-3333", 3) == "biller"
    assert pending.label("billing", "biller", {"a-1111": "biller"}, "a-4444", 1) == "biller#4444", (
        "it comes back to another"
    )


def test_what_is_remembered_of_names_has_an_end():
    pending = PendingMembers()
    for number in range(MOST + 5):
        pending.label(f"group-{number}", "rdkafka", {}, "a-1111", 1)
    assert pending.label("group-0", "rdkafka", {}, "a-2222", 2) == "rdkafka"


def test_two_consumers_one_after_the_other_are_told_apart(
    host: BrokerHost, admin: Admin, new_consumer: Callable[..., Consumer]
):
    admin.create_topic("orders")
    joined: list[Event] = []
    host.events.attach(lambda event: joined.append(event) if event.kind is EventKind.MEMBER_JOINED else None)
    first = new_consumer("rdkafka")
    assert member_of(admin, first) == "rdkafka"
    first.close()
    second = new_consumer("rdkafka")
    assert re.fullmatch(r"rdkafka#[0-9a-f]{4}", member_of(admin, second))
    assert len({event.client for event in joined}) == 2


def test_a_consumer_that_was_kicked_keeps_its_name(
    host: BrokerHost, admin: Admin, new_consumer: Callable[..., Consumer]
):
    admin.create_topic("orders")
    consumer = new_consumer("rdkafka")
    assert member_of(admin, consumer) == "rdkafka"
    host.call(lambda now_ns: host.broker.held.kick(now_ns, "rdkafka", "billing"))
    assert member_of(admin, consumer) == "rdkafka"


def heartbeat(connection: Raw, epoch: int) -> int:
    """Of a member by KIP-848; its epoch."""
    body = {"group_id": "billing", "member_id": "m-1", "member_epoch": epoch}
    joining = {"rebalance_timeout": 60_000, "subscribed_topic_names": ["orders"], "topic_partitions": []}
    answer = connection.asked(KEYS["ConsumerGroupHeartbeat"], 1, body | (joining if epoch == 0 else {}))
    assert not answer.error_code
    return int(answer.member_epoch)


def test_a_member_whose_connection_has_ended_is_told_until_it_is_heard_again(
    host: BrokerHost, admin: Admin, listener: KafkaListener
):
    admin.create_topic("orders")
    told: list[Event] = []
    host.events.attach(lambda event: told.append(event) if event.kind is EventKind.CONNECTION_ENDED else None)
    connection = Raw(listener.port)
    epoch = heartbeat(connection, 0)
    connection.close()
    until(lambda: told)
    assert [(each.client, each.group, each.member_id) for each in told] == [("raw", "billing", "m-1")]

    def member() -> MemberView:
        return admin.describe_group("billing").members[0]

    assert member().lost_ns == told[0].time_ns
    connection = Raw(listener.port)
    heartbeat(connection, epoch)
    assert member().lost_ns is None
    heartbeat(connection, -1)
    connection.close()
    until(lambda: not listener.connections.count())
    assert len(told) == 1, "who has left has not lost its connection"


def test_a_member_has_lost_its_connection_even_if_the_request_that_waits_cannot_be_cancelled(
    host: BrokerHost, admin: Admin, listener: KafkaListener, monkeypatch: pytest.MonkeyPatch
):
    waits: list[Waiting] = []

    def waiting(reply: Reply[None], again: Callable[[Reply[None], int], Any], _cancel: object) -> Waiting:
        waits.append(Waiting(reply, again, lambda: 1 // 0))
        return waits[-1]

    monkeypatch.setattr(fetch, "Waiting", waiting)
    admin.create_topic("orders")
    connection = Raw(listener.port)
    heartbeat(connection, 0)
    topic = {"topic": "orders", "partitions": [{"partition": 0, "partition_max_bytes": 1}]}
    asked = {"max_wait": 60_000, "min_bytes": 1, "topics": [topic], "forgotten_topics_data": ()}
    connection.send(KEYS["Fetch"], 11, asked)
    until(lambda: waits)
    connection.close()
    until(lambda: admin.describe_group("billing").members[0].lost_ns is not None)
