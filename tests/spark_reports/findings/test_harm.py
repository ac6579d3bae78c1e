"""What is said to grow, to come of something, and to be worse than something else. No Spark needed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from spark_reports.findings.finding import BAD, GOOD, INFO, WARN, Finding, Harm, by_harm
from spark_reports.text import bare
from tests.spark_reports.page.tables_by_hand import S, findings


def test_dead_letters_are_not_called_lost_and_weigh_as_much() -> None:
    cause = {"group": "q", "cause": "poison", "dead_lettered": 20, "redriven": 5, "first_ns": S}
    told = findings(dead_letters=[{**cause, "recovered": 2, "died_again": 2, "waiting": 1}])
    (one,) = (one for one in told if one.section == "dead-letters")
    assert one.harm.words() == "15 messages are dead letters", "each death is one, each redrive one less"
    assert one.harm.weight_s == Harm(lost=15).weight_s
    assert Harm(rejected=17).weight_s == Harm(lost=17).weight_s
    assert Harm(rejected=3).words() == "3 messages rejected"
    assert Harm(lost=2, dead=1).words() == "2 messages lost, 1 message is a dead letter"
    assert Harm(delayed=3).words() == "3 messages delayed", "by how much is not known"


def test_the_greatest_harm_comes_first_after_what_cannot_be_relied_on() -> None:
    found = [
        Finding(GOOD, "well", "", "totals"),
        Finding(INFO, "waited", "", "lag", harm=Harm(at_once=9, message_s=500.0)),
        Finding(WARN, "a bit", "", "queues", harm=Harm(delayed=3, message_s=6.0)),
        Finding(WARN, "lost", "", "queues", harm=Harm(lost=10)),
        Finding(WARN, "stood still", "", "queues", harm=Harm(waiting=2, waiting_s=90.0)),
        Finding(BAD, "torn", "", "recording"),
        Finding(INFO, "no harm", "", "queues"),
    ]
    assert [one.headline for one in by_harm(found)] == [
        "torn", "lost", "waited", "stood still", "a bit", "no harm", "well",
    ]  # fmt: skip
    assert found[4].harm.words() == "2 producers waited 90\u00a0s in all"


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


FULL = {"time_ns": 30 * S, "kind": "fault", "cause": "disk full"}
FREE = {**FULL, "time_ns": 50 * S, "cause": "disk full is over"}


def _published(**times: Iterable[int]) -> list[dict[str, Any]]:
    """Nine messages of each producer in each of these seconds."""
    producer = {"dimension": "producer", "topic": "t", "messages": 9}
    return [{**producer, "name": name, "start_ns": at * S} for name, seconds in times.items() for at in seconds]


def _of_events(**rows: list[dict[str, Any]]) -> list[Finding]:
    return [one for one in findings(**rows) if one.section == "events"]


def test_a_full_disk_with_which_publishing_stopped_is_told_with_its_end() -> None:
    producers = _published(p=[*range(30), *range(50, 60)], q=[28, 29, 52], late=[50])
    (one,) = _of_events(markers=[FULL, FREE], throughput=producers)
    assert one.headline == "Nothing was published after 00:30.0: disk full" and one.kind == "full-disk"
    assert bare(one.detail) == (
        "At the same time, within 12 s, what was published went from 10.5 to 0 a second. It was over at 00:50.0."
    )
    assert (one.harm.waiting, one.harm.waiting_s) == (2, 40.0), "late had not begun"
    (one,) = _of_events(markers=[FULL], throughput=_published(p=[*range(30), 31]))
    assert one.headline.startswith("Hardly anything was published")
    assert one.detail.endswith("It was not over at the end.")


@pytest.mark.parametrize(
    ("other", "seconds"),
    [({"client": "p-1"}, range(30)), ({"group": "billing"}, range(30)), ({}, range(60)), ({}, range(40, 60))],
)
def test_publishing_stops_with_a_fault_of_the_broker_alone(other: dict[str, Any], seconds: Iterable[int]) -> None:
    assert _of_events(markers=[{**FULL, **other}], throughput=_published(p=seconds)) == []
