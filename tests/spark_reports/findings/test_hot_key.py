"""What a hot key explains has no remedy that cannot help; where no key is hot, each finding has its own. No Spark
needed.
"""

from __future__ import annotations

from typing import Any

import pytest

from spark_reports.findings.find import find, findings_table
from spark_reports.findings.finding import Finding
from tests.spark_reports.findings.test_findings import IDLE
from tests.spark_reports.page.tables_by_hand import SCALE, S, made, rows_of

HELPLESS = ("num.partitions", "members of the group", "add another", "to work")


def _lag(partition: int, rise: float, topic: str = "views") -> tuple[dict[str, Any], list[dict[str, Any]]]:
    place = {"group": "counters", "topic": topic, "partition": partition}
    series = {**place, "last_lag": int(59 * rise), "max_lag": int(59 * rise), "mean_lag": 30 * rise, "max_lag_ns": S}
    return series, [{**place, "start_ns": at * S, "lag": int(at * rise)} for at in range(60)]


def _session(share_of_partition: float, *rises: float) -> dict[str, list[dict[str, Any]]]:
    """A group of two on topic views, whose first partition has most of the messages, and a consumer in no group."""
    lags = [_lag(partition, rise) for partition, rise in enumerate(rises)]
    times_even = (1.8, 0.2)
    member = IDLE | {"group": "counters", "delivered": 9, "with_partitions_ns": 60 * S}
    return {
        "lag_series": [series for series, _ in lags],
        "lag": [row for _, rows in lags for row in rows],
        "partitions": [
            {"topic": "views", "partition": at, "messages": 9, "keys_not_read": 0}
            | {"share": even / 2, "times_even": even}
            for at, even in enumerate(times_even)
        ],
        "hot_keys": [
            {"topic": "views", "rank": 1, "key": "key-0", "partition": 0, "share_of_partition": share_of_partition}
        ],
        "consumers": [
            member | {"client": "counter-1", "utilisation": 0.99, "in_hand": 9.0},
            member | {"client": "counter-2", "utilisation": 0.3, "in_hand": 0.3},
            IDLE | {"client": "spare-1", "group": "", "utilisation": 0.0, "in_hand": 0.0},
        ],
        "consumers_over_time": [
            {"group": "counters", "client": f"counter-{number}", "start_ns": at * S, "busy_ns": int(busy * S)}
            for number, busy in ((1, 0.99), (2, 0.3)) for at in range(60)
        ],
        "ownership": [
            {"group": "counters", "topic": "views", "partition": at, "client": f"counter-{at + 1}", "generation": 1,
             "from_ns": 0, "to_ns": 60 * S} for at in range(2)
        ],
    }  # fmt: skip


def _advice(found: list[Finding]) -> dict[str, dict[str, Any]]:
    return {row["kind"]: row for row in findings_table(found).to_pylist() if row["kind"]}


def _found(rows: dict[str, list[dict[str, Any]]]) -> list[Finding]:
    return find(rows_of(made(**rows)), SCALE)


def test_what_a_hot_key_explains_comes_after_it_and_has_its_remedy() -> None:
    found = _found(_session(0.9, 5, 0))
    assert [one.kind for one in found][:2] == ["hot-key", "sharing"]
    advice = _advice(found)
    assert set(advice) == {"hot-key", "sharing", "idle", "busy"}
    for kind in ("sharing", "idle", "busy"):
        row = advice[kind]
        told = " ".join(row[name] for name in ("advice", "setting", "kafka", "rabbitmq", "sqs"))
        assert "plit the hot key key-0" in row["advice"] and row["scenario"] == "hot-key"
        assert not [words for words in HELPLESS if words in told], kind


@pytest.mark.parametrize(
    ("share_of_partition", "rises"),
    [(0.1, (5, 0)), (0.9, (5, 5))],
    ids=["no key is hot", "the other partition is as far behind"],
)
def test_other_findings_keep_their_own_remedy(share_of_partition: float, rises: tuple[float, ...]) -> None:
    found = _found(_session(share_of_partition, *rises))
    assert found[0].kind == "sharing", "the greatest harm"
    advice = _advice(found)
    assert (
        "partition.assignment.strategy" in advice["sharing"]["kafka"]
        and "had time to spare" in advice["sharing"]["advice"]
    )
    assert advice["idle"]["advice"].startswith("Give it work")
    assert "In counters every partition has a reader" in advice["busy"]["advice"]


def test_who_is_busy_for_another_reason_is_told_apart() -> None:
    rows = _session(0.9, 5, 0)
    rows["consumers"].append(rows["consumers"][0] | {"group": "mails", "client": "mailer-1"})
    busy = {one.headline: one.explained_by for one in _found(rows) if one.kind == "busy"}
    assert {name.split()[0]: by for name, by in busy.items()} == {"mailer-1": "", "counter-1": "hot-key"}


def test_an_idle_consumer_may_help_another_group_that_is_behind() -> None:
    rows = _session(0.9, 5, 0)
    rows["lag_series"].append({**_lag(0, 3, "mails")[0], "group": "mailers"})
    assert _advice(_found(rows))["idle"]["advice"].startswith("Give it work")


def test_a_topic_beside_the_hot_one_keeps_its_remedy() -> None:
    """The same group falls behind on two topics: only one of them has the key."""
    rows = _session(0.9, 5, 0)
    series, lag = _lag(0, 4, "clicks")
    rows["lag_series"].append(series)
    rows["lag"] += lag
    by = {one.headline.split(" was ")[0]: one.explained_by for one in _found(rows) if one.kind == "sharing"}
    assert by == {"The lag of counters on views": "hot-key", "The lag of counters on clicks": ""}


def test_more_members_than_partitions_are_no_reason_where_a_key_is_hot() -> None:
    rows = _session(0.9, 5, 0)
    rows["consumers"].append(IDLE | {"client": "counter-3", "group": "counters", "utilisation": 0.0})
    (limit,) = (one for one in _found(rows) if one.kind == "partition-limit")
    assert limit.explained_by == "hot-key" and "hot key key-0" in limit.advice
