"""Any Python class can be an actor; the example here is the one of the guide, word for word."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from broker_core.errors import BrokerError
from broker_core.events import Event, EventKind
from broker_core.simulation import Actor, Simulation, parse_scenario

GUIDE = Path(__file__).parents[3] / "resources" / "guides" / "library.md"

EXAMPLE = """\
from broker_core.simulation import Actor, Simulation, parse_scenario


class Thermometer(Actor):
    role = "producer"

    async def run(self):
        while True:
            await self.sleep(0.5)
            await self.publish("readings", f"{self.numbers.gauss(20, 2):.1f}", key=self.name)


simulation = Simulation(parse_scenario("{title: Home, about: Two rooms, until_s: 60, topics: [{name: readings}]}"))
simulation.add(Thermometer("kitchen"))
simulation.add(Thermometer("attic"))
simulation.run()
print(simulation.totals().published)
"""


def test_the_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    exec(EXAMPLE, names)
    assert capsys.readouterr().out == "240\n"
    actors = names["simulation"].snapshot().actors
    assert [(actor.name, actor.role) for actor in actors] == [("kitchen", "producer"), ("attic", "producer")]


def test_the_guide_has_it_word_for_word() -> None:
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text("utf-8"), flags=re.DOTALL)
    assert [block for block in blocks if "(Actor)" in block] == [EXAMPLE]


class Inspector(Actor):
    """Takes one message in two, and gives the others back."""

    async def run(self) -> None:
        for number in range(4):
            (lease,) = await self.broker.queues.take(self.loop.now_ns, "jobs", self.name, deadline_ns=10**18)
            await self.sleep(1)
            if number % 2:
                self.broker.queues.ack(self.loop.now_ns, lease)
                self.count()
            else:
                self.broker.queues.nack(self.loop.now_ns, lease, "not today")


TEXT = """\
title: T
about: x
until_s: 30
queues: [{name: jobs}]
producers: [{name: p, to: jobs, arrivals: {kind: rate, per_s: 1, limit: 2}}]
"""


def test_an_actor_uses_the_broker_as_any_client_does_and_stops_when_its_run_ends() -> None:
    simulation = Simulation(parse_scenario(TEXT))
    inspector = simulation.add(Inspector("inspector"))
    simulation.run()
    assert inspector.processed == 2
    assert inspector.state == "stopped"
    assert simulation.totals().acknowledged == 2


def test_an_actor_that_is_added_later_begins_at_once_and_is_announced() -> None:
    simulation = Simulation(parse_scenario(TEXT))
    events: list[Event] = []
    simulation.events.attach(events.append)
    simulation.run(10)
    simulation.add(Inspector("late"))
    simulation.run(20)
    (started,) = [e for e in events if e.kind is EventKind.CLIENT_STARTED and e.client == "late"]
    assert started.time_ns == 10 * 10**9
    assert simulation.totals().delivered > 0


def test_a_name_is_taken_once() -> None:
    simulation = Simulation(parse_scenario(TEXT))
    simulation.add(Inspector("one"))
    with pytest.raises(BrokerError, match="'ONE' is already taken"):
        simulation.add(Inspector("ONE"))
    simulation.run(1)
    with pytest.raises(BrokerError, match="'P' is already taken"):
        simulation.add(Inspector("P"))


def test_an_actor_draws_its_own_numbers_whoever_else_is_there() -> None:
    def drawn(*others: str) -> list[float]:
        simulation = Simulation(parse_scenario(TEXT))
        for other in others:
            simulation.add(Inspector(other))
        mine = simulation.add(Inspector("mine"))
        simulation.run(1)
        return [mine.numbers.random() for _ in range(3)]

    assert drawn() == drawn("another", "third")


def test_an_actor_that_fails_ends_the_run_with_its_error() -> None:
    class Broken(Actor):
        async def run(self) -> None:
            await self.sleep(1)
            raise RuntimeError("broken on purpose")

    simulation = Simulation(parse_scenario(TEXT))
    simulation.add(Broken("broken"))
    with pytest.raises(RuntimeError, match="on purpose"):
        simulation.run()


def test_an_actor_without_a_run_method_is_named() -> None:
    class Empty(Actor):
        pass

    simulation = Simulation(parse_scenario(TEXT))
    simulation.add(Empty("empty"))
    with pytest.raises(TypeError, match="Empty has no run method"):
        simulation.run()
