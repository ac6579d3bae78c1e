"""Share groups of a scenario, and their members."""

from __future__ import annotations

import pytest

from broker_core.errors import ScenarioError
from broker_core.events import Event, EventKind
from broker_core.recording.checker import Checker
from broker_core.simulation import Simulation, parse_scenario
from broker_core.simulation.actions.clients import DuplicateClient, RemoveClient
from broker_core.simulation.actions.faults import Crash, Pause

TEXT = """\
title: Share group
about: One topic.
until_s: 200
topics: [{name: orders, partitions: 1}]
groups: [{name: lines, topics: [orders]}]
producers: [{name: shop, to: orders, arrivals: {kind: rate, per_s: 4, limit: 40}}]
share_groups:
  - {name: floor, topics: [orders], count: 3, record_lock_duration_ms: 2000, processing: {mean_ms: 500} OPTIONS}
"""


class Run:
    def __init__(self, options: str = "") -> None:
        scenario = parse_scenario(TEXT.replace(" OPTIONS", options))
        self.simulation = Simulation(scenario)
        self.events: list[Event] = []
        self.simulation.events.attach(self.events.append)
        self.simulation.events.attach(Checker.of(scenario))

    def members(self) -> list[str]:
        return [member.holder for member in self.simulation.broker.share_groups.members("floor")]

    def processed(self) -> list[int]:
        return [self.simulation.actors[name].processed for name in ("floor-1", "floor-2", "floor-3")]

    def of(self, kind: EventKind) -> list[Event]:
        return [event for event in self.events if event.kind is kind]


def test_all_members_work_on_one_partition():
    run = Run()
    run.simulation.run(12)
    assert run.members() == ["floor-1", "floor-2", "floor-3"]
    assert sum(run.processed()) == 40
    assert min(run.processed()) > 5


def test_what_a_crashed_member_had_comes_again_when_its_lock_expires():
    run = Run()
    run.simulation.run(2.1)
    (lease,) = [lease for lease in run.simulation.snapshot().queues[0].leases if lease.holder == "floor-1"]
    run.simulation.perform(Crash("floor-1", 60))
    run.simulation.run(20)
    (expired,) = run.of(EventKind.LEASE_EXPIRED)
    assert (expired.client, expired.offset) == ("floor-1", lease.offset)
    assert sum(run.processed()) == 40
    assert "floor-1" in run.members()  # its session lasts longer
    run.simulation.run(55)
    assert "floor-1" not in run.members()
    run.simulation.run(65)
    assert "floor-1" in run.members()


def test_a_member_that_stood_still_for_longer_than_its_session_joins_again():
    run = Run()
    run.simulation.run(1)
    run.simulation.perform(Pause("floor-1", 60))
    run.simulation.run(58)
    assert "floor-1" not in run.members()
    run.simulation.run(70)
    assert "floor-1" in run.members()


def test_a_message_is_delivered_so_often_and_then_set_aside():
    run = Run(", delivery_count_limit: 2, failures: [{cause: broken, rate: 1}]")
    run.simulation.run(60)
    (queue,) = run.simulation.snapshot().queues
    assert (queue.dead, queue.acknowledged) == (40, 0)
    assert {letter.attempt for letter in run.of(EventKind.DELIVERED)} == {1, 2}


def test_members_come_by_duplication_and_leave_when_they_are_removed():
    run = Run()
    run.simulation.run(1)
    run.simulation.perform(DuplicateClient("floor-3"))
    run.simulation.perform(RemoveClient("floor-1"))
    run.simulation.run(12)
    assert run.members() == ["floor-2", "floor-3", "floor-4"]
    assert run.simulation.actors["floor-4"].processed > 5
    assert run.of(EventKind.LEASE_EXPIRED) == []


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("name: floor, topics: [orders]", "name: floor, topics: [views]", "there is no topic 'views'"),
        ("name: floor, topics: [orders]", "name: floor, topics: [orders, orders]", "'orders' is listed twice"),
        ("name: floor, topics: [orders]", "name: floor, topics: []", "topics must have at least 1 entry"),
        ("name: floor", "name: lines", "the name 'lines' is already taken"),
        ("count: 3", "count: 0", "count must be at least 1"),
        ("record_lock_duration_ms: 2000", "record_lock_duration_ms: 20", "record_lock_duration_ms"),
        (" OPTIONS", ", heartbeat_interval_ms: 0", "heartbeat_interval_ms must be at least 1"),
        (" OPTIONS", ", failures: [{cause: a, rate: 0.6}, {cause: b, rate: 0.6}]", "more than 1"),
    ],
)
def test_what_cannot_be_is_refused_with_its_line(old: str, new: str, words: str):
    with pytest.raises(ScenarioError, match=words) as refused:
        parse_scenario(TEXT.replace(old, new).replace(" OPTIONS", ""))
    assert "line 8" in str(refused.value)
