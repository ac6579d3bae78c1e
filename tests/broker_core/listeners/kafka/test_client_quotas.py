"""Quotas that admins set by Kafka's APIs, and what they do to clients. No client of Python has these APIs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer

from broker_core import Admin, BrokerHost
from broker_core.clock import NS_PER_S
from broker_core.listeners.access.access import Access, Rule
from broker_core.listeners.kafka.listener import KafkaListener
from broker_core.operations.entry import Operation
from tests.broker_core.listeners.kafka.raw import KEYS, asked
from tests.broker_core.listeners.kafka.test_produce_and_consume import consume, produce

RATE = "producer_byte_rate"
PATIENCE_S = 30


def altered(port: int, entity: dict[str, str | None], validate_only: bool = False, **rates: Any) -> int:
    ops = [{"key": key, "value": value or 0.0, "remove": value is None} for key, value in rates.items()]
    rows = [{"entity_type": kind, "entity_name": name} for kind, name in entity.items()]
    body = {"entries": [{"entity": rows, "ops": ops}], "validate_only": validate_only}
    (answer,) = asked(port, KEYS["AlterClientQuotas"], 1, body).entries
    assert {each.entity_type: each.entity_name for each in answer.entity} == entity
    return int(answer.error_code)


def described(port: int, *components: tuple[str, int, str | None], strict: bool = False) -> list[Any]:
    rows = [{"entity_type": kind, "match_type": how, "match": name} for kind, how, name in components]
    answer = asked(port, KEYS["DescribeClientQuotas"], 1, {"components": rows, "strict": strict})
    assert answer.error_code == 0
    return [
        ({each.entity_type: each.entity_name for each in entry.entity}, {each.key: each.value for each in entry.values})
        for entry in answer.entries
    ]


def test_a_producer_beyond_its_quota_is_told(admin: Admin, listener: KafkaListener):
    admin.create_topic("orders")
    assert altered(listener.port, {"client-id": "shop"}, producer_byte_rate=50_000.0) == 0
    told: list[int] = []
    settings = {
        "bootstrap.servers": listener.bootstrap_servers,
        "client.id": "shop",
        "throttle_cb": lambda event: told.append(event.throttle_time),
    }
    producer = Producer(settings)
    produce(producer, "orders", 10, headers={"large": b"x" * 9_000})
    assert told and max(told) > 0


def test_the_next_request_of_who_is_beyond_its_quota_waits(admin: Admin, listener: KafkaListener):
    admin.create_topic("orders")
    altered(listener.port, {"client-id": "shop"}, producer_byte_rate=20_000.0)
    producer = Producer({"bootstrap.servers": listener.bootstrap_servers, "client.id": "shop"})
    produce(producer, "orders", 1, headers={"large": b"x" * 30_000})
    produce(producer, "orders", 1)
    first, second = (each for each in listener.connections.requests() if each.api == "Produce")
    beyond_bytes = first.size_bytes - 20_000  # of one second
    assert second.time_ns - first.time_ns >= beyond_bytes * NS_PER_S // 20_000


def test_a_consumer_beyond_its_quota_gets_all_the_same(
    admin: Admin, listener: KafkaListener, producer: Producer, settings: dict[str, Any]
):
    admin.create_topic("orders")
    produce(producer, "orders", 5, headers={"large": b"x" * 20_000})
    altered(listener.port, {"user": "anybody", "client-id": None}, consumer_byte_rate=60_000.0)
    told: list[int] = []
    consumer = Consumer(
        {
            **settings,
            "group.id": "billing",
            "auto.offset.reset": "earliest",
            "throttle_cb": lambda event: told.append(event.throttle_time),
        }
    )
    consumer.subscribe(["orders"])
    assert len(consume(consumer, 5)) == 5
    consumer.close()
    assert told


def test_quotas_outlive_the_broker(tmp_path: Path):
    told: list[str] = []
    with BrokerHost(tmp_path) as host, KafkaListener(host, port=0) as listener:
        host.events.attach(lambda event: told.append(event.cause))
        altered(listener.port, {"user": "ann"}, producer_byte_rate=1_000.0, consumer_byte_rate=2_000.0)
        altered(listener.port, {"user": "ann"}, consumer_byte_rate=None)
        altered(listener.port, {"user": None, "client-id": "app"}, consumer_byte_rate=3_000.0)
        altered(listener.port, {"user": "bob"}, validate_only=True, producer_byte_rate=1.0)
    assert [cause for cause in told if "_byte_rate" in cause] == [
        "set the producer_byte_rate of user ann to 1000",
        "set the consumer_byte_rate of user ann to 2000",
        "removed the consumer_byte_rate of user ann",
        "set the consumer_byte_rate of every user with client id app to 3000",
    ]
    with BrokerHost(tmp_path) as host, KafkaListener(host, port=0) as listener:
        assert described(listener.port) == [
            ({"user": "ann"}, {"producer_byte_rate": 1_000.0}),
            ({"user": None, "client-id": "app"}, {"consumer_byte_rate": 3_000.0}),
        ]


@pytest.mark.parametrize(
    ("components", "strict", "found"),
    [
        ([("user", 0, "ann")], False, ["a", "ab"]),
        ([("user", 0, "ann")], True, ["a"]),
        ([("user", 1, None)], False, ["default"]),
        ([("user", 2, None)], False, ["a", "ab", "default"]),
        ([("user", 2, None), ("client-id", 0, "app")], True, ["ab"]),
        ([("client-id", 2, None)], True, ["b"]),
        ([("ip", 2, None)], False, []),
    ],
)
def test_filters_find_as_in_kafka(listener: KafkaListener, components: Any, strict: bool, found: list[str]):
    entities: dict[str, dict[str, str | None]] = {
        "a": {"user": "ann"},
        "ab": {"user": "ann", "client-id": "app"},
        "b": {"client-id": "app"},
        "default": {"user": None},
    }
    for entity in entities.values():
        assert altered(listener.port, entity, producer_byte_rate=1.0) == 0
    assert [entity for entity, _ in described(listener.port, *components, strict=strict)] == [
        entities[name] for name in found
    ]


@pytest.mark.parametrize(
    ("entity", "rates"),
    [
        pytest.param({"ip": "10.0.0.1"}, {RATE: 1.0}, id="addresses"),
        pytest.param({}, {RATE: 1.0}, id="nobody"),
        pytest.param({"user": ""}, {RATE: 1.0}, id="an empty name"),
        pytest.param({"user": "ann"}, {RATE: 0.0}, id="a rate of nothing"),
        pytest.param({"user": "ann"}, {RATE: 5.0, "request_percentage": 10.0}, id="a quota that is left out"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_of_it_is_done(
    listener: KafkaListener, entity: dict[str, str | None], rates: dict[str, Any]
):
    assert altered(listener.port, entity, **rates) == 42
    assert described(listener.port) == []


def test_who_may_not_alter_the_cluster_alters_no_quotas(host: BrokerHost):
    with KafkaListener(host, port=0, access=Access((), (Rule("*", tuple(Operation), ("*",)),))) as listener:
        assert altered(listener.port, {"user": "ann"}, producer_byte_rate=1.0) == 31
        assert (
            asked(listener.port, KEYS["DescribeClientQuotas"], 1, {"components": [], "strict": False}).error_code == 31
        )
