"""A broker with a Kafka listener, and Kafka's clients for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient

from broker_core import BrokerHost, HostConfig
from broker_core.groups.config import GroupConfig
from broker_core.listeners.kafka.listener import KafkaListener
from tests.broker_core.admin import Admin

# A group that waits for more members before its first rebalance would make every test wait.
QUICK = HostConfig(groups=GroupConfig(initial_rebalance_delay_ms=50))


@pytest.fixture
def host() -> Iterator[BrokerHost]:
    with BrokerHost(config=QUICK) as made:
        yield made


@pytest.fixture
def admin(host: BrokerHost) -> Admin:
    return Admin(host)


@pytest.fixture
def listener(host: BrokerHost) -> Iterator[KafkaListener]:
    with KafkaListener(host, port=0) as made:
        yield made


@pytest.fixture
def settings(listener: KafkaListener) -> dict[str, Any]:
    """What every client of librdkafka is configured with."""
    return {"bootstrap.servers": listener.bootstrap_servers, "log_level": 0}


@pytest.fixture
def producer(settings: dict[str, Any]) -> Iterator[Producer]:
    made = Producer({**settings, "client.id": "shop"})
    yield made
    made.flush(5)


@pytest.fixture
def kafka_admin(settings: dict[str, Any]) -> AdminClient:
    return AdminClient(settings)


@pytest.fixture
def new_consumer(settings: dict[str, Any]) -> Iterator[Callable[..., Consumer]]:
    """Makes consumers of the group "billing", closed at the end."""
    made: list[Consumer] = []

    def make(client: str = "biller", **more: Any) -> Consumer:
        usual = {
            "client.id": client,
            "group.id": "billing",
            "auto.offset.reset": "earliest",
            "session.timeout.ms": 6_000,
            "heartbeat.interval.ms": 200,
        }
        made.append(Consumer({**settings, **usual, **more}))
        return made[-1]

    yield make
    for each in made:
        each.close()
