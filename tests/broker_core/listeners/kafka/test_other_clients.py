"""aiokafka and kafka-python, which choose the newest version of each API that both sides know."""

from __future__ import annotations

import asyncio

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from kafka import KafkaConsumer, KafkaProducer
from kafka.admin import KafkaAdminClient

from broker_core import Admin
from broker_core.listeners.kafka.listener import KafkaListener

PATIENCE_MS = 30_000


@pytest.mark.parametrize("codec", [None, "gzip", "snappy", "lz4", "zstd"])
def test_aiokafka_produces_consumes_and_commits(admin: Admin, listener: KafkaListener, codec: str | None):
    async def run() -> list[bytes | None]:
        aiokafka_admin = AIOKafkaAdminClient(bootstrap_servers=listener.bootstrap_servers)
        await aiokafka_admin.start()
        await aiokafka_admin.create_topics([NewTopic("orders", 2, 1)])
        await aiokafka_admin.close()
        async with AIOKafkaProducer(
            bootstrap_servers=listener.bootstrap_servers, compression_type=codec, enable_idempotence=True
        ) as producer:
            for number in range(50):
                await producer.send_and_wait("orders", b"value %d" % number, key=b"k")
        async with AIOKafkaConsumer(
            "orders",
            bootstrap_servers=listener.bootstrap_servers,
            group_id="billing",
            client_id="biller",
            auto_offset_reset="earliest",
            enable_auto_commit=False,
        ) as consumer:
            found = [(await asyncio.wait_for(consumer.getone(), 30)).value for _ in range(50)]
            await consumer.commit()
            return found

    assert asyncio.run(run()) == [b"value %d" % number for number in range(50)]
    assert sum(each.committed or 0 for each in admin.lag("billing")) == 50


# kafka-python 3 hangs by itself now and then.
@pytest.mark.long
@pytest.mark.parametrize("codec", [None, "gzip"])  # those that it brings itself
def test_kafka_python_produces_consumes_and_commits(admin: Admin, listener: KafkaListener, codec: str | None):
    admin.create_topic("orders", 2)
    producer = KafkaProducer(bootstrap_servers=listener.bootstrap_servers, compression_type=codec)
    sent = [producer.send("orders", b"value %d" % number, key=b"k") for number in range(50)]
    producer.flush(30)
    assert sorted(each.get(30).offset for each in sent) == list(range(50))
    producer.close()
    consumer = KafkaConsumer(
        "orders",
        bootstrap_servers=listener.bootstrap_servers,
        group_id="billing",
        client_id="biller",
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        consumer_timeout_ms=PATIENCE_MS,
    )
    found = []
    for message in consumer:
        found.append(message.value)
        if len(found) == 50:
            break
    consumer.commit()
    assert found == [b"value %d" % number for number in range(50)]
    assert sum(each.committed or 0 for each in admin.lag("billing")) == 50
    consumer.close()


def test_kafka_python_administers(admin: Admin, listener: KafkaListener):
    admin.create_topic("orders", 2)
    client = KafkaAdminClient(bootstrap_servers=listener.bootstrap_servers)
    assert client.list_topics() == ["orders"]
    assert client.describe_cluster()["controller_id"] == 0
    client.delete_topics(["orders"])
    assert admin.topics() == ()
    client.close()
