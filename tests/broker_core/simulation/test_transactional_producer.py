"""Producers of a scenario that publish in transactions."""

from __future__ import annotations

import pytest

from broker_core.clock import s_from_ns
from broker_core.errors import ScenarioError
from broker_core.events import Event, EventKind
from broker_core.recording.checker import Checker
from broker_core.simulation import Simulation, parse_scenario
from broker_core.simulation.actions.clients import RemoveClient, SetProducerRate
from broker_core.simulation.actions.faults import Crash

TEXT = """\
title: Transactions
about: One topic.
until_s: 60
topics: [{name: payments, partitions: 2}]
queues: [{name: jobs}]
groups: [{name: booked, topics: [payments], isolation_level: read_committed}]
producers:
  - {name: shop, to: TARGET, arrivals: {kind: rate, per_s: 10, keys: 20}, transactional: {OPTIONS}}
consumers: [{name: clerk, group: booked}]
"""


class Run:
    def __init__(self, options: str) -> None:
        scenario = parse_scenario(TEXT.replace("TARGET", "payments").replace("OPTIONS", options))
        self.simulation = Simulation(scenario)
        self.events: list[Event] = []
        self.simulation.events.attach(self.events.append)
        self.simulation.events.attach(Checker.of(scenario))

    def ended(self) -> list[tuple[float, str]]:
        return [
            (round(s_from_ns(event.time_ns), 1), event.cause)
            for event in self.events
            if event.kind is EventKind.TRANSACTION_ENDED
        ]

    def lag(self) -> int:
        (group,) = self.simulation.snapshot().groups
        return sum(offset.lag or 0 for offset in group.offsets)


def test_every_so_many_messages_it_commits_and_every_so_many_transactions_it_aborts():
    run = Run("messages: 20, abort_every: 3")
    run.simulation.run(12.05)
    causes = ["committed", "committed", "aborted"] * 2
    assert run.ended() == list(zip((2, 4, 6, 8, 10, 12), causes, strict=True))
    run.simulation.run(12.08)
    assert (run.simulation.actors["shop"].processed, run.simulation.actors["clerk-1"].processed) == (120, 80)
    assert run.lag() == 0


def test_what_a_crash_leaves_open_is_aborted_when_the_producer_is_back():
    run = Run("messages: 50")
    run.simulation.run(2.05)
    run.simulation.perform(Crash("shop", 3))
    run.simulation.run(5.04)
    assert run.ended() == []
    run.simulation.run(5.2)
    assert [cause for _, cause in run.ended()] == ["another producer came"]
    run.simulation.run(12)
    (_, *ended) = [cause for _, cause in run.ended()]
    assert set(ended) == {"committed"}
    assert run.simulation.actors["clerk-1"].processed == 50 * len(ended)


def test_a_transaction_that_is_open_for_too_long_is_aborted_and_the_producer_goes_on():
    run = Run("messages: 1000, timeout_ms: 4000")
    run.simulation.run(9)
    assert [cause for _, cause in run.ended()] == ["timed out", "timed out"]
    assert run.simulation.actors["shop"].processed == 90
    assert run.simulation.actors["clerk-1"].processed == 0


def test_another_rate_does_not_end_the_transaction():
    run = Run("messages: 100")
    run.simulation.run(2.05)
    run.simulation.perform(SetProducerRate("shop", 40))
    run.simulation.run(4.2)
    assert [cause for _, cause in run.ended()] == ["committed"]


def test_a_producer_that_is_removed_aborts():
    run = Run("messages: 100")
    run.simulation.run(2.05)
    run.simulation.perform(RemoveClient("shop"))
    assert [cause for _, cause in run.ended()] == ["aborted"]
    assert run.simulation.snapshot().transactions == ()


def test_the_last_transaction_is_committed_when_nothing_more_arrives():
    text = TEXT.replace("TARGET", "payments").replace("OPTIONS", "messages: 100")
    text = text.replace("per_s: 10,", "per_s: 10, limit: 30,")
    simulation = Simulation(parse_scenario(text))
    simulation.run(5)
    assert simulation.actors["clerk-1"].processed == 30


@pytest.mark.parametrize(
    ("target", "options", "words"),
    [
        ("jobs", "messages: 3", "transactions go to a topic, not to a queue"),
        ("payments", "messages: 0", "messages must be at least 1"),
        ("payments", "messages: 3, abort_every: -1", "abort_every must be at least 0"),
        ("payments", "messages: 3, timeout_ms: 0", "timeout_ms must be at least 1"),
        ("payments", "messages: 3, commit: 1", "commit"),
    ],
)
def test_what_cannot_be_is_refused_with_its_line(target: str, options: str, words: str):
    with pytest.raises(ScenarioError, match=words) as refused:
        parse_scenario(TEXT.replace("TARGET", target).replace("OPTIONS", options))
    assert "line 8" in str(refused.value)
