"""A scenario's schedule may do whatever a person can do."""

from __future__ import annotations

from app.sessions.event_text import event_word
from broker_core.broker.occurrences import FIELDS, SnapshotState, occurrences
from broker_core.broker.occurrences import tester as asking
from broker_core.clock import NS_PER_S
from broker_core.events import MESSAGE_KINDS, Event, EventKind, is_users
from broker_core.filters import parse
from broker_core.recording.session_figures import SessionFigures
from broker_core.simulation import Simulation, parse_scenario
from broker_core.simulation.actions.faults import HoldSchedule
from broker_core.simulation.actions.topics import CreateTopic
from tests.broker_core.simulation.busy_session import TEXT

SCHEDULE = """\
schedule:
  - {at_s: 1, do: {action: create_topic, name: extra, partitions: 2}}
  - {at_s: 2, do: {action: subscribe_group, group: readers, topic: extra}}
  - {at_s: 3, do: {action: add_producer, producer: more, to: extra, arrivals: {kind: rate, per_s: 5, keys: 3}}}
  - {at_s: 4, do: {action: fail_matching, at: mails, every: 10, outcome: nack, for_s: 5}}
  - {at_s: 5, do: {action: configure_topic, topic: bills, flow: {max_messages: 5, policy: reject}}}
  - {at_s: 6, do: {action: produce, to: extra, value: "number $number", count: 3}}
  - {at_s: 7, do: {action: reset_offsets, group: readers, form: timestamp, timestamp_ms: 4000,
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


def test_what_the_schedule_does_is_not_an_action_of_the_user() -> None:
    simulation = Simulation(parse_scenario(TEXT + SCHEDULE))
    events: list[Event] = []
    figures = SessionFigures()
    simulation.events.attach(events.append)
    simulation.events.attach(lambda event: None if event.kind in MESSAGE_KINDS else figures.control(event))
    simulation.run(8)
    simulation.perform(CreateTopic(name="mine"))
    actions = [event for event in events if event.kind is EventKind.USER_ACTION]
    assert len(actions) > 5
    assert [event.cause for event in actions if is_users(event)] == [CreateTopic(name="mine").sentence]
    assert {event_word(event) for event in actions} == {"Scheduled", "My action"}
    state = SnapshotState(simulation.snapshot())
    mine = asking(parse("~mine and action = create_topic", FIELDS))
    assert [event.cause for event in actions if mine(next(iter(occurrences(event, state))))] == [actions[-1].cause]
    assert figures.values(8 * NS_PER_S)["user_actions"] == 1


def test_a_schedule_that_is_held_goes_on_later_and_keeps_its_distances() -> None:
    text = (
        "title: T\nabout: A\nuntil_s: 60\nproducers:\n  - {name: a, to: t, arrivals: {kind: rate, per_s: 1}}\n"
        "topics:\n  - {name: t}\nschedule:\n"
        "  - {at_s: 10, do: {action: crash, client: a, for_s: 2}}\n"
        "  - {at_s: 15, do: {action: pause, client: a, for_s: 2}}\n"
        "  - {at_s: 30, do: {action: slow_down, client: a, factor: 2}}\n"
    )

    def run(*, held: bool) -> list[tuple[str, float]]:
        simulation = Simulation(parse_scenario(text))
        seen: list[tuple[str, float]] = []
        simulation.events.attach(
            lambda event: (
                seen.append((event.cause, event.time_ns / 1e9))
                if event.kind is EventKind.FAULT and event.cause in {"crash", "pause", "slow down 2 times"}
                else None
            )
        )
        simulation.run(8)
        if held:
            simulation.perform(HoldSchedule(True))
        simulation.run(17)
        if held:
            assert seen == [], "all wait, in their order"
            simulation.perform(HoldSchedule(False))
        simulation.run(60)
        return seen

    assert run(held=False) == [("crash", 10.0), ("pause", 15.0), ("slow down 2 times", 30.0)]
    assert run(held=True) == [("crash", 17.0), ("pause", 22.0), ("slow down 2 times", 37.0)]
