"""What a condition asks of a running broker and of a snapshot of it is the same."""

from __future__ import annotations

import pytest

from app.environment.paths import find_scenario
from broker_core.broker.occurrences import (
    FIELDS,
    BrokerState,
    Occurrence,
    SnapshotState,
    named_things,
    occurrences,
    only_state,
)
from broker_core.broker.occurrences import tester as judge
from broker_core.clock import NS_PER_S
from broker_core.events import Event, EventKind
from broker_core.filters import parse
from broker_core.simulation import load_scenario
from broker_core.simulation.arrival_files import DataFiles
from broker_core.simulation.simulation import Simulation


def run_to(until_s: int, name: str = "first-session") -> Simulation:
    path = find_scenario(name)
    simulation = Simulation(load_scenario(path)[0], find_file=DataFiles(path))
    simulation.start()
    simulation.loop.run_until(until_s * NS_PER_S)
    return simulation


@pytest.mark.parametrize("name", ["first-session", "lag-and-catch-up", "fan-out"])
@pytest.mark.parametrize("until_s", [12, 40])
def test_a_broker_and_its_snapshot_answer_alike(name: str, until_s: int) -> None:
    simulation = run_to(until_s, name)
    live, seen = BrokerState(simulation.broker, simulation.actors), SnapshotState(simulation.snapshot())
    scenario = simulation.scenario
    groups = [group.name for group in scenario.groups]
    for group in groups:
        assert live.members(group) == seen.members(group)
        assert live.state_of(group) == seen.state_of(group)
        assert live.lag(group) == seen.lag(group)
    for topic in (topic.name for topic in scenario.topics):
        assert sorted(live.readers(topic)) == sorted(seen.readers(topic))
        assert [live.lag(group, topic) for group in groups] == [seen.lag(group, topic) for group in groups]
    for queue in simulation.broker.queues.names():
        assert seen.is_queue(queue)
        assert live.counts(queue) == seen.counts(queue)
    for actor in simulation.actors:
        assert live.state_of(actor) == seen.state_of(actor)
    assert live.transactions() == seen.transactions() == 0


def test_a_named_thing_is_asked_whatever_the_event() -> None:
    simulation = run_to(12)
    state = BrokerState(simulation.broker, simulation.actors)
    lag = state.lag("indexers")
    assert lag is not None and lag > 0
    nothing = Occurrence(None, "", state)
    assert judge(parse('lag("indexers") > 0 and state("indexers") = stable', FIELDS))(nothing)
    assert not judge(parse(f'lag("indexers") > {lag}', FIELDS))(nothing)
    assert judge(parse('members("auditors") = 2', FIELDS))(nothing)
    assert not judge(parse("kind = published", FIELDS))(nothing), "there is no event"


def test_a_publish_concerns_each_reader() -> None:
    simulation = run_to(5)
    state = SnapshotState(simulation.snapshot())
    event = Event(seq=1, time_ns=0, kind=EventKind.PUBLISHED, topic="commits", partition=0, offset=1)
    assert {each.reader for each in occurrences(event, state)} == {"", "indexers", "auditors"}


def test_which_conditions_need_no_event_is_known() -> None:
    condition = parse('lag("indexers") > 3 and dead("builds") = 0', FIELDS)
    assert only_state(condition)
    assert named_things(condition) == (("lag", "indexers"), ("dead", "builds"))
    assert not only_state(parse("lag > 3", FIELDS))
    assert not only_state(parse('lag("indexers") > 3 and ~dlq', FIELDS))
