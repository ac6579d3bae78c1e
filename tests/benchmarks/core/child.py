"""What is measured in a process of its own; prints JSON."""

from __future__ import annotations

import gc
import json
import os
import sys
from pathlib import Path

from broker_core import Admin, BrokerHost, Message, Producer
from broker_core.broker.broker import Broker

VALUE = b"x" * 100
COUNT = 400_000


def resident_bytes() -> int:
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def fill(directory: str, size: str) -> None:
    """Publish so many bytes into six partitions, and die without closing anything."""
    messages = [Message(VALUE) for _ in range(10_000)]
    host = BrokerHost(directory)
    Admin(host).create_topic("bench", partitions=6)
    with Producer(host) as producer:
        while sum(host.call(lambda _now: log_sizes(host.broker))) < int(size):
            producer.publish_many("bench", messages)
    print(0)
    sys.stdout.flush()
    os._exit(0)


def log_sizes(broker: Broker) -> list[int]:
    return [broker.logs.partition("bench", number).size_bytes for number in range(6)]


def memory(way: str) -> None:
    """Bytes of the process for each message that a topic in memory keeps."""
    for count in (1_000, COUNT):  # first a little, so that what is imported and noted once is there
        with BrokerHost() as host, Producer(host) as producer:
            Admin(host).create_topic("bench", partitions=6)
            before = resident_bytes()
            WAYS[way](producer, count)
            producer.flush()
            host.call(lambda _now: None)
            size = (resident_bytes() - before) / count
    print(json.dumps(size))


def publish(producer: Producer, count: int) -> None:
    for _ in range(count):
        producer.publish("bench", VALUE)


def send(producer: Producer, count: int) -> None:
    for _ in range(count):
        producer.send("bench", VALUE)


def publish_many(producer: Producer, count: int) -> None:
    for _ in range(0, count, 1_000):
        producer.publish_many("bench", [Message(VALUE) for _ in range(1_000)])


WAYS = {"published one by one": publish, "sent, lingered": send, "publish_many": publish_many}

if __name__ == "__main__":
    if sys.argv[1] == "fill":
        fill(*sys.argv[2:])
    else:
        memory(*sys.argv[2:])
