"""The Kafka listener with confluent-kafka, beside librdkafka's own mock cluster, which is written in C.

Messages of 100 bytes, one partition, the client's default batches. The mock cluster keeps 5 MB of a partition, so
little is consumed at a time, of both alike.
"""

from __future__ import annotations

import contextlib
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from tests.benchmarks.core.measure import Case, show, show_rows, side_by_side

pytestmark = [pytest.mark.bench, pytest.mark.timeout(600)]

ROOT = Path(__file__).parents[3]
VALUE = b"x" * 100
PRODUCED, CONSUMED = 300_000, 40_000
GOAL = 1.0
IDLE, SINGLE = 500, 500


@contextlib.contextmanager
def ours() -> Iterator[str]:
    """bootstrap.servers"""
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.benchmarks.listeners.kafka_child"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert child.stdout is not None and child.stdin is not None
        yield f"127.0.0.1:{int(child.stdout.readline())}"
        child.stdin.close()
        child.wait(30)
    finally:
        child.kill()
        child.wait()


@contextlib.contextmanager
def mock() -> Iterator[str]:
    """bootstrap.servers of a mock cluster, which lives in a client of this process."""
    keeper = Producer({"bootstrap.servers": "ignored", "test.mock.num.brokers": 1, "log_level": 0})
    (node,) = keeper.list_topics("bench", timeout=10).brokers.values()
    yield f"{node.host}:{node.port}"
    del keeper


def settings(servers: str, **more: Any) -> dict[str, Any]:
    return {"bootstrap.servers": servers, "log_level": 0, "queue.buffering.max.messages": 1_000_000, **more}


def produce(servers: str, count: int) -> float:
    producer = Producer(settings(servers))
    producer.list_topics("bench", timeout=10)
    started_s = time.perf_counter()
    for _ in range(count):
        producer.produce("bench", VALUE, partition=0)
    assert producer.flush(60) == 0
    return time.perf_counter() - started_s


def consume(servers: str, count: int) -> float:
    """The newest `count` messages."""
    consumer = Consumer(settings(servers, **{"group.id": "bench", "fetch.queue.backoff.ms": 1}))
    _, end = consumer.get_watermark_offsets(TopicPartition("bench", 0), timeout=10)
    consumer.assign([TopicPartition("bench", 0, end - count)])
    found = len(consumer.consume(1, 10))  # from the first message on
    started_s = time.perf_counter()
    while found < count:
        found += len(consumer.consume(min(10_000, count - found), 1.0))
    elapsed_s = time.perf_counter() - started_s
    consumer.close()
    return elapsed_s


def test_producing_and_consuming() -> None:
    """Goal: even with the mock cluster, both ways."""
    with ours() as us, mock() as them:
        for servers in (us, them):
            produce(servers, CONSUMED)
        figures = side_by_side(
            [
                Case("produce, librdkafka's mock", PRODUCED, lambda count: produce(them, count)),
                Case("produce, ours", PRODUCED, lambda count: produce(us, count), GOAL),
                Case("consume, librdkafka's mock", CONSUMED, lambda count: consume(them, count)),
                Case(
                    "consume, ours", CONSUMED, lambda count: consume(us, count), GOAL, peer="consume, librdkafka's mock"
                ),
            ]
        )
    show("Kafka: confluent-kafka, batches of its defaults", figures)


def latencies_ms(servers: str) -> list[float]:
    """Of single messages, each waited for, with acks=all and no linger."""
    producer = Producer(settings(servers, **{"linger.ms": 0, "acks": "all"}))
    found = []
    for _ in range(SINGLE):
        started_s = time.perf_counter()
        producer.produce("bench", VALUE, partition=0)
        producer.flush(10)
        found.append((time.perf_counter() - started_s) * 1_000)
    return found


def test_single_messages_beside_idle_connections() -> None:
    """Goal: beside 500 idle connections the p99 is at most 3 times the p50."""
    with ours() as servers:
        port = int(servers.rpartition(":")[2])
        idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(IDLE)]
        rounds = [latencies_ms(servers) for _ in range(5)]
        for connection in idle:
            connection.close()
    p50 = statistics.median(statistics.median(found) for found in rounds)
    p99 = statistics.median(statistics.quantiles(found, n=100)[98] for found in rounds)
    verdict = "met" if p99 <= 3 * p50 else "missed"
    show_rows(
        "Kafka: one message after the other beside 500 idle connections",
        ("p50 ms", "p99 ms", "ratio", "goal", ""),
        [("acks=all, linger 0", f"{p50:.2f}", f"{p99:.2f}", f"{p99 / p50:.1f}", "3", verdict)],
    )
