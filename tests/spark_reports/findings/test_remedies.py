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
from spark_reports.findings.settings import Settings
from tests.spark_reports.findings.test_findings import IDLE
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
    found = find(rows_of(made(**rows)), SCALE, settings=Settings(SCENARIO))
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
    assert one.harm == Harm(delayed=9, delayed_s=3.0)
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


def _member(client: str, partition: int, lag: float, times_even: float = 1.0) -> dict[str, dict[str, Any]]:
    place = {"topic": "t", "partition": partition}
    return {
        "consumers": {
            **{
                "group": "g",
                "client": client,
                "from_ns": 0,
                "to_ns": 60 * S,
                "there_ns": 60 * S,
                "delivered": 9,
                "in_hand": 1.0,
            },
            **{"with_partitions_ns": 60 * S, "utilisation": 0.5, "outside": False},
        },
        "ownership": {
            "group": "g",
            **place,
            "client": client,
            "generation": 1,
            "from_ns": 0,
            "to_ns": 60 * S,
            "there_ns": 60 * S,
        },
        "lag_series": {
            "group": "g",
            **place,
            "last_lag": int(lag),
            "max_lag": int(lag),
            "mean_lag": lag,
            "max_lag_ns": S,
        },
        "partitions": {**place, "messages": 9, "keys_not_read": 0, "share": times_even / 2, "times_even": times_even},
    }


def _group(*members: dict[str, dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    return {name: [member[name] for member in members] for name in members[0]}


def test_one_consumer_that_holds_its_group_back_is_named() -> None:
    rows = _group(_member("slow", 0, 90.0), _member("quick", 1, 4.0))
    (one,) = told_of("slow-reader", **rows)
    assert one.headline == "slow holds g back" and "90 messages behind on average, those of the others 4" in one.detail
    assert told_of("slow-reader", **_group(_member("slow", 0, 90.0, 1.6), _member("quick", 1, 4.0, 0.4))) == [], "load"
    assert told_of("slow-reader", **_group(_member("a", 0, 90.0), _member("b", 1, 80.0))) == []
    rows["consumers"][0]["outside"] = True
    assert told_of("slow-reader", **rows) == [], "it may only commit later"


def test_more_members_than_partitions_are_told_where_they_are_missed() -> None:
    rows = _group(_member("a", 0, 90.0), _member("b", 1, 80.0))
    rows["consumers"].append(IDLE | {"client": "spare", "utilisation": 0.0})
    assert told_of("partition-limit", **rows) == [], "who has partitions has time left"
    rows["consumers_over_time"] = [
        {"group": "g", "client": name, "start_ns": at * S, "busy_ns": S, "in_hand": 1.0}
        for name in "ab"
        for at in range(60)
    ]
    (one,) = (each for each in told_of("partition-limit", **rows) if each.section == "consumers")
    assert one.headline == "g cannot grow: 2 partitions for 3 members" and "spare had no partition" in one.detail
    assert told_of("idle", **rows) == [], "that is told already"
    calm = _group(_member("a", 0, 0.0), _member("b", 1, 0.0))
    calm["consumers"].append(IDLE | {"client": "spare", "utilisation": 0.0})
    assert told_of("partition-limit", **calm) == [] and len(told_of("idle", **calm)) == 1


@pytest.mark.parametrize(("busy_s", "attempt", "told"), [(30, 1, 1), (58, 1, 0), (30, 2, 0)])
def test_too_small_a_prefetch_is_hands_that_are_free_while_messages_wait(busy_s: int, attempt: int, told: int) -> None:
    worker = IDLE | {"client": "w-1", "group": "q", "delivered": 9, "utilisation": busy_s / 60, "in_hand": busy_s / 60}
    rows = {
        "consumers": [worker | {"busy_ns": busy_s * S}],
        "queues": [{"queue": "q", "start_ns": at * S, "waiting": 5, "in_flight": 1} for at in range(60)],
        "redeliveries": [_attempt(attempt, 9, 9)],
    }
    assert len(told_of("prefetch", **rows)) == told


def test_a_rate_limit_that_is_never_reached_is_told() -> None:
    series = [
        {"dimension": "topic", "name": "t", "topic": "t", "peak_messages_per_s": 40.0},
        {"dimension": "producer", "name": "p", "topic": "t", "peak_messages_per_s": 9.0},
    ]
    (one,) = (each for each in told_of("", throughput_series=series) if each.section == "backpressure")
    assert one.headline == "The rate limit of t was never reached" and "500/s; at most 40.0/s came" in one.detail


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
    settings = Settings(text)
    assert (settings.queue_config("q"), list(settings.rate_limits())) == ({}, [])


def test_how_busy_programs_of_their_own_are_is_not_known_and_nothing_follows_from_it() -> None:
    rows = _group(_member("a", 0, 90.0), _member("b", 1, 80.0))
    for row in rows["consumers"]:
        row |= {"utilisation": 1.0}
    rows["consumers_over_time"] = [
        {"group": "g", "client": name, "start_ns": at * S, "busy_ns": S, "in_hand": 1.0}
        for name in "ab"
        for at in range(60)
    ]
    assert told_of("busy", **rows)
    assert [one.kind for one in told_of("partition-limit", **rows)] == ["partition-limit"]
    for row in rows["consumers"]:
        row["outside"] = True
    assert told_of("busy", **rows) == [] and told_of("partition-limit", **rows) == []


def test_who_works_at_another_queue_has_no_hands_free() -> None:
    worker = IDLE | {"client": "w-1", "group": "q", "delivered": 9, "utilisation": 0.5, "in_hand": 0.5}
    rows = {
        "consumers": [worker | {"busy_ns": 30 * S}, worker | {"group": "other", "busy_ns": 28 * S}],
        "queues": [{"queue": "q", "start_ns": at * S, "waiting": 5, "in_flight": 1} for at in range(60)],
        "redeliveries": [_attempt(1, 9, 9)],
    }
    assert told_of("prefetch", **rows) == []
    rows["consumers"][1]["client"] = "w-2"
    assert len(told_of("prefetch", **rows)) == 1


def test_of_what_was_turned_away_the_largest_part_is_told_in_figures() -> None:
    away = {"topic": "t", "client": "p", "reason": "full of messages", "blocker": "", "rejected": 0, "dropped": 0}
    rows = {
        "backpressure_series": [dict.fromkeys(OUTCOMES, 0) | {"topic": "t", "rejected": 5}],
        "blockers": [away | {"rejected": 2, "evicted": 0}, away | {"topic": "u", "rejected": 3, "evicted": 0}],
    }
    (one,) = (each for each in findings(**rows) if "turned away" in each.headline)
    assert one.detail.endswith("3 of them because u was full of messages.")
