"""Why a reader was behind, from tables made by hand. No Spark needed."""

from __future__ import annotations

from typing import Any

import pytest

from spark_reports.findings.causes import cause_of
from spark_reports.findings.episodes import Cause, episodes
from spark_reports.findings.evidence import Evidence
from spark_reports.findings.scenario import ScenarioSettings
from tests.spark_reports.page.tables_by_hand import SCALE, S, made, rows_of

Rows = list[dict[str, Any]]


def cause(name: str, **rows: Rows) -> Cause:
    """The cause of the only time in which the messages of a reader waited too long."""
    tables = rows_of(made(**rows))
    (episode,) = episodes(Evidence(tables, SCALE, ScenarioSettings(""), whole=True).readers[name])
    return cause_of(episode)


def members(name: str, *clients: str, done: int, busy: float, each_s: float) -> Rows:
    """Clients that do as much in each second of a minute."""
    figures = {"there_ns": S, "busy_ns": round(busy * S), "done": done, "each_ns": round(each_s * S), "in_hand": 1}
    return [
        {"start_ns": at_s * S, "group": name, "client": client, **figures} for at_s in range(60) for client in clients
    ]


@pytest.mark.parametrize("partitions", [3, 4])
def test_one_more_reader_is_advised_only_if_it_would_be_given_a_partition(partitions: int) -> None:
    """Three readers could do just what comes, and do not; what makes producers wait keeps away the rest."""
    places = [("t", number) for number in range(partitions)]
    lag = [
        {
            **{"start_ns": at_s * S, "group": "g", "topic": topic, "partition": number},
            **{"end_offset": 23 * (at_s + 1) // partitions, "lag": 2 * at_s // partitions},
        }
        for at_s in range(60)
        for topic, number in places
    ]
    owners = [
        {"group": "g", "topic": "t", "partition": number, "client": f"r{number % 3}", "from_ns": 0, "to_ns": 60 * S}
        for number in range(partitions)
    ]
    found = cause(
        "g",
        lag=lag,
        ownership=owners,
        consumers_over_time=members("g", "r0", "r1", "r2", done=7, busy=0.85, each_s=0.1),
        blockers=[{"topic": "t", "reason": "t is full"}],
    )
    assert found.kind == "growing"
    assert ("1 more reader" in found.advice) is (partitions == 4)
    assert ("3 partitions for 4 readers" in found.advice) is (partitions == 3)


def test_retries_are_no_cause_if_no_first_attempt_was_recorded() -> None:
    """As where a recording begins with messages that had failed before."""
    waits = [{"start_ns": at_s * S, "queue": "q", "waiting": 9 * at_s} for at_s in range(60)]
    came = [{"start_ns": at_s * S, "dimension": "topic", "name": "q", "messages": 10} for at_s in range(60)]
    attempts = [{"group": "q", "topic": "q", "attempt": 2, "delivered": 60, "nacked": 60}]
    figures: dict[str, Rows] = {"queues": waits, "throughput": came, "redeliveries": attempts}
    clients = members("q", "w", done=1, busy=0.95, each_s=0.05)
    assert cause("q", **figures, consumers_over_time=clients).kind == ""
    attempts.append({"group": "q", "topic": "q", "attempt": 1, "delivered": 20, "nacked": 20})
    found = cause("q", **figures, consumers_over_time=clients)
    assert found.headline == "Retries take 75\N{NO-BREAK SPACE}% of the deliveries of q"


def test_what_grew_in_the_last_second_did_not_grow_in_the_first() -> None:
    lag = [
        {"start_ns": at_s * S, "group": "g", "topic": "t", "partition": 0, "end_offset": 23 * at_s, "lag": 2 * at_s}
        for at_s in range(60)
    ]
    evidence = Evidence(rows_of(made(lag=lag)), SCALE, ScenarioSettings(""), whole=True)
    (episode,) = episodes(evidence.readers["g"])
    assert episode.grew_in(episode.reader.mask([(0, 1)])) == 0
    assert episode.grew_in(episode.reader.mask([(0, 60)])) == 1
    last, last_two = (episode.grew_in(episode.reader.mask([(at_s, 60)])) for at_s in (59, 58))
    assert 0 < last < last_two == pytest.approx(1.5 * last), "the second beside them grew as much"
