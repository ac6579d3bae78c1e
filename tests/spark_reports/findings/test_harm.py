"""What is said to grow, to come of something, and to be worse than something else. No Spark needed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_reports.findings.backlog import FEWEST_MORE, MORE_SHARE, growth
from spark_reports.findings.finding import BAD, GOOD, INFO, WARN, Finding, Harm, by_harm
from spark_reports.page.text import bare
from tests.spark_reports.page.tables_by_hand import S, findings


def test_two_points_are_no_growth() -> None:
    """A burst that stands there, a wave, and what only came back are none; what rises all along is."""
    at = np.arange(100, dtype=np.float64)
    assert growth(np.where(at < 50, 0.0, 400.0)) is None
    assert growth(np.asarray(200 + 200 * np.sin(at / 5), np.float64)) is None
    assert growth(np.asarray([*at[:50] * 8, *400 - at[:50] * 2], np.float64)) is None
    assert growth(np.where(at < 99, 0.0, 900.0)) is None
    assert growth(np.minimum(at, 70.0) * 8) is None, "it has stood still for some time"
    assert growth(at[:4] * 100) is None, "four buckets are too few"
    found = growth(np.asarray(at * 5 + 3 * np.cos(at), np.float64))
    assert found is not None and found.share == 0.5 and abs(found.slope - 5) < 0.1


@given(st.floats(0.5, 1e4), st.floats(0, 1e4), st.integers(40, 240))
def test_what_rises_steadily_grows_by_its_slope(slope: float, begin: float, buckets: int) -> None:
    values = np.asarray(begin + slope * np.arange(buckets), np.float64)
    found = growth(values)
    size = buckets // 2
    enough = slope * (size - 1) >= max(FEWEST_MORE, MORE_SHARE * values[-size]) * 1.01
    if enough:
        assert found is not None and found.share == 0.5 and abs(found.slope - slope) <= 1e-6 * slope
    if found is not None:
        assert found.last > found.first


BURST_OVER = {
    **{
        "time_ns": 30 * S,
        "kind": "fault",
        "client": "poster-1",
        "cause": "crash",
        "scope": "posts",
        "window_ns": 10 * S,
    },
    **{"published_before": 40.0, "published_after": 38.0, "delivered_before": 17.3, "delivered_after": 1.5},
}


def _came(topic: str, *rates: float) -> list[dict[str, Any]]:
    return [
        {"dimension": "topic", "name": topic, "start_ns": at * S, "messages_per_s": rate}
        for at, rate in enumerate(rates)
    ]


@pytest.mark.parametrize("after", [1.4, 17.3])
def test_fewer_deliveries_are_told_only_where_no_less_came_in(after: float) -> None:
    rows = {
        "effects": [BURST_OVER],
        "throughput": [*_came("posts", *[17.3] * 30, *[after] * 30), *_came("other", *[22.7] * 60)],
        "redeliveries": [{"group": "posts", "topic": "posts", "attempt": 1, "delivered": 9}],
    }
    told = [one for one in findings(**rows) if one.section == "events"]
    if after < 17:
        assert told == [], "the producer's burst was over"
    else:
        (one,) = told
        assert "from 17.3 to 1.50 a second, while 17.3 came in" in one.detail and "because" not in one.detail


def test_what_else_happened_then_is_said() -> None:
    reset = {"time_ns": 35 * S, "kind": "offsets_reset", "scope": "posts", "cause": "reset by bob", "window_ns": 10 * S}
    rows = {
        "effects": [BURST_OVER, reset],
        "throughput": _came("posts", *[17.3] * 60),
        "redeliveries": [{"group": "posts", "topic": "posts", "attempt": 1, "delivered": 9}],
    }
    (one,) = (one for one in findings(**rows) if one.section == "events")
    assert one.why == "Other things also happened then: reset by bob."


@pytest.mark.parametrize("told_of", ["fault", "user_action"])
def test_a_fault_is_no_other_thing_beside_itself(told_of: str) -> None:
    """The action that began it and its end are the same fault; another of the same client is another thing."""
    quiet = {"client": "poster-1", "scope": "posts", "window_ns": 10 * S}
    both = {"fault": "crash", "user_action": "crashed poster-1 for 10 s"}
    rows = {
        "effects": [
            *({**BURST_OVER, "kind": kind, "cause": both[kind]} for kind in both if kind == told_of),
            *({**quiet, "time_ns": 30 * S, "kind": kind, "cause": both[kind]} for kind in both if kind != told_of),
            {**quiet, "time_ns": 40 * S, "kind": "fault", "cause": "restarted"},
            {**quiet, "time_ns": 31 * S, "kind": "fault", "cause": "slow down 3 times"},
        ],
        "throughput": _came("posts", *[17.3] * 60),
        "redeliveries": [{"group": "posts", "topic": "posts", "attempt": 1, "delivered": 9}],
    }
    (one,) = (one for one in findings(**rows) if one.section == "events")
    assert one.why == "Other things also happened then: slow down 3 times."


def test_dead_letters_are_not_called_lost_and_weigh_as_much() -> None:
    cause = {"group": "q", "cause": "poison", "dead_lettered": 20, "redriven": 5, "first_ns": S}
    told = findings(dead_letters=[{**cause, "recovered": 2, "died_again": 2, "waiting": 1}])
    (one,) = (one for one in told if one.section == "dead-letters")
    assert one.harm.words() == "17 messages are dead letters"
    assert one.harm.weight_s == Harm(lost=17).weight_s
    assert Harm(rejected=17).weight_s == Harm(lost=17).weight_s
    assert Harm(rejected=3).words() == "3 messages rejected"
    assert Harm(lost=2, dead=1).words() == "2 messages lost, 1 message is a dead letter"
    assert Harm(delayed=3).words() == "3 messages delayed", "by how much is not known"


def test_the_greatest_harm_comes_first_after_what_cannot_be_relied_on() -> None:
    found = [
        Finding(GOOD, "well", "", "totals"),
        Finding(INFO, "waited", "", "lag", harm=Harm(at_once=9, message_s=500.0)),
        Finding(WARN, "a bit", "", "queues", harm=Harm(delayed=3, delayed_s=2.0)),
        Finding(WARN, "lost", "", "queues", harm=Harm(lost=10)),
        Finding(WARN, "stood still", "", "queues", harm=Harm(waiting=2, waiting_s=90.0)),
        Finding(BAD, "torn", "", "recording"),
        Finding(INFO, "no harm", "", "queues"),
    ]
    assert [one.headline for one in by_harm(found)] == [
        "torn", "lost", "waited", "stood still", "a bit", "no harm", "well",
    ]  # fmt: skip
    assert found[4].harm.words() == "2 clients waited 90\u00a0s in all"


def _refusal(outcome: str, messages: int) -> dict[str, Any]:
    where = {"topic": "t", "subject": "order", "place": "/amount", "outcome": outcome}
    return {**where, "messages": messages, "producers": 1, "first_ns": S, "last_ns": 2 * S}


def test_what_a_schema_refused_is_rejected_or_dead_and_never_lost() -> None:
    """The producer was told, or the message lies in the dead letters: nobody has to look for it."""
    (one,) = (
        one for one in findings(refusals=[_refusal("refused", 3), _refusal("dead-lettered", 2)]) if one.kind == "schema"
    )
    assert (one.harm.rejected, one.harm.dead, one.harm.lost) == (3, 2, 0)
    assert one.harm.words() == "3 messages rejected, 2 messages are dead letters"


def test_what_a_full_topic_rejected_is_told_apart_from_what_it_discarded() -> None:
    row = {"topic": "t", "blocks": 0, "blocked_ns": 0, "longest_ns": 0}
    counts = {"rejected": 4, "dropped": 3, "evicted": 2, "expired": 1}
    (one,) = (one for one in findings(backpressure_series=[{**row, **counts}]) if one.section == "backpressure")
    assert one.detail.startswith("4 rejected, 3 dropped, 2 evicted and 1 expired, on t.")
    assert (one.harm.rejected, one.harm.lost) == (4, 6)
    assert one.harm.words() == "4 messages rejected, 6 messages lost"


FULL = {"time_ns": 30 * S, "kind": "fault", "client": "", "scope": "", "cause": "disk full", "window_ns": 6 * S,
        "published_before": 26.0, "published_after": 0.0}  # fmt: skip
FREE = {**FULL, "time_ns": 50 * S, "cause": "disk full is over", "published_before": 0.0, "published_after": 106.0}


def test_a_full_disk_with_which_publishing_stopped_is_told_with_its_end() -> None:
    (one,) = (one for one in findings(effects=[FULL, FREE]) if one.section == "events")
    assert one.headline == "Nothing was published after 00:30.0: disk full" and one.kind == "full-disk"
    assert bare(one.detail) == (
        "At the same time, within 6 s, what was published went from 26.0 to 0 a second. It was over at 00:50.0."
    )
    producers = [
        {"dimension": "producer", "name": name, "topic": "t", "start_ns": at * S, "messages": 9}
        for name, times in (("p", (28, 29, 51)), ("q", (29, 40)), ("late", (50,)))
        for at in times
    ]
    (one,) = (one for one in findings(effects=[FULL, FREE], throughput=producers) if one.section == "events")
    assert (one.harm.waiting, one.harm.waiting_s) == (1, 20.0), "q went on, late had not begun"
    (one,) = (one for one in findings(effects=[{**FULL, "published_after": 2.0}]) if one.section == "events")
    assert one.headline.startswith("Hardly anything was published") and one.detail.endswith(
        "It was not over at the end."
    )


@pytest.mark.parametrize(
    "other", [{"client": "p-1"}, {"scope": "billing"}, {"published_after": 3.0}, {"published_before": 0.0}]
)
def test_publishing_stops_with_a_fault_of_the_broker_alone(other: dict[str, Any]) -> None:
    assert [one for one in findings(effects=[{**FULL, **other}]) if "published after" in one.headline] == []
