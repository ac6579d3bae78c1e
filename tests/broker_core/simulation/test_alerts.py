"""Alerts: raised once when their condition has held for its time, over when it holds no more; set and removed."""

from __future__ import annotations

import pytest

from broker_core.clock import NS_PER_S
from broker_core.errors import BrokerError, ScenarioError
from broker_core.events import Event, EventKind
from broker_core.simulation import Simulation, parse_scenario
from broker_core.simulation.actions.alerts import RemoveAlert, SetAlert
from broker_core.simulation.replay import RecordedAction, recorded_action
from tests.broker_core.simulation.rerun import rerun

SCENARIO = """\
title: T
about: A burst of ten seconds, then a pause of twenty.
until_s: 60
topics: [{name: orders}]
groups: [{name: billing, topics: [orders]}]
producers: [{name: shop, to: orders, arrivals: {kind: bursty, per_s: 20, on_s: 10, off_s: 20}}]
consumers: [{name: biller, group: billing, processing: {mean_ms: 100}}]
"""
ALERTS = 'alerts: [{name: behind, when: lag("billing") > 40, for_s: 3}]\n'


def run(text: str = SCENARIO + ALERTS, until_s: float = 60) -> tuple[Simulation, list[Event]]:
    simulation = Simulation(parse_scenario(text))
    told: list[Event] = []
    kinds = {EventKind.ALERT_RAISED, EventKind.ALERT_OVER}
    simulation.events.attach(lambda event: told.append(event) if event.kind in kinds else None)
    simulation.start()
    simulation.run(until_s)
    return simulation, told


def test_it_is_raised_once_for_each_time_that_it_holds_long_enough() -> None:
    _simulation, told = run()
    assert [event.kind for event in told] == [EventKind.ALERT_RAISED, EventKind.ALERT_OVER] * 2
    raised, over = told[0], told[1]
    assert raised.cause == over.cause == "behind"
    assert raised.detail is not None and raised.detail["when"] == 'lag("billing") > 40'
    assert raised.time_ns - raised.detail["since_ns"] == 3 * NS_PER_S
    assert over.time_ns > raised.time_ns


def test_what_holds_for_too_short_a_time_is_not_told() -> None:
    assert run(SCENARIO + ALERTS.replace("for_s: 3", "for_s: 25"))[1] == []


def test_it_is_set_replaced_removed_and_undone() -> None:
    simulation, told = run(SCENARIO, 1)
    done = simulation.perform(SetAlert("behind", 'lag("billing") > 40', 0.0))
    assert done.inverse == RemoveAlert("behind")
    replaced = simulation.perform(SetAlert("behind", 'lag("billing") > 50', 1.0))
    assert replaced.inverse == SetAlert("behind", 'lag("billing") > 40', 0.0)
    simulation.run(10)
    assert [event.kind for event in told] == [EventKind.ALERT_RAISED]
    removed = simulation.perform(RemoveAlert("behind"))
    assert removed.inverse == SetAlert("behind", 'lag("billing") > 50', 1.0)
    assert [event.kind for event in told] == [EventKind.ALERT_RAISED, EventKind.ALERT_OVER], "it is over"
    simulation.run(60)
    assert len(told) == 2
    with pytest.raises(BrokerError, match="there is no alert behind"):
        simulation.perform(RemoveAlert("behind"))


def test_an_alert_that_was_set_by_hand_is_raised_again_in_a_rerun() -> None:
    simulation = Simulation(parse_scenario(SCENARIO))
    actions: list[RecordedAction] = []
    simulation.on_action(lambda time_ns, plain: actions.append(recorded_action(time_ns, plain)))
    first: list[Event] = []
    simulation.events.attach(first.append)
    simulation.start()
    simulation.run(4.3)
    simulation.perform(SetAlert("behind", 'lag("billing") > 40', 1.0))
    simulation.run(30)
    second: list[Event] = []
    rerun(simulation.scenario, actions, until_s=30, prepare=lambda again: again.events.attach(second.append))
    assert any(event.kind is EventKind.ALERT_RAISED for event in first)
    assert second == first


def test_an_alert_on_what_is_not_there_is_refused() -> None:
    simulation, _told = run(SCENARIO, 1)
    for when, why in (('lag("biling") > 3', "did you mean billing"), ('members("shop") > 3', "there are billing")):
        with pytest.raises(BrokerError, match=why):
            simulation.perform(SetAlert("behind", when, 0.0))
    simulation.perform(SetAlert("blocked", 'state("shop") = blocked', 0.0))


@pytest.mark.parametrize(
    ("alert", "sentence"),
    [
        ("{name: a, when: lag > 3}", "an alert refers to things by name"),
        ("{name: a, when: ''}", "an alert refers to things by name"),
        (
            "{name: a, when: 'lagg(\"billing\") > 3'}",
            "entry 1 of alerts: There is no field lagg here; did you mean lag?",
        ),
        ("{name: a, when: 'lag(\"biling\") > 3'}", "line 8: biling has no lag here; did you mean billing?"),
        ("{name: a, when: 'lag(\"orders\") > 3'}", "line 8: orders has no lag here; there are billing."),
        ("{name: a, when: 'ready(\"billing\") > 3'}", "line 8: billing has no ready here; nothing has."),
        ("{name: a, when: 'state(\"billing\") = Stabel'}", "state is never Stabel; did you mean Stable?"),
        ("{name: '', when: 'lag(\"billing\") > 3'}", "the name of an alert has 1 to 80 characters"),
        ("{name: a, when: 'lag(\"billing\") > 3', for_s: -1}", "for_s must be at least 0"),
    ],
)
def test_what_is_wrong_is_told(alert: str, sentence: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        parse_scenario(f"{SCENARIO}alerts: [{alert}]\n")
    assert sentence in str(caught.value)
