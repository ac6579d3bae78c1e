"""Promises 38 and 39: what a request costs does not grow with what it does not ask for, and each element of it costs
little. Counted in steps of the interpreter.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from functools import partial
from types import FrameType
from typing import Any
from uuid import UUID

import pytest
from kio.index import load_request_schema

from broker_core import Admin, BrokerHost, Producer
from broker_core.kafka_messages.reading import types_in
from broker_core.listeners.kafka.apis import APIS
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
    batch = b"".join(host.call(lambda _now: host.broker.logs.partition("orders", 0).read_bytes(0, 1_000, 1).pieces))
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


@pytest.mark.promise("39")
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


FEW, MANY = 2, 8
MOST_STEPS = 42_000_000  # for as many elements as an API takes: about half a second
ON_THE_CONNECTION = {"SaslHandshake", "SaslAuthenticate"}


def arrays(schema: Any) -> Iterator[tuple[str, ...]]:
    """The ways to the arrays of a request."""
    for each in fields(schema):
        kinds = types_in(each.type)
        if is_array(kinds):
            yield (each.name,)
        for nested in filter(is_dataclass, kinds):
            yield from ((each.name, *way) for way in arrays(nested))


def is_array(kinds: list[Any]) -> bool:
    return any(getattr(kind, "__origin__", None) is tuple for kind in kinds)


def filled(schema: Any, way: tuple[str, ...], count: int) -> dict[str, Any]:
    """A request whose array at the end of `way` has so many elements, each about another topic, and else one."""
    field = next(each for each in fields(schema) if each.name == way[0])
    kinds = types_in(field.type)
    nested: Any = next(filter(is_dataclass, kinds), None)
    if len(way) > 1:
        inner = filled(nested, way[1:], count)
        return {way[0]: [inner] if is_array(kinds) else inner}
    if nested is None:
        texts = field.metadata["kafka_type"] == "string"
        return {way[0]: [f"topic-{number}" if texts else 2 for number in range(count)]}
    names = [each.name for each in fields(nested) if each.metadata.get("kafka_type") == "string"]
    return {way[0]: [dict.fromkeys(names, f"topic-{number}") for number in range(count)]}


@pytest.mark.promise("38")
def test_promise_38_each_element_of_a_request_costs_little(host: BrokerHost, admin: Admin, listener: KafkaListener):
    for number in range(500):
        admin.create_topic(f"topic-{number}")
    costly = {}
    for api in APIS:
        schema = load_request_schema(api.key, api.newest)
        for way in arrays(schema) if api.name not in ON_THE_CONNECTION else ():
            _, few, many = (  # the first fills caches
                steps(partial(served, host, listener, api.key, api.newest, filled(schema, way, count)))
                for count in (FEW, FEW, MANY)
            )
            most = (many - few) * api.most_elements // (MANY - FEW)
            if most > MOST_STEPS:
                costly[api.name, way] = most
    assert not costly
