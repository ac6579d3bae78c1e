"""What is recorded of librdkafka, by confluent-kafka."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition, libversion
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic, ResourceType

PATIENCE_S = 60


def _made(servers: str, name: str, partitions: int) -> str:
    admin = AdminClient({"bootstrap.servers": servers})
    (future,) = admin.create_topics([NewTopic(name, partitions, 1)]).values()
    future.result(PATIENCE_S)
    return name


def _sent(servers: str, topic: str, count: int, **more: Any) -> None:
    producer = Producer({"bootstrap.servers": servers, **more})
    for number in range(count):
        producer.produce(topic, f"value{number}", f"key{number}", partition=0)
        producer.flush(PATIENCE_S)


def _read(consumer: Consumer, count: int) -> list[bytes]:
    found: list[bytes] = []
    until_s = time.monotonic() + PATIENCE_S
    while len(found) < count and time.monotonic() < until_s:
        found += [each.value() for each in consumer.consume(count - len(found), 0.2) if each.error() is None]
    return found


def produce_and_consume(servers: str, prefix: str) -> None:
    topic = _made(servers, prefix + "t", 1)
    _sent(servers, topic, 5)
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": prefix + "g",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    consumer.subscribe([topic])
    assert len(_read(consumer, 5)) == 5
    consumer.commit(asynchronous=False)
    consumer.close()


def transactions(servers: str, prefix: str) -> None:
    topic = _made(servers, prefix + "t", 1)
    producer = Producer({"bootstrap.servers": servers, "transactional.id": prefix + "p"})
    producer.init_transactions(PATIENCE_S)
    for value, ends in (("kept", producer.commit_transaction), ("dropped", producer.abort_transaction)):
        producer.begin_transaction()
        producer.produce(topic, value, partition=0)
        producer.flush(PATIENCE_S)
        ends(PATIENCE_S)
    consumer = Consumer({"bootstrap.servers": servers, "group.id": prefix + "g", "isolation.level": "read_committed"})
    consumer.assign([TopicPartition(topic, 0, 0)])
    assert _read(consumer, 1) == [b"kept"]
    consumer.close()


def by_the_broker(servers: str, prefix: str) -> None:
    topic = _made(servers, prefix + "t", 2)
    _sent(servers, topic, 3)
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": prefix + "g",
            "group.protocol": "consumer",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    consumer.subscribe([topic])
    assert len(_read(consumer, 3)) == 3
    consumer.commit(asynchronous=False)
    consumer.close()


def administration(servers: str, prefix: str) -> None:
    topic = _made(servers, prefix + "t", 2)
    admin = AdminClient({"bootstrap.servers": servers})
    resource = ConfigResource(ResourceType.TOPIC, topic)
    for futures in (
        admin.describe_configs([resource]),
        admin.list_consumer_groups(),
        admin.describe_cluster(include_authorized_operations=True),
        admin.delete_topics([topic]),
    ):
        for future in futures.values() if isinstance(futures, dict) else [futures]:
            future.result(PATIENCE_S)


def _named(run: Callable[[str, str], None]) -> Callable[[str, str], str]:
    def told(servers: str, prefix: str) -> str:
        run(servers, prefix)
        return f"librdkafka {libversion()[0]}"

    return told


PROGRAMS = {
    f"librdkafka.{run.__name__}": _named(run)
    for run in (produce_and_consume, transactions, by_the_broker, administration)
}
