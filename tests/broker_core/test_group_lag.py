"""The lag of a whole group."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec
import pytest

from broker_core.broker.occurrences import asked_lag
from broker_core.clients.admin import Admin
from broker_core.clients.group_consumer import GroupConsumer
from broker_core.clients.membership import ConsumerConfig
from broker_core.clients.producer import Producer
from broker_core.engine.broker_host import BrokerHost
from broker_core.events import Event, EventKind
from broker_core.filters import parse
from broker_core.groups.commits import lag_behind
from broker_core.snapshots import GroupView, OffsetView


def partition(number: int, end_offset: int, begin: int | None) -> OffsetView:
    lag = lag_behind(0, end_offset, begin, lambda _offset: None)[0]
    return OffsetView("orders", number, "reader", begin, begin, end_offset, lag, None)


@pytest.mark.parametrize(
    ("partitions", "lag", "unknown"),
    [
        (((10, 4), (8, 8)), 6, 0),
        (((10, None), (8, 1)), 7, 1),  # not known is not 0
        (((10, 4), (0, None)), 6, 0),  # what holds nothing is known
        (((10, None), (0, None)), 0, 1),
        (((10, None), (9, None)), None, 2),
        (((0, None), (0, None)), 0, 0),
        ((), None, 0),
    ],
)
def test_the_lag_of_a_group_is_what_is_known_and_how_much_is_not(
    partitions: tuple[tuple[int, int | None], ...], lag: int | None, unknown: int
) -> None:
    offsets = tuple(partition(number, *each) for number, each in enumerate(partitions))
    group = GroupView("g", "Stable", 1, "range", "", ("orders",), (), offsets, 0)
    assert (group.lag, group.lag_unknown) == (lag, unknown)
    assert msgspec.structs.replace(group, topics=()).lag_unknown == 0  # nobody reads it


@pytest.mark.parametrize(
    ("condition", "holds"),
    [("lag > 5", True), ("lag >= 7", True), ("lag > 7", False), ("lag < 100", False), ("lag = 7", False)],
)
def test_a_lag_that_may_be_greater_is_above_what_is_known_and_never_below(condition: str, holds: bool) -> None:
    asked = asked_lag([(7, True), (None, True)])
    assert parse(condition).matches({"lag": asked}) is holds
    assert parse("lag = 7").matches({"lag": asked_lag([(7, True), (None, False)])})
    assert asked_lag([(None, True)]) is None


@pytest.fixture
def host() -> Iterator[BrokerHost]:
    with BrokerHost() as running:
        yield running


def test_before_the_first_commit_it_counts_from_where_the_reader_begins(host: BrokerHost) -> None:
    admin, events = Admin(host), list[Event]()
    admin.create_topic("orders", 2)
    host.call(lambda _now: host.events.attach(events.append))
    producer = Producer(host)
    for number in range(6):
        producer.send("orders", b"x", partition=number % 2).result(5)
    starts: dict[str, Literal["earliest", "latest"]] = {"early": "earliest", "late": "latest"}
    readers = [
        GroupConsumer(host, name, ["orders"], ConsumerConfig(auto_offset_reset=at)) for name, at in starts.items()
    ]
    for reader in readers:
        reader.poll(0.2, max_messages=1)
    producer.send("orders", b"x", partition=0).result(5)
    began = [(event.group, event.partition, event.offset) for event in events if event.kind is EventKind.READING_BEGAN]
    assert sorted(began) == [("early", 0, 0), ("early", 1, 0), ("late", 0, 3), ("late", 1, 3)]
    assert {name: (view.lag, view.lag_unknown) for name in starts for view in [admin.describe_group(name)]} == {
        "early": (7, 0),
        "late": (1, 0),
    }
    for reader in readers:
        reader.close()
