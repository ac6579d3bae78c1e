"""A scenario's schedule may do whatever a person can do."""

from __future__ import annotations

from broker_core.events import Event, EventKind
from broker_core.simulation import Simulation, parse_scenario
from tests.broker_core.simulation.busy_session import TEXT

SCHEDULE = """\
schedule:
  - {at_s: 1, do: {action: create_topic, topic: extra, partitions: 2}}
  - {at_s: 2, do: {action: subscribe_group, group: readers, topic: extra}}
  - {at_s: 3, do: {action: add_producer, producer: more, to: extra, arrivals: {kind: rate, per_s: 5, keys: 3}}}
  - {at_s: 4, do: {action: fail_matching, at: mails, every: 10, outcome: nack, for_s: 5}}
  - {at_s: 5, do: {action: set_flow, target: bills, flow: {max_messages: 5, policy: reject}}}
  - {at_s: 6, do: {action: produce, to: extra, value: "number $number", count: 3}}
  - {at_s: 7, do: {action: reset_offsets, group: readers, target: {form: timestamp, timestamp_ms: 4000},
                   restart_members: true}}
  - {at_s: 9, do: {action: delete_topic, topic: nothing}}
"""


def test_actions_are_done_in_their_time_and_what_cannot_be_is_told() -> None:
    simulation = Simulation(parse_scenario(TEXT + SCHEDULE))
    events: list[Event] = []
    simulation.events.attach(events.append)
    simulation.run(15)
    snapshot = simulation.snapshot()
    assert "extra" in [topic.name for topic in snapshot.topics]
    assert next(group for group in snapshot.groups if group.name == "readers").topics == ("extra", "orders")
    assert next(actor for actor in snapshot.actors if actor.name == "more").processed > 50
    assert simulation.broker.backpressure.config("bills") is not None
    assert [event.cause for event in events if event.kind is EventKind.OFFSETS_RESET] != []
    faults = [event.cause for event in events if event.kind is EventKind.FAULT]
    assert faults[0] == "every 10th message fails at mails"
    assert "rule rule-1 is over" in faults
    assert any(cause.startswith("could not be done: There is no such topic") for cause in faults)
