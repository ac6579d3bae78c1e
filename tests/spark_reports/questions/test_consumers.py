"""What clients had in their hands, how busy they were, and what became of leases."""

from __future__ import annotations

import json

import pytest
from pyspark.sql import DataFrame, SparkSession

from spark_reports.questions import consumers, hands, leases, ownership, rollup
from spark_reports.scale import Scale
from tests.spark_reports.conftest import Events
from tests.spark_reports.questions.rows import MS, S, check, committed, delivered, leased

pytestmark = pytest.mark.spark

SCALE = Scale(0, 10 * S, S)  # slots of 20 ms


def spans(table: DataFrame, control: DataFrame, scale: Scale = SCALE) -> DataFrame:
    return hands.spans(hands.slots(table, scale), control, scale)


def busy(table: DataFrame, control: DataFrame, scale: Scale = SCALE) -> dict[str, int]:
    rows = spans(table, control, scale).groupBy("client").sum("busy_ns").collect()
    return {row[0]: row[1] for row in rows}


def _revoked(at: int, *partitions: int) -> dict:
    detail = json.dumps({"partitions": [["t", number] for number in partitions]})
    return {"kind": "partitions_revoked", "time_ns": at, "group": "g", "client": "c", "detail": detail}


def test_who_takes_one_message_at_a_time_is_busy_to_the_nanosecond(events: Events) -> None:
    work = [(3 * MS, 17 * MS), (105 * MS + 1, 995 * MS), (2 * S + 7, 2 * S + 9)]
    table = events(
        *(
            row
            for number, (begin, end) in enumerate(work)
            for row in (leased("delivered", begin, number), leased("acknowledged", end, number))
        )
    )
    assert busy(table, events()) == {"w": sum(end - begin for begin, end in work)}


def test_several_messages_in_hand_are_no_more_than_busy(events: Events) -> None:
    table = events(
        leased("delivered", 1 * S, 0, 10), leased("acknowledged", 2 * S, 0, 9), leased("nacked", 3 * S, 9),
        leased("delivered", 5 * S, 10), leased("lease_expired", 6 * S, 10),
    )  # fmt: skip
    assert busy(table, events()) == {"w": 3 * S}
    held = spans(table, events()).groupBy().sum("held").first()
    assert held is not None and held[0] == pytest.approx(9 * S + 2 * S + S)


def test_what_is_taken_from_a_client_is_in_its_hands_no_more(events: Events) -> None:
    table = events(delivered(S, 0, 0, 5), delivered(S, 1, 0), committed(4 * S, 1, 0))
    control = events(_revoked(3 * S, 0))
    assert busy(table, control) == {"c": 3 * S}
    # Without the revocation the five messages of partition 0 are in hand to the end.
    assert busy(table, events()) == {"c": 9 * S}
    # A commit of more than was delivered leaves nobody with less than nothing.
    more = events(committed(S, 0, 0, 3), delivered(2 * S, 0, 3), committed(3 * S, 0, 3))
    assert busy(more, events()) == {"c": S}


def test_a_part_begins_with_what_was_in_hand_before(events: Events) -> None:
    table = events(leased("delivered", S, 0), leased("acknowledged", 6 * S, 0))
    assert busy(table, events(), Scale(5 * S, 10 * S, S)) == {"w": S}
    assert busy(table.where(f"time_ns < {4 * S}"), events(), Scale(2 * S, 4 * S, S)) == {"w": 2 * S}


def test_hands_over_time(spark: SparkSession, events: Events) -> None:
    table = events(leased("delivered", S // 2, 0, 2), leased("acknowledged", 2 * S, 0, 2))
    scale = Scale(0, 3 * S, S)
    check(
        spark,
        hands.hands_over_time(spans(table, events(), scale), scale).where("in_hand > 0"),
        hands.TIME_SCHEMA,
        [("q", "w", 0, S // 2, 1.0), ("q", "w", S, S, 2.0)],
    )


def test_consumers_are_busy_idle_or_did_nothing(spark: SparkSession, events: Events) -> None:
    table = events(delivered(2 * S, 0, 0), committed(4 * S, 0, 0), delivered(9 * S, 0, 1))
    started = [
        {"kind": "client_started", "time_ns": at, "client": client, "detail": json.dumps({"role": role})}
        for at, client, role in (
            (0, "c", "consumer"),
            (S, "bench", "worker"),
            (0, "p", "producer"),
            (0, "idle", "consumer"),
        )
    ]
    assigned = {
        "kind": "partitions_assigned", "time_ns": S, "group": "g", "client": "c",
        "detail": json.dumps({"partitions": [["t", 0], ["t", 1]]}),
    }  # fmt: skip
    joined = {"kind": "member_joined", "time_ns": 2 * S, "group": "g", "client": "idle"}
    stopped = {"kind": "client_stopped", "time_ns": 6 * S, "client": "bench"}
    control = events(*started, assigned, joined, stopped, _revoked(8 * S, 1))
    owners = ownership.ownership(control, SCALE)
    answer = consumers.consumers(rollup.rollup(table, SCALE), control, owners, spans(table, control), SCALE)
    check(
        spark,
        answer,
        consumers.SCHEMA,
        [
            ("g", "c", 0, 10 * S, 9 * S, 2, 1, 3 * S, 7 * S, 0.3, 0.3, 5 * S - 20 * MS),
            ("", "bench", S, 6 * S, None, 0, 0, 0, 5 * S, 0.0, 0.0, 5 * S),
            ("g", "idle", 0, 10 * S, 0, 0, 0, 0, 10 * S, 0.0, 0.0, 10 * S),
        ],
    )


def test_leases_are_counted_by_how_they_ended(spark: SparkSession, events: Events) -> None:
    table = events(
        leased("delivered", 0, 0, 4), leased("lease_extended", S, 0, 2), leased("lease_extended", 2 * S, 0),
        leased("acknowledged", 2 * S, 0, 2), leased("lease_expired", 3 * S, 2), leased("released", 4 * S, 3),
        leased("delivered", 5 * S, 2, attempt=2), leased("nacked", 6 * S, 2, attempt=2),
        delivered(0, 0, 0), committed(S, 0, 0),
    )  # fmt: skip
    control = events({"kind": "member_joined", "group": "g", "client": "c"})
    answer = leases.leases(rollup.rollup(table, SCALE), control, spans(table, control), SCALE)
    held = 2 * 2 * S + 3 * S + 4 * S + S
    check(spark, answer, leases.SCHEMA, [("q", "w", 5, 2, 1, 1, 1, 3, float(held), held / 5, held / (10 * S))])
