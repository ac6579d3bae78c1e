"""Promise 39: what a request costs does not grow with what it does not ask for. Counted in steps of the interpreter."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any
from uuid import UUID

import pytest

from broker_core import Admin, BrokerHost, Producer
from broker_core.listeners.kafka.listener import KafkaListener
from tests.broker_core.listeners.kafka.raw import KEYS, served

OTHERS = 300


def steps(action: Callable[[], object]) -> int:
    """How many instructions of the interpreter `action` takes, those in C not counted."""
    count = 0

    def trace(frame: FrameType, event: str, _arg: object) -> Any:
        nonlocal count
        frame.f_trace_lines, frame.f_trace_opcodes = False, True
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        action()
    finally:
        sys.settrace(before)
    return count


@pytest.fixture
def requests(host: BrokerHost, admin: Admin, listener: KafkaListener) -> dict[str, Callable[[], Any]]:
    admin.create_topic("orders")
    Producer(host).publish("orders", b"1")
    topic_id = UUID(bytes=host.broker.logs.topic("orders").id)
    batch = b"".join(host.call(lambda _now: host.broker.logs.partition("orders", 0).read_bytes(0, 1_000)))
    partition = {"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1_000}
    fetched = {"max_wait": 0, "max_bytes": 1_000, "min_bytes": 1}
    return {
        "metadata": lambda: served(host, listener, KEYS["Metadata"], 1, {"topics": [{"name": "orders"}]}),
        "metadata by id": lambda: served(
            host, listener, KEYS["Metadata"], 12, {"topics": [{"name": None, "topic_id": topic_id}]}
        ),
        "fetch": lambda: served(
            host, listener, KEYS["Fetch"], 11, {**fetched, "topics": [{"topic": "orders", "partitions": [partition]}]}
        ),
        "fetch by id": lambda: served(
            host,
            listener,
            KEYS["Fetch"],
            13,
            {**fetched, "topics": [{"topic_id": topic_id, "partitions": [partition]}]},
        ),
        "produce": lambda: served(
            host,
            listener,
            KEYS["Produce"],
            9,
            {
                "acks": 1,
                "timeout": 1_000,
                "topic_data": [{"name": "orders", "partition_data": [{"index": 0, "records": batch}]}],
            },
        ),
    }


def test_a_request_for_one_topic_costs_the_same_beside_many(requests: dict[str, Callable[[], Any]], admin: Admin):
    for name, ask in requests.items():
        assert not re.search("'error_code': [^0]", str(ask())), name  # left out is 0
    before = {name: steps(ask) for name, ask in requests.items()}
    for number in range(OTHERS):
        admin.create_topic(f"other-{number}")
    after = {name: steps(ask) for name, ask in requests.items()}
    assert before.keys() == after.keys()
    for name, count in before.items():
        assert count > 100
        assert after[name] < 1.1 * count + 100, name
