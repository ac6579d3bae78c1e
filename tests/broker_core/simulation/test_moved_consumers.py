"""A consumer that is moved into a new group, and where that group starts."""

from __future__ import annotations

import json

import msgspec
import pytest

from broker_core.clock import NS_PER_S
from broker_core.errors import BrokerError
from broker_core.events import Event, EventKind
from broker_core.simulation import Simulation, parse_scenario
from broker_core.simulation.actions.groups import MoveConsumer
from broker_core.simulation.replay import recorded_action

SCENARIO = """
title: A new group
about: One reader, one at rest.
until_s: 30
topics: [{name: orders, partitions: 2}]
groups: [{name: readers, topics: [orders]}]
producers: [{name: shop, to: orders, arrivals: {kind: rate, per_s: 10}}]
consumers:
  - {name: reader, group: readers, processing: {mean_ms: 5}}
  - {name: spare, processing: {mean_ms: 5}}
  - {name: exact, commit: with_effect, processing: {mean_ms: 5}}
"""


@pytest.fixture
def run() -> tuple[Simulation, list[Event]]:
    """Ten seconds on."""
    simulation = Simulation(parse_scenario(SCENARIO))
    events: list[Event] = []
    simulation.events.attach(events.append)
    simulation.run(10)
    return simulation, events


def first_offsets(events: list[Event], group: str) -> dict[int | None, int | None]:
    found: dict[int | None, int | None] = {}
    for event in events:
        if event.kind is EventKind.DELIVERED and event.group == group:
            found.setdefault(event.partition, event.offset)
    return found


def test_a_new_group_starts_at_the_earliest_or_at_the_end(run: tuple[Simulation, list[Event]]) -> None:
    simulation, events = run
    logs = simulation.broker.logs
    ends = {number: logs.end_offset("orders", number) for number in range(2)}
    simulation.perform(MoveConsumer("spare-1", "fresh", "latest"))
    simulation.run(15)
    assert first_offsets(events, "fresh") == ends
    simulation.perform(MoveConsumer("spare-1", "whole"))
    simulation.run(25)
    assert first_offsets(events, "whole") == {0: 0, 1: 0}


def test_it_is_undone_and_done_again_without_going_back(run: tuple[Simulation, list[Event]]) -> None:
    simulation, events = run
    ends = {number: simulation.broker.logs.end_offset("orders", number) for number in range(2)}
    performed = simulation.perform(MoveConsumer("spare-1", "fresh", "latest"))
    simulation.run(13)
    assert performed.inverse == MoveConsumer("spare-1", "")
    undone = simulation.perform(performed.inverse)
    assert undone.inverse is not None
    simulation.run(16)
    simulation.perform(undone.inverse)
    simulation.run(20)
    read = [event for event in events if event.kind is EventKind.DELIVERED and event.group == "fresh"]
    assert max(event.time_ns for event in read) > 16 * NS_PER_S
    assert all((event.offset or 0) >= ends[event.partition or 0] for event in read)


def test_only_a_new_group_starts_at_the_end(run: tuple[Simulation, list[Event]]) -> None:
    simulation, _ = run
    for consumer, group, why in (
        ("spare-1", "readers", "readers is not new, so it does not start at the end; reset its offsets"),
        ("spare-1", "", "spare-1 is already on the bench"),
        ("reader-1", "", "the bench is not new, so it does not start at the end; reset its offsets"),
        ("exact-1", "fresh", "exact-1 stores its position with its effects: it starts at the earliest message"),
    ):
        with pytest.raises(BrokerError) as refused:
            simulation.perform(MoveConsumer(consumer, group, "latest"))
        assert why in str(refused.value)


def test_a_recorded_move_of_before_is_read_and_written_as_before() -> None:
    plain = {"action": "move_consumer", "consumer": "spare-1", "group": "fresh"}
    known = recorded_action(5, plain)
    assert known.action == MoveConsumer("spare-1", "fresh")
    assert json.loads(msgspec.json.encode(known.action)) == plain
    assert known.action.sentence == "moved spare-1 to fresh"
    assert MoveConsumer("spare-1", "fresh", "latest").sentence == "moved spare-1 to fresh to read from the end"
