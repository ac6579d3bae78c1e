"""What many topics, partitions and groups cost: counted in calls, not in seconds."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from broker_core import Admin, BrokerHost
from broker_core.clients.group_consumer import GroupConsumer

FEW, MANY = 200, 800


def steps(action: Callable[[], object]) -> int:
    """How many calls, of Python's own functions too, and lines of loops and generators `action` takes."""
    count = 0

    def seen(_frame: FrameType, _event: str, _argument: Any) -> Any:
        nonlocal count
        count += 1
        return seen

    before = sys.gettrace()
    sys.settrace(seen)
    try:
        action()
    finally:
        sys.settrace(before)
    return count


def topics(count: int) -> None:
    with BrokerHost() as host:
        for number in range(count):
            Admin(host).create_topic(f"topic-{number}")


def queues(count: int) -> None:
    with BrokerHost() as host:
        for number in range(count):
            Admin(host).create_queue(f"queue-{number}")


def partitions(count: int) -> None:
    with BrokerHost() as host:
        Admin(host).create_topic("orders", partitions=count)


def groups(count: int) -> None:
    with BrokerHost() as host:
        Admin(host).create_topic("orders")
        for number in range(count):
            with GroupConsumer(host, f"group-{number}") as consumer:
                consumer.assign([("orders", 0)])
                consumer.poll(0)
                consumer.commit()


@pytest.mark.parametrize("made", [topics, queues, partitions, groups])
def test_what_one_more_costs_does_not_depend_on_how_many_there_are(made: Callable[[int], None]):
    assert steps(lambda: made(MANY)) < 1.4 * MANY / FEW * steps(lambda: made(FEW))
