"""What a report reads from a scenario is what the scenario sets for the session."""

from __future__ import annotations

import pytest

from broker_core.simulation.scenario import Scenario
from broker_core.simulation.specs import GroupSpec, ShareGroupSpec, SubscriberSpec
from spark_reports.findings.scenario import ScenarioSettings

SHARED = ShareGroupSpec(name="billing.eu", topics=("orders", "a.b"), record_lock_duration_ms=1_000)
ONE = SubscriberSpec(name="metrics.eu", topics=("orders",))
TWO = SubscriberSpec(name="audit", topics=("orders", "a.b"))
SETTINGS = ScenarioSettings("""
share_groups: [{name: billing.eu, topics: [orders, a.b], record_lock_duration_ms: 1000, delivery_count_limit: 3}]
subscribers:
  - {name: metrics.eu, topics: [orders], config: {lease_ms: 1500.5, max_attempts: 4}}
  - {name: audit, topics: [orders, a.b], config: {lease_ms: 2000}}
queues: [{name: audit}, {name: q, config: {lease_ms: 500, max_attempts: 6}}]
consumer_session_timeout_ms: 20000
groups:
  - {name: classic}
  - {name: new, protocol: consumer, session_timeout_ms: 6000}
  - {name: own, session_timeout_ms: 9000}
""")


def test_a_subscription_has_the_limits_of_its_reader_whatever_dots_are_in_names() -> None:
    expected: dict[str, tuple[float | None, float | None]] = {
        **dict.fromkeys(SHARED.subscriptions.values(), (1000, 3)),
        **dict.fromkeys(ONE.subscriptions.values(), (1500.5, 4)),
        **dict.fromkeys(TWO.subscriptions.values(), (2000, None)),
    }
    assert len(expected) == 5
    expected |= {"q": (500, 6)}
    expected |= dict.fromkeys(("audit", "billing", "billing.eu", "metrics"), (None, None))  # no subscription's name
    assert {name: (SETTINGS.lease_ms(name), SETTINGS.max_attempts(name)) for name in expected} == expected


def test_the_session_timeout_is_the_one_in_force() -> None:
    assert [SETTINGS.session_timeout_ms(name) for name in ("classic", "new", "own")] == [6000, 20_000, 9000]
    assert SETTINGS.session_timeout_ms("unheard of") is None
    usual = ScenarioSettings("groups: [{name: classic}, {name: new, protocol: consumer}]")
    scenario = Scenario(title="", about="", until_s=1.0)
    assert usual.session_timeout_ms("classic") == GroupSpec(name="classic", topics=()).session_timeout_ms
    assert usual.session_timeout_ms("new") == scenario.consumer_session_timeout_ms


@pytest.mark.parametrize("value", [".inf", ".nan", "-1", "1" + "0" * 400, "true_or_so", "[1]", "null", "true"])
def test_a_value_that_is_no_setting_is_not_told(value: str) -> None:
    settings = ScenarioSettings(f"queues: [{{name: q, config: {{lease_ms: {value}, max_attempts: {value}}}}}]")
    assert settings.lease_ms("q") is settings.max_attempts("q") is None


@pytest.mark.parametrize("value", ["!!bool zz", "!!timestamp zz", "!!int ''", "!!float ''", "!!binary zz", "!!set 1"])
def test_a_value_that_does_not_fit_its_tag_makes_a_scenario_unreadable(value: str) -> None:
    assert ScenarioSettings(f"about: A\nx: {value}").about == ""
