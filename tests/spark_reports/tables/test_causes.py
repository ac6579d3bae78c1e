"""What blocked, refused or interrupted whom, and what changed by it."""

from __future__ import annotations

import json
from types import SimpleNamespace

import polars as pl
import pytest

from spark_reports.scale import Scale
from spark_reports.tables import backpressure, consumers, groups, lag, latency, ownership, presence, queues
from spark_reports.tables.details import detailed
from spark_reports.tables.schema import arrow, rows
from tests.spark_reports.tables.rows import (
    S,
    check,
    committed,
    delivered,
    events,
    happened,
    in_flight_time,
    late,
    owned,
    published,
    reduced,
    rolled,
)

SCALE = Scale(0, 60 * S, S)


def _turned_away(kind: str, count: int, cause: str, **more: object) -> dict:
    return {"kind": kind, "topic": "t", "client": "p", "count": count, "cause": cause, **more}


def test_what_blocked_what_is_told_without_the_numbers_that_differ() -> None:
    full = "t is full: {} of 20 messages, slowest reader g"
    rate = "t takes at most 20 messages/s"
    control = happened(
        _turned_away("producer_blocked", 0, full.format(20), time_ns=S),
        _turned_away("producer_unblocked", 0, "room", time_ns=2 * S),
        _turned_away("producer_blocked", 0, full.format(19), time_ns=3 * S),
        _turned_away("producer_unblocked", 0, "room", time_ns=6 * S),
        _turned_away("producer_blocked", 0, rate, time_ns=7 * S, client="p2"),
        _turned_away("producer_unblocked", 0, "room", time_ns=8 * S, client="p2"),
    )
    table = events(
        _turned_away("rejected", 2, full.format(18)),
        _turned_away("dropped", 3, full.format(20)),
        _turned_away("rejected", 1, "schema s refused /a"),
        {**_turned_away("evicted", 4, "room for a newer message"), "group": "slow"},
    )
    blocks = backpressure.backpressure(control, SCALE)
    check(
        backpressure.blockers(blocks, rolled(table, SCALE)),
        backpressure.BLOCKERS_SCHEMA,
        [
            ("t", "p", "full of messages", "g", 2, 4 * S, 3 * S, 2, 3, 0),
            ("t", "p2", "rate limit", "", 1, S, S, 0, 0, 0),
            ("t", "p", "schema", "", 0, 0, 0, 1, 0, 0),
            ("t", "", "room for a newer message", "slow", 0, 0, 0, 0, 0, 4),
        ],
    )


def test_schema_refusals_name_subject_and_place() -> None:
    table = events(
        _turned_away("rejected", 2, "schema order refused /amount", time_ns=5),
        _turned_away("rejected", 1, "schema order refused /amount", time_ns=9, client="p2"),
        _turned_away("dead_lettered", 1, "schema order refused the value", time_ns=7),
        _turned_away("rejected", 8, "t is full: 20 of 20 messages"),
    )
    check(
        backpressure.refusals(rolled(table, SCALE)),
        backpressure.REFUSALS_SCHEMA,
        [("t", "order", "/amount", "refused", 3, 2, 5, 9), ("t", "order", "the value", "dead-lettered", 1, 1, 7, 7)],
    )


def _owned(kind: str, at: int, client: str, *partitions: int) -> dict:
    detail = json.dumps({"partitions": [["t", number] for number in partitions]})
    return {"kind": f"partitions_{kind}", "time_ns": at, "group": "g", "client": client, "detail": detail}


def test_partitions_without_a_reader_and_what_came_meanwhile() -> None:
    control = happened(
        _owned("assigned", 0, "a", 0, 1, 2),
        {"kind": "rebalance_started", "time_ns": 10 * S, "group": "g", "cause": "b joined"},
        _owned("revoked", 10 * S, "a", 0, 1),
        _owned("assigned", 12 * S, "a", 0),
        _owned("assigned", 13 * S, "b", 1),
        {"kind": "rebalance_completed", "time_ns": 13 * S, "group": "g", "detail": json.dumps({"started_ns": 10 * S})},
        {"kind": "rebalance_started", "time_ns": 50 * S, "group": "g", "cause": "b left"},
        _owned("revoked", 50 * S, "b", 1),
    )
    messages = events(
        published(9 * S, 1, 0, 7), published(10 * S, 1, 7, 2), published(12 * S + 1, 1, 9), published(13 * S, 1, 10, 5),
        published(11 * S, 2, 0, 9),
    )  # fmt: skip
    told = detailed(control)
    pauses = ownership.pauses(reduced(control), groups.rebalances(told, SCALE), SCALE)
    appended = messages.join_where(
        pauses.rename({"topic": "of"}),
        pl.col("topic") == pl.col("of"),
        pl.col("partition") == pl.col("partition_right"),
        pl.col("time_ns") >= pl.col("from_ns"),
        pl.col("time_ns") < pl.col("to_ns"),
    )
    counted = appended.group_by("pause").agg(pl.col("count").sum().alias("published"))
    check(
        ownership.unserved(pauses, counted),
        ownership.UNSERVED_SCHEMA,
        [
            ("g", 50 * S, "t", 1, "b", None, 50 * S, 60 * S, 10 * S, 0, 50 * S, None, ""),
            ("g", 10 * S, "t", 1, "a", "b", 10 * S, 13 * S, 3 * S, 3, 10 * S, 13 * S, ""),
            ("g", 10 * S, "t", 0, "a", "a", 10 * S, 12 * S, 2 * S, 0, 10 * S, 12 * S, ""),
        ],
    )


def test_what_came_while_nobody_read_ends_where_somebody_reads_again() -> None:
    came = events(
        *(published(10 * S - 1, 0, 0, 7), published(10 * S, 0, 7), published(13 * S - 1, 0, 8, 2)),
        *(published(13 * S, 0, 10, 5), published(11 * S, 1, 0, 9)),
    )
    pauses = rows(ownership.PAUSES_SCHEMA, []).select("pause", "topic", "partition", "from_ns", "to_ns")
    one = pl.DataFrame([(4, "t", 0, 10 * S, 13 * S)], pauses.schema, orient="row")
    assert ownership.published_in(came.lazy(), one).rows() == [(4, 3)]
    assert ownership.published_in(came.lazy(), pauses).rows() == []


def test_a_group_in_one_row() -> None:
    table = events(
        *(published(at * S, 0, at) for at in range(10)),
        *(delivered(at * S + 10, 0, at) | {"published_ns": at * S} for at in range(8)),
        *(committed(at * S + S // 2, 0, at) for at in range(8)),
    )
    scale, told = Scale(0, 10 * S, S), detailed(happened())
    found, owners = rolled(table, scale), owned(happened(), scale)
    moves = groups.rebalances(told, scale)
    there = presence.intervals(found, told, scale)
    held = in_flight_time(table, presence.lost_in_flight(found, told, there), scale)
    answer = groups.groups(
        found,
        latency.latency(late(table, scale), "group"),
        groups.behind(lag.lag(found, told, scale), queues.queues(found, told, scale)),
        moves,
        ownership.pauses(reduced(happened()), moves, scale),
        consumers.consumers(found, told, there, owners, held, scale),
    )
    (row,) = (SimpleNamespace(**each) for each in arrow(answer, groups.SCHEMA).to_pylist())
    assert (row.group, row.clients, row.delivered, row.acknowledged, row.repeated) == ("g", 1, 8, 8, 0)
    assert (row.max_behind, row.last_behind, row.rebalances, row.unserved_ns) == (2, 2, 0, 0)
    assert row.max_ns == 10 and row.utilisation == pytest.approx(0.4, abs=0.01)
