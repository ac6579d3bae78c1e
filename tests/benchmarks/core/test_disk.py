"""What a message costs that is on the disk before anybody says so, against two queues in SQLite. Printed only."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable

import litequeue
import persistqueue
import pytest

from broker_core import Admin, BrokerHost, HostConfig, LogConfig, Message, Producer
from tests.benchmarks.core.measure import Case, show, side_by_side

pytestmark = [pytest.mark.bench, pytest.mark.timeout(900)]

VALUE = b"x" * 100
PRODUCERS = 16


def together(count: int, work: Callable[[int], object]) -> float:
    """Seconds that 16 threads take for `count` calls of `work`, each waiting for its own."""
    ready = threading.Barrier(PRODUCERS + 1)

    def run() -> None:
        ready.wait()
        for number in range(count // PRODUCERS):
            work(number)

    threads = [threading.Thread(target=run) for _ in range(PRODUCERS)]
    for thread in threads:
        thread.start()
    ready.wait()
    started = time.perf_counter()
    for thread in threads:
        thread.join()
    return time.perf_counter() - started


def persist_queue(count: int) -> float:
    with tempfile.TemporaryDirectory() as directory:
        line = persistqueue.SQLiteAckQueue(directory, multithreading=True)
        seconds = together(count, lambda _number: line.put(VALUE))
        line.close()
        return seconds


def persist_queue_alone(count: int) -> float:
    with tempfile.TemporaryDirectory() as directory:
        line = persistqueue.SQLiteAckQueue(directory)
        started = time.perf_counter()
        for _ in range(count):
            line.put(VALUE)
        seconds = time.perf_counter() - started
        line.close()
        return seconds


def lite_queue(count: int) -> float:
    """Its commits are not synced: they survive the process, not a power cut."""
    text = VALUE.decode()
    with tempfile.TemporaryDirectory() as directory:
        line = litequeue.LiteQueue(f"{directory}/queue.db")
        started = time.perf_counter()
        for _ in range(count):
            line.put(text)
        seconds = time.perf_counter() - started
        line.close()
        return seconds


def fsync_each(count: int) -> float:
    with tempfile.TemporaryDirectory() as directory:
        with BrokerHost(directory, HostConfig(log=LogConfig(durability="fsync"))) as host:
            Admin(host).create_topic("bench", partitions=6)
            with Producer(host) as producer:
                return together(count, lambda _number: producer.publish("bench", VALUE))


def fsync_alone(count: int) -> float:
    with tempfile.TemporaryDirectory() as directory:
        with BrokerHost(directory, HostConfig(log=LogConfig(durability="fsync"))) as host:
            Admin(host).create_topic("bench", partitions=6)
            with Producer(host) as producer:
                started = time.perf_counter()
                for _ in range(count):
                    producer.publish("bench", VALUE)
                return time.perf_counter() - started


def fsync_lingered(count: int) -> float:
    with tempfile.TemporaryDirectory() as directory:
        with BrokerHost(directory, HostConfig(log=LogConfig(durability="fsync"))) as host:
            Admin(host).create_topic("bench", partitions=6)
            with Producer(host) as producer:
                started = time.perf_counter()
                for _ in range(count):
                    producer.send("bench", VALUE)
                producer.flush()
                return time.perf_counter() - started


def fsync_many(count: int) -> float:
    messages = [Message(VALUE) for _ in range(count)]
    with tempfile.TemporaryDirectory() as directory:
        with BrokerHost(directory, HostConfig(log=LogConfig(durability="fsync"))) as host:
            Admin(host).create_topic("bench", partitions=6)
            with Producer(host) as producer:
                started = time.perf_counter()
                for first in range(0, count, 10_000):
                    producer.publish_many("bench", messages[first : first + 10_000])
                return time.perf_counter() - started


def test_durable_messages_against_queues_in_sqlite() -> None:
    cases = [
        Case("persist-queue put, 16 producers", 1_600, persist_queue),
        Case("persist-queue put, one producer", 500, persist_queue_alone),
        Case("litequeue put, one producer, not synced", 2_000, lite_queue),
        Case("fsync publish, 16 producers, each waits", 8_000, fsync_each, 100),
        Case("fsync publish, one producer that waits", 1_000, fsync_alone),
        Case("fsync send, lingered", 100_000, fsync_lingered, 300),
        Case("fsync publish_many", 100_000, fsync_many),
    ]
    show("One message of 100 bytes on the disk", side_by_side(cases))
