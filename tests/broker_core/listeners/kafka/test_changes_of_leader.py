"""A leader and a coordinator that change, as far as clients can tell; and faults for one topic of several."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from confluent_kafka import Consumer, KafkaError, Producer
from kafka import KafkaConsumer, KafkaProducer

from broker_core import Admin, BrokerHost
from broker_core.listeners.kafka.listener import KafkaListener
from tests.broker_core.listeners.kafka.test_faults import Faults
from tests.broker_core.listeners.kafka.test_produce_and_consume import consume, produce

PATIENCE_S = 30
SENT = [b"%d" % number for number in range(20)]


@pytest.fixture
def faults(host: BrokerHost, admin: Admin) -> Faults:
    """Two changes are to come for each API. aiokafka 0.14 never looks for a coordinator that it loses later."""
    admin.create_topic("orders")
    made = Faults(host)
    for effect, apis in {"leader_change": ("Produce", "Fetch"), "coordinator_change": ("JoinGroup",)}.items():
        for api in apis:
            made.begin(effect=effect, api=api, times=2)
    return made


def met(listener: KafkaListener) -> set[str]:
    """The APIs whose requests have met a fault."""
    return {each.api for each in listener.connections.requests() if "change told" in each.error}


def test_librdkafka_goes_on(
    listener: KafkaListener, faults: Faults, settings: dict[str, Any], new_consumer: Callable[..., Consumer]
):
    producer = Producer({**settings, "enable.idempotence": True, "retry.backoff.ms": 10, "linger.ms": 0})
    for _ in SENT:
        produce(producer, "orders", 1)
    consumer = new_consumer()
    consumer.subscribe(["orders"])
    assert [message.offset() for message in consume(consumer, len(SENT))] == list(range(len(SENT)))
    consumer.commit(asynchronous=False)
    assert {"Produce", "Fetch", "JoinGroup"} <= met(listener)


def test_aiokafka_goes_on(listener: KafkaListener, faults: Faults, admin: Admin):
    async def run() -> list[bytes | None]:
        producer = AIOKafkaProducer(
            bootstrap_servers=listener.bootstrap_servers, enable_idempotence=True, retry_backoff_ms=10
        )
        consumer = AIOKafkaConsumer(
            "orders",
            bootstrap_servers=listener.bootstrap_servers,
            group_id="billing",
            auto_offset_reset="earliest",
            retry_backoff_ms=10,
            heartbeat_interval_ms=100,
        )
        await producer.start()
        for value in SENT:
            await producer.send_and_wait("orders", value)
        await producer.stop()
        await consumer.start()
        found = [(await asyncio.wait_for(consumer.getone(), PATIENCE_S)).value for _ in SENT]
        await consumer.stop()
        return found

    assert asyncio.run(run()) == SENT
    assert {"Produce", "Fetch", "JoinGroup"} <= met(listener)


# kafka-python 3 hangs by itself now and then.
@pytest.mark.long
def test_kafka_python_goes_on(listener: KafkaListener, faults: Faults):
    producer = KafkaProducer(bootstrap_servers=listener.bootstrap_servers, retry_backoff_ms=10)
    for value in SENT:
        producer.send("orders", value).get(PATIENCE_S)
    producer.close()
    consumer = KafkaConsumer(
        "orders",
        bootstrap_servers=listener.bootstrap_servers,
        group_id="billing",
        auto_offset_reset="earliest",
        retry_backoff_ms=10,
        heartbeat_interval_ms=100,
        consumer_timeout_ms=PATIENCE_S * 1_000,
    )
    found = []
    for message in consumer:
        found.append(message.value)
        if len(found) == len(SENT):
            break
    consumer.close()
    assert found == SENT
    assert {"Produce", "Fetch", "JoinGroup"} <= met(listener)


def test_a_fault_for_one_topic_leaves_the_others_alone(host: BrokerHost, admin: Admin, settings: dict[str, Any]):
    for name in ("orders", "mails"):
        admin.create_topic(name)
    Faults(host).begin(effect="error", error="INVALID_RECORD", api="Produce", topic="ord*")
    told: dict[str, int | None] = {}
    for name in ("orders", "mails"):
        producer = Producer(settings)  # each topic in requests of its own
        producer.produce(
            name, b"x", on_delivery=lambda error, message: told.update({message.topic(): error and error.code()})
        )
        producer.flush(PATIENCE_S)
    assert told == {"orders": KafkaError.INVALID_RECORD, "mails": None}
