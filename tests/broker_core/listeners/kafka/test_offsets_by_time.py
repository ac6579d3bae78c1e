"""ListOffsets answers with the records' own times, which a client may set long before the broker's start."""

from __future__ import annotations

from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from broker_core import Admin, BrokerHost
from broker_core.listeners.kafka.listener import KafkaListener
from tests.broker_core.listeners.kafka.raw import KEYS, asked

PATIENCE_S = 30
TIMES = (1_000_000, 3_000_000, 2_000_000, 5_000_000, 4_000_000)  # in 1970


@pytest.mark.parametrize("batches", ["one", "each its own"])
def test_records_are_found_by_their_own_time(tmp_path: Path, batches: str):
    with BrokerHost(tmp_path) as host, KafkaListener(host, port=0) as listener:
        Admin(host).create_topic("orders")
        producer = Producer({"bootstrap.servers": listener.bootstrap_servers, "linger.ms": 50, "log_level": 0})
        for time_ms in TIMES:
            producer.produce("orders", b"x", timestamp=time_ms)
            if batches != "one":
                producer.flush(PATIENCE_S)
        assert producer.flush(PATIENCE_S) == 0
        check(listener)
    with BrokerHost(tmp_path) as host, KafkaListener(host, port=0) as listener:
        check(listener)


def check(listener: KafkaListener) -> None:
    settings = {"bootstrap.servers": listener.bootstrap_servers, "log_level": 0}
    consumer = Consumer({**settings, "group.id": "g"})
    for time_ms, offset in ((0, 0), (1_000_001, 1), (3_000_001, 3), (5_000_000, 3), (5_000_001, -1)):
        (found,) = consumer.offsets_for_times([TopicPartition("orders", 0, time_ms)], PATIENCE_S)
        assert found.offset == offset, time_ms
    consumer.close()
    place = TopicPartition("orders", 0)
    client = AdminClient(settings)
    (future,) = client.list_offsets({place: OffsetSpec.max_timestamp()}).values()
    newest = future.result(PATIENCE_S)
    assert (newest.offset, newest.timestamp) == (3, 5_000_000)
    body = {"topics": [{"name": "orders", "partitions": [{"partition_index": 0, "timestamp": 3_500_000}]}]}
    (answer,) = asked(listener.port, KEYS["ListOffsets"], 9, body).topics[0].partitions
    assert (answer.offset, answer.timestamp) == (3, 5_000_000)
