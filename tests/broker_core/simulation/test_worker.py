"""What workers count as failed."""

from __future__ import annotations

import pytest

from broker_core.events import Event, EventKind
from broker_core.simulation import Simulation, parse_scenario

TEXT = """
title: Jobs that fail
about: Every job fails, after longer than its lease.
until_s: 20
queues: [{name: jobs, config: {lease_ms: 1000, max_attempts: 1}}]
producers: [{name: planner, to: jobs, arrivals: {kind: rate, per_s: 1}}]
workers:
  - {name: worker, queue: jobs, processing: {kind: constant, mean_ms: MS}, failures: [{cause: x, rate: 1, kind: KIND}]}
"""


@pytest.mark.parametrize(("ms", "kind"), [("1500", "nack"), ("100", "nack"), ("1500", "hang"), ("100", "forget")])
def test_a_failed_delivery_is_counted_once(ms: str, kind: str) -> None:
    """Also if the lease has run out before its worker says so."""
    simulation = Simulation(parse_scenario(TEXT.replace("MS", ms).replace("KIND", kind)))
    events: list[Event] = []
    simulation.events.attach(events.append)
    simulation.start()
    simulation.run(20)
    (worker,) = (actor for actor in simulation.actors.values() if actor.name.startswith("worker"))
    delivered = sum(event.count for event in events if event.kind is EventKind.DELIVERED)
    assert delivered - worker.failed in {0, 1}, "of the last one it is not known yet"
    assert worker.failed > 5
