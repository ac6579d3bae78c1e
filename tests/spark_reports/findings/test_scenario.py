"""What a report reads from a scenario is what the scenario sets for the session."""

from __future__ import annotations

import pytest

from broker_core.simulation.scenario import Scenario
from broker_core.simulation.specs import GroupSpec, ShareGroupSpec, SubscriberSpec
from spark_reports.findings.scenario import ScenarioSettings, ShareLimits

SHARED = ShareGroupSpec(name="billing.eu", topics=("orders", "a.b"), record_lock_duration_ms=1_000)
ONE = SubscriberSpec(name="metrics.eu", topics=("orders",))
TWO = SubscriberSpec(name="audit", topics=("orders", "a.b"))
SETTINGS = ScenarioSettings("""
share_groups: [{name: billing.eu, topics: [orders, a.b], record_lock_duration_ms: 1000, delivery_count_limit: 3}]
subscribers:
  - {name: metrics.eu, topics: [orders], config: {lease_ms: 1500.5, max_attempts: 4}}
  - {name: audit, topics: [orders, a.b], config: {lease_ms: 2000}}
queues: [{name: audit}, {name: q, config: {lease_ms: 500}}]
consumer_session_timeout_ms: 20000
groups:
  - {name: classic}
  - {name: new, protocol: consumer, session_timeout_ms: 6000}
  - {name: own, session_timeout_ms: 9000}
""")


def test_a_subscription_has_the_limits_of_its_reader_whatever_dots_are_in_names() -> None:
    expected = {
        **dict.fromkeys(SHARED.subscriptions.values(), ShareLimits(1000, 3)),
        **dict.fromkeys(ONE.subscriptions.values(), ShareLimits(1500.5, 4)),
        **dict.fromkeys(TWO.subscriptions.values(), ShareLimits(2000, None)),
    }
    assert {name: SETTINGS.share_limits(name) for name in expected} == expected and len(expected) == 5
    assert {name: SETTINGS.lease_ms(name) for name in expected} == {name: had.lock_ms for name, had in expected.items()}
    assert SETTINGS.lease_ms("q") == 500
    for name in ("audit", "billing", "billing.eu", "metrics"):  # no subscription has that name
        assert SETTINGS.share_limits(name) == ShareLimits(None, None) and SETTINGS.lease_ms(name) is None


def test_the_session_timeout_is_the_one_in_force() -> None:
    assert [SETTINGS.session_timeout_ms(name) for name in ("classic", "new", "own")] == [6000, 20_000, 9000]
    assert SETTINGS.session_timeout_ms("unheard of") is None
    usual = ScenarioSettings("groups: [{name: classic}, {name: new, protocol: consumer}]")
    scenario = Scenario(title="", about="", until_s=1.0)
    assert usual.session_timeout_ms("classic") == GroupSpec(name="classic", topics=()).session_timeout_ms
    assert usual.session_timeout_ms("new") == scenario.consumer_session_timeout_ms


@pytest.mark.parametrize("value", [".inf", ".nan", "-1", "1" + "0" * 400, "true_or_so", "[1]", "null"])
def test_a_value_that_is_no_setting_is_not_told(value: str) -> None:
    settings = ScenarioSettings(f"queues: [{{name: q, config: {{lease_ms: {value}}}}}]")
    assert settings.lease_ms("q") is None


@pytest.mark.parametrize("value", ["!!bool zz", "!!timestamp zz", "!!int ''", "!!float ''", "!!binary zz", "!!set 1"])
def test_a_value_that_does_not_fit_its_tag_makes_a_scenario_unreadable(value: str) -> None:
    assert ScenarioSettings(f"about: A\nx: {value}").about == ""
