"""Findings that say what to do: where they are told, where not, and that their settings exist. No Spark needed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import resources
from resources.outcomes import OUTCOMES
from spark_reports.findings.find import find
from spark_reports.findings.finding import Finding, Harm
from spark_reports.findings.remedies import REMEDIES
from spark_reports.findings.scenario import ScenarioSettings
from spark_reports.request.assertions import judge
from tests.spark_reports.page.tables_by_hand import SCALE, S, findings, made, rows_of

ROOT = Path(__file__).resolve().parents[3]
CONFIGS = tuple(ROOT / "broker_core" / name for name in ("queues/config.py", "flow/config.py", "operations/topics.py"))

SCENARIO = """
topics: [{name: t, partitions: 2, flow: {rate_per_s: 500}}]
queues: [{name: q, config: {lease_ms: 3000, max_attempts: 4}}]
workers: [{name: w, queue: q, prefetch: 1}]
producers: [{name: p, to: t, rate_per_s: 10}]
"""


def told_of(kind: str, **rows: list[dict[str, Any]]) -> list[Finding]:
    found = find(rows_of(made(**rows)), SCALE, scenario=SCENARIO)
    assert all(one.kind in REMEDIES for one in found if one.kind)
    return [one for one in found if one.kind == kind]


def _lease(client: str, expired: int) -> dict[str, Any]:
    ended = {"leased": 50, "acknowledged": 50 - expired, "nacked": 0, "released": 0, "expired": expired, "extended": 0}
    return {"queue": "q", "client": client, **ended, "held_ns": 50.0 * S}


def test_leases_that_ran_out_are_told_with_their_length() -> None:
    (one,) = told_of("expired-leases", leases=[_lease("w-1", 9), _lease("w-2", 0)])
    assert one.headline == "9 leases of q expired, 9\u00a0% of all" and one.why.startswith("Nobody extended a lease.")
    assert "The other leases ended after 802\u00a0ms on average." in one.why and "a longer one would only" in one.advice
    slow = [_lease("w-1", 9) | {"held_ns": 130.0 * S}]
    assert not told_of("expired-leases", leases=slow)[0].advice, "the work is nearly as long as the lease"
    assert "Held by w-1 (9). A lease lasts 3\u00a0s." in one.detail
    assert one.harm == Harm(delayed=9, message_s=27.0)
    assert told_of("expired-leases", leases=[_lease("w-1", 0)]) == []


def _attempt(attempt: int, delivered: int, acknowledged: int) -> dict[str, Any]:
    left = delivered - acknowledged
    return {"group": "q", "topic": "q", "attempt": attempt, "delivered": delivered, "acknowledged": acknowledged,
            "nacked": left, "lease_expired": 0}  # fmt: skip


DEATHS = [
    {
        **{"group": "q", "cause": "bug", "dead_lettered": 10, "redriven": 0, "recovered": 0, "died_again": 0},
        **{"waiting": 0, "first_ns": S},
    }
]


@pytest.mark.parametrize(("helped", "poison"), [(0, True), (6, False)])
def test_a_poison_message_is_one_that_no_attempt_helps(helped: int, poison: bool) -> None:
    """That the dead failed at every attempt is true of all of them, and tells nothing."""
    rows = {"dead_letters": DEATHS, "redeliveries": [_attempt(1, 90, 80), _attempt(2, 10, helped)]}
    assert bool(told_of("poison", **rows)) is poison is not bool(told_of("dead-letters", **rows))
    assert bool(told_of("retries", **rows)) is poison
    if poison:
        assert "Of 10 further attempts in q, none helped" in told_of("poison", **rows)[0].why
        assert "It allows 4 attempts now." in told_of("retries", **rows)[0].detail


@pytest.mark.parametrize(
    ("limit", "now"),
    [("4", " It allows 4 attempts now."), *((wrong, "") for wrong in ("null", "[4]", "-3", "0", "true"))],
)
def test_the_attempts_that_a_queue_allows_are_told_if_they_are_limited(limit: str, now: str) -> None:
    tables = rows_of(made(dead_letters=DEATHS, redeliveries=[_attempt(1, 90, 80), _attempt(2, 10, 0)]))
    found = find(tables, SCALE, scenario=f"queues: [{{name: q, config: {{max_attempts: {limit}}}}}]")
    (one,) = (each for each in found if each.kind == "retries")
    assert one.detail.endswith(f"failed like the first.{now}")


def test_every_remedy_names_what_there_is() -> None:
    """The setting is one that a scenario takes, and the scenario ships."""
    shipped = {path.stem for path in resources.path("scenarios").glob("*.yaml")}
    words = " ".join(path.read_text() for path in (ROOT / "broker_core" / "simulation" / "specs.py", *CONFIGS))
    for kind, remedy in REMEDIES.items():
        assert remedy.scenario in shipped, kind
        assert remedy.advice.endswith(".") and remedy.kafka, kind
        for name in re.findall(r"\b[a-z]+(?:_[a-z]+)+\b", remedy.here):
            assert name in words, (kind, name)


@pytest.mark.parametrize(
    "text", ["", "a: [", "- 1", "topics: 7", "a: &x 1\nb: *x", "topics: [{name: t, flow: 3}]", "[" * 5000]
)
def test_a_scenario_that_cannot_be_read_sets_nothing(text: str) -> None:
    settings = ScenarioSettings(text)
    assert settings.max_attempts("q") is settings.lease_ms("q") is settings.session_timeout_ms("q") is None


def test_of_what_was_turned_away_the_largest_part_is_told_in_figures() -> None:
    away = {"topic": "t", "client": "p", "reason": "full of messages", "blocker": "", "rejected": 0, "dropped": 0}
    rows = {
        "backpressure_series": [dict.fromkeys(OUTCOMES, 0) | {"topic": "t", "rejected": 5}],
        "blockers": [away | {"rejected": 2, "evicted": 0}, away | {"topic": "u", "rejected": 3, "evicted": 0}],
    }
    (one,) = (each for each in findings(**rows) if "turned away" in each.headline)
    assert one.detail.endswith("3 of them because u was full of messages.")


def test_what_was_lost_and_what_is_left_in_the_dead_letters_can_be_asserted() -> None:
    """Of 16 deaths of four messages 12 were sent back: four are left."""
    deaths = [DEATHS[0] | {"dead_lettered": 16, "redriven": 12, "died_again": 12}]
    account = [{"source": "t", "reader": "g", "lost": 7}]
    tables = rows_of(made(dead_letters=deaths, account=account))
    asked = ("dead_letters_left = 4", "lost = 7", 'lost("g") < 7')
    assert [one.holds for one in judge(asked, tables)] == [True, True, False]
    (one,) = (each for each in findings(dead_letters=deaths) if each.section == "dead-letters")
    assert one.headline == "4 messages of q ended in the dead letters, 16 times in all" and one.harm == Harm(dead=4)
