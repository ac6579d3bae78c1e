"""What one message costs in one process, against `queue.Queue` put + get. Printed, never asserted."""

from __future__ import annotations

import queue
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from broker_core import (
    Admin,
    BrokerHost,
    ConsumerConfig,
    GroupConsumer,
    HostConfig,
    LogConfig,
    Message,
    Producer,
    QueueConfig,
    QueueConsumer,
)
from broker_core.log.config import Durability
from tests.benchmarks.core.measure import Case, show, side_by_side

pytestmark = [pytest.mark.bench, pytest.mark.timeout(900)]

VALUE = b"x" * 100
TOPIC = "bench"
PARTITIONS = 6
POLL = 500


@contextmanager
def in_memory() -> Iterator[BrokerHost]:
    with BrokerHost() as host:
        Admin(host).create_topic(TOPIC, partitions=PARTITIONS)
        yield host


@contextmanager
def on_disk(durability: Durability = "file") -> Iterator[BrokerHost]:
    with tempfile.TemporaryDirectory() as directory:
        with BrokerHost(directory, HostConfig(log=LogConfig(durability=durability))) as host:
            Admin(host).create_topic(TOPIC, partitions=PARTITIONS)
            yield host


def queue_put_get(count: int) -> float:
    line: queue.Queue[bytes] = queue.Queue()
    started = time.perf_counter()
    for _ in range(count):
        line.put(VALUE)
        line.get()
    return time.perf_counter() - started


def publish_one_by_one(count: int) -> float:
    """`publish` returns the offset: the message is stored and can be read."""
    with in_memory() as host, Producer(host) as producer:
        started = time.perf_counter()
        for _ in range(count):
            producer.publish(TOPIC, VALUE)
        return time.perf_counter() - started


def send(host: BrokerHost, count: int) -> float:
    """`send` gives a receipt; what lingers is written in batches, all of it before `flush` returns."""
    with Producer(host) as producer:
        started = time.perf_counter()
        for _ in range(count):
            producer.send(TOPIC, VALUE)
        producer.flush()
        return time.perf_counter() - started


def send_in_memory(count: int) -> float:
    with in_memory() as host:
        return send(host, count)


def send_to_file(count: int) -> float:
    with on_disk() as host:
        return send(host, count)


def publish_many(count: int) -> float:
    messages = [Message(VALUE) for _ in range(count)]
    with in_memory() as host, Producer(host) as producer:
        started = time.perf_counter()
        for first in range(0, count, 10_000):
            producer.publish_many(TOPIC, messages[first : first + 10_000])
        return time.perf_counter() - started


def group_of_many(count: int) -> float:
    """Publish 500, poll up to 500, commit, until everything was read."""
    messages = [Message(VALUE) for _ in range(POLL)]
    config = ConsumerConfig(max_poll_messages=POLL)
    with in_memory() as host, Producer(host) as producer, GroupConsumer(host, "g", [TOPIC], config) as consumer:
        while not consumer.assignment:
            consumer.poll(0.05)
        started = time.perf_counter()
        read = 0
        for _ in range(0, count, POLL):
            producer.publish_many(TOPIC, messages)
            read += len(consumer.poll(0.0))
            consumer.commit()
        while read < count:
            read += len(consumer.poll(0.0))
            consumer.commit()
        return time.perf_counter() - started


def group_of_singles(count: int) -> float:
    """Publish all, one by one, then poll up to 500 and commit until everything was read."""
    config = ConsumerConfig(max_poll_messages=POLL)
    with in_memory() as host, Producer(host) as producer, GroupConsumer(host, "g", [TOPIC], config) as consumer:
        while not consumer.assignment:
            consumer.poll(0.05)
        started = time.perf_counter()
        read = 0
        for _ in range(0, count, POLL):
            for _ in range(POLL):
                producer.publish(TOPIC, VALUE)
            read += len(consumer.poll(0.0))
            consumer.commit()
        while read < count:
            read += len(consumer.poll(0.0))
            consumer.commit()
        return time.perf_counter() - started


def queue_one_by_one(count: int, in_flight: int = 0) -> float:
    with BrokerHost() as host:
        Admin(host).create_queue("jobs", QueueConfig())
        with Producer(host) as producer, QueueConsumer(host, "jobs") as consumer:
            hold(producer, host, in_flight)
            started = time.perf_counter()
            for _ in range(count):
                producer.publish("jobs", VALUE)
                delivery = consumer.take()
                assert delivery is not None and delivery.message.value is not None
                delivery.ack()
            return time.perf_counter() - started


def queue_in_batches(count: int, in_flight: int = 0) -> float:
    """Put 100, take 100, acknowledge them."""
    messages = [Message(VALUE) for _ in range(100)]
    with BrokerHost() as host:
        Admin(host).create_queue("jobs", QueueConfig())
        with Producer(host) as producer, QueueConsumer(host, "jobs") as consumer:
            hold(producer, host, in_flight)
            started = time.perf_counter()
            for _ in range(0, count, 100):
                producer.publish_many("jobs", messages)
                consumer.ack_many(consumer.take_many(100))
            return time.perf_counter() - started


def hold(producer: Producer, host: BrokerHost, in_flight: int) -> None:
    """Somebody else has so many messages in hand."""
    if in_flight:
        producer.publish_many("jobs", [Message(VALUE) for _ in range(in_flight)])
        host.call(lambda now_ns: host.broker.queues.take(now_ns, "jobs", "other", max_messages=in_flight))


def test_rates_in_one_process() -> None:
    cases = [
        Case("queue.Queue put + get", 100_000, queue_put_get),
        Case("publish one by one, in memory", 100_000, publish_one_by_one, 1),
        Case("send, lingered, in memory", 100_000, send_in_memory),
        Case("send, lingered, to file", 100_000, send_to_file, 1.5),
        Case("publish_many, in memory", 200_000, publish_many, 5),
        Case("publish_many -> poll -> commit", 100_000, group_of_many, 1),
        Case("publish -> poll -> commit", 50_000, group_of_singles, 1),
        Case("queue put -> take -> ack, one by one", 5_000, queue_one_by_one, 0.6),
        Case("queue one by one, 100,000 in flight", 5_000, lambda count: queue_one_by_one(count, 100_000), 0.6),
        Case("queue put -> take -> ack, by 100", 50_000, queue_in_batches, 0.6),
        Case("queue by 100, 100,000 in flight", 50_000, lambda count: queue_in_batches(count, 100_000), 0.6),
    ]
    show("One message of 100 bytes", side_by_side(cases))
