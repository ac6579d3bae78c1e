"""What blocked, refused or interrupted whom, and what changed by it."""

from __future__ import annotations

import json

import pytest
from pyspark.sql import SparkSession

from spark_reports.frames import Frames
from spark_reports.questions import backpressure, blockers, effects, groups, latency, refusals, rollup, unserved
from spark_reports.scale import Scale
from tests.spark_reports.conftest import Events
from tests.spark_reports.questions.rows import MS, S, check, committed, delivered, leased, published

pytestmark = pytest.mark.spark

SCALE = Scale(0, 60 * S, S)


def _turned_away(kind: str, count: int, cause: str, **more: object) -> dict:
    return {"kind": kind, "topic": "t", "client": "p", "count": count, "cause": cause, **more}


def test_what_blocked_what_is_told_without_the_numbers_that_differ(spark: SparkSession, events: Events) -> None:
    full = "t is full: {} of 20 messages, slowest reader g"
    rate = "t takes at most 20 messages/s"
    control = events(
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
        spark,
        blockers.blockers(blocks, rollup.rollup(table, SCALE)),
        blockers.SCHEMA,
        [
            ("t", "p", "full of messages", "g", 2, 4 * S, 3 * S, 2, 3, 0),
            ("t", "p2", "rate limit", "", 1, S, S, 0, 0, 0),
            ("t", "p", "schema", "", 0, 0, 0, 1, 0, 0),
            ("t", "", "room for a newer message", "slow", 0, 0, 0, 0, 0, 4),
        ],
    )


def test_schema_refusals_name_subject_and_place(spark: SparkSession, events: Events) -> None:
    table = events(
        _turned_away("rejected", 2, "schema order refused /amount", time_ns=5),
        _turned_away("rejected", 1, "schema order refused /amount", time_ns=9, client="p2"),
        _turned_away("dead_lettered", 1, "schema order refused the value", time_ns=7),
        _turned_away("rejected", 8, "t is full: 20 of 20 messages"),
    )
    check(
        spark,
        refusals.refusals(rollup.rollup(table, SCALE)),
        refusals.SCHEMA,
        [
            ("t", "order", "/amount", "refused", 3, 2, 5, 9),
            ("t", "order", "the value", "dead-lettered", 1, 1, 7, 7),
        ],
    )


def _owned(kind: str, at: int, client: str, *partitions: int) -> dict:
    detail = json.dumps({"partitions": [["t", number] for number in partitions]})
    return {"kind": f"partitions_{kind}", "time_ns": at, "group": "g", "client": client, "detail": detail}


def test_partitions_without_a_reader_and_what_came_meanwhile(spark: SparkSession, events: Events) -> None:
    control = events(
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
    frames = Frames(messages, control, SCALE, events())
    check(
        spark,
        frames.unserved,
        unserved.SCHEMA,
        [
            ("g", 50 * S, "t", 1, "b", None, 50 * S, 60 * S, 10 * S, 0),
            ("g", 10 * S, "t", 1, "a", "b", 10 * S, 13 * S, 3 * S, 3),
            ("g", 10 * S, "t", 0, "a", "a", 10 * S, 12 * S, 2 * S, 0),
        ],
    )


def test_many_pauses_are_few_windows(spark: SparkSession) -> None:
    rows = [("g", 0, "t", 0, at * 100, "a", "b", at * 100 + (10 if at else 150)) for at in range(200)]
    found = unserved.windows(spark.createDataFrame(rows, unserved.PAUSES_SCHEMA))
    assert len(found) == unserved.MOST_WINDOWS and found[0][0] == 0
    assert all(any(begin <= row[4] and row[7] <= end for begin, end in found) for row in rows)
    few = unserved.windows(spark.createDataFrame(rows[:3], unserved.PAUSES_SCHEMA))
    assert few == [(0, 150), (200, 210)]
    assert unserved.windows(spark.createDataFrame([], unserved.PAUSES_SCHEMA)) == []


def test_the_effects_of_a_fault_are_those_of_its_group_and_of_a_disk_of_all(
    spark: SparkSession, events: Events
) -> None:
    table = events(
        *(published(at * S, 0, at, 1) for at in range(60)),
        *(delivered(at * S + 10 * MS, 0, at) | {"published_ns": at * S} for at in range(30)),
        *(committed(at * S + 10 * MS, 0, at) for at in range(30)),
        *(leased("delivered", at * S, at, 2, published_ns=at * S) for at in range(60)),
        *(leased("acknowledged", at * S, at, 2) for at in range(60)),
    )
    control = events(
        {"kind": "fault", "time_ns": 30 * S, "client": "c", "cause": "crash"},
        {"kind": "fault", "time_ns": 30 * S, "cause": "disk full"},
        {"kind": "client_stopped", "time_ns": 31 * S, "client": "c"},
    )
    frames = Frames(table, control, SCALE, events())
    answer = effects.effects(
        frames.markers, frames.counted, frames.latency_buckets, frames.lag, frames.queues, SCALE
    ).collect()
    schema = spark.createDataFrame([], effects.SCHEMA).schema
    assert answer and list(answer[0].asDict()) == schema.names
    disk, crash = answer
    assert (crash.cause, crash.scope, disk.cause, disk.scope) == ("crash", "g", "disk full", "")
    assert (crash.published_before, crash.published_after) == (1.0, 1.0)
    assert (crash.delivered_before, crash.delivered_after) == (1.0, 0.0)
    assert (disk.delivered_before, disk.delivered_after) == (3.0, 2.0)
    assert crash.p99_before_ns == pytest.approx(10 * MS, rel=0.005) and crash.p99_after_ns is None
    assert (crash.behind_before, crash.behind_after) == (0, 13)


def test_a_group_in_one_row(spark: SparkSession, events: Events) -> None:
    table = events(
        *(published(at * S, 0, at) for at in range(10)),
        *(delivered(at * S + 10, 0, at) | {"published_ns": at * S} for at in range(8)),
        *(committed(at * S + S // 2, 0, at) for at in range(8)),
    )
    frames = Frames(table, events(), Scale(0, 10 * S, S), events())
    answer = groups.groups(
        frames.counted,
        latency.latency(frames.latency_buckets, "group"),
        frames.lag,
        frames.queues,
        frames.rebalances,
        frames.unserved,
        frames.consumers,
    )
    (row,) = answer.collect()
    assert list(row.asDict()) == spark.createDataFrame([], groups.SCHEMA).schema.names
    assert (row.group, row.clients, row.delivered, row.acknowledged, row.repeated) == ("g", 1, 8, 8, 0)
    assert (row.max_behind, row.last_behind, row.rebalances, row.unserved_ns) == (2, 2, 0, 0)
    assert row.max_ns == 10 and row.utilisation == pytest.approx(0.4, abs=0.01)
