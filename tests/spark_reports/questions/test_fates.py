"""What became of messages: redeliveries, dead letters, backpressure; keys and markers."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from spark_reports.questions import backpressure, dead_letters, keys, markers, redeliveries, rollup
from spark_reports.scale import Scale
from tests.spark_reports.conftest import Events
from tests.spark_reports.questions.rows import S, check, committed, leased, published

pytestmark = pytest.mark.spark

SCALE = Scale(0, 10 * S, S)


def test_redeliveries_are_a_ladder_of_attempts(spark: SparkSession, events: Events) -> None:
    table = events(
        leased("delivered", 0, 0, 5), leased("acknowledged", 1, 0, 3), leased("nacked", 1, 3, 1),
        leased("lease_expired", 2, 4, 1), leased("delivered", 3, 3, 2, attempt=2),
        leased("dead_lettered", 4, 3, 2, attempt=2), committed(5, 0, 0, 2),
    )  # fmt: skip
    check(
        spark,
        redeliveries.redeliveries(rollup.rollup(table, SCALE)),
        redeliveries.SCHEMA,
        [("g", "t", 1, 0, 2, 0, 0, 0, 0), ("q", "q", 1, 5, 3, 1, 0, 1, 0), ("q", "q", 2, 2, 0, 0, 0, 0, 2)],
    )


def test_dead_letters_by_cause_by_key_and_each_with_what_its_redrive_came_to(
    spark: SparkSession, events: Events
) -> None:
    def redriven(at: int, offset: int, to: int, count: int = 1) -> dict:
        return {
            "kind": "redriven", "time_ns": at, "topic": "q.dlq", "partition": 0, "offset": offset, "count": count,
            "group": "q", "to_topic": "q", "to_partition": 0, "to_offset": to,
        }  # fmt: skip

    table = events(
        leased("dead_lettered", S, 7, 2, cause="poison", attempt=3, to_topic="q.dlq", to_partition=0, to_offset=0,
               published_ns=5),
        leased("dead_lettered", 2 * S, 9, cause="=late", attempt=1, to_topic="q.dlq", to_partition=0, to_offset=2,
               key=b"\xff\x00"),
        redriven(3 * S, 1, 20),
        redriven(4 * S, 1, 30),  # the first counts
        redriven(4 * S, 2, 21),
        leased("acknowledged", 5 * S, 15, 6),  # 15 to 20
        leased("dead_lettered", 6 * S, 21, cause="poison", to_topic="q.dlq", to_partition=0, to_offset=3),
        redriven(7 * S, 3, 22),
    )  # fmt: skip
    dead = dead_letters.dead(table, SCALE).persist()
    check(
        spark,
        dead_letters.dead_letters(dead),
        dead_letters.SCHEMA,
        [("q", "poison", 3, 2, 1, 0, 1, S, 6 * S), ("q", "=late", 1, 1, 0, 1, 0, 2 * S, 2 * S)],
    )
    check(
        spark,
        dead_letters.dead_letter_keys(dead),
        dead_letters.KEYS_SCHEMA,
        [("q", None, 3, 2, 1, 0, 1, "poison", S), ("q", "0xFF00", 1, 1, 0, 1, 0, "=late", 2 * S)],
    )
    check(
        spark,
        dead_letters.dead_letter_list(dead),
        dead_letters.LIST_SCHEMA,
        [
            (S, "q", "q", 0, 7, None, "poison", 3, 5, "q.dlq", 0, None, None, None),
            (S, "q", "q", 0, 8, None, "poison", 3, 5, "q.dlq", 1, 3 * S, "acknowledged", 5 * S),
            (2 * S, "q", "q", 0, 9, "0xFF00", "=late", 1, None, "q.dlq", 2, 4 * S, "died again", 6 * S),
            (6 * S, "q", "q", 0, 21, None, "poison", 1, None, "q.dlq", 3, 7 * S, "waiting", None),
        ],
    )


def test_hot_keys_have_their_shares_and_any_bytes_are_shown(spark: SparkSession, events: Events) -> None:
    table = events(
        *(published(0, 0, n, key=b"hot") for n in range(6)),
        *(published(0, 0, 6 + n, key=b"\x00\x01") for n in range(2)),
        published(0, 1, 0, key="Ž".encode()),
        published(0, 1, 1, 3),
    )
    parts = keys.partitions(rollup.rollup(table, SCALE))
    check(spark, parts, keys.PARTITIONS_SCHEMA, [("t", 0, 8, 80, 8 / 12, 16 / 12), ("t", 1, 4, 40, 4 / 12, 8 / 12)])
    check(
        spark,
        keys.hot_keys(table, parts, SCALE, top=3),
        keys.SCHEMA,
        [
            ("t", 1, "hot", 0, 6, 60, 0.75, 0.5),
            ("t", 2, "0x0001", 0, 2, 20, 0.25, 2 / 12),
            ("t", 3, "Ž", 1, 1, 10, 0.25, 1 / 12),
        ],
    )


def test_backpressure_pairs_blocks_and_closes_open_ones_at_the_end(spark: SparkSession, events: Events) -> None:
    control = events(
        {"kind": "producer_blocked", "time_ns": S // 2, "topic": "t", "client": "p", "cause": "block: r"},
        {"kind": "producer_blocked", "time_ns": S, "topic": "t", "client": "p2", "cause": "block: r"},
        {"kind": "producer_unblocked", "time_ns": 3 * S // 2, "topic": "t", "client": "p", "cause": ""},
    )
    table = events(
        {"kind": "rejected", "time_ns": 0, "topic": "t", "count": 2},
        {"kind": "dropped", "time_ns": 3 * S, "topic": "u", "count": 1},
    )
    blocks = backpressure.backpressure(control, Scale(0, 3 * S, S))
    check(
        spark,
        blocks,
        backpressure.SCHEMA,
        [("t", "p", "block: r", S // 2, 3 * S // 2, S, True), ("t", "p2", "block: r", S, 3 * S, 2 * S, False)],
    )
    rolled = rollup.rollup(table, SCALE)
    check(
        spark,
        backpressure.backpressure_series(blocks, rolled),
        backpressure.SERIES_SCHEMA,
        [("t", 2, 3 * S, 2 * S, 2, 0, 0, 0), ("u", 0, 0, 0, 0, 1, 0, 0)],
    )
    check(
        spark,
        backpressure.backpressure_over_time(blocks, rolled, SCALE),
        backpressure.TIME_SCHEMA,
        [("t", 0, S // 2, 2, 0), ("t", S, 3 * S // 2, 0, 0), ("t", 2 * S, S, 0, 0), ("u", 3 * S, 0, 0, 1)],
    )


def test_markers_are_what_somebody_did(spark: SparkSession, events: Events) -> None:
    control = events(
        {"kind": "fault", "time_ns": 5, "client": "w", "cause": "crash"},
        {"kind": "group_state", "time_ns": 6, "group": "g"},
        {"kind": "user_action", "time_ns": 7, "cause": "Paused"},
    )
    check(
        spark,
        markers.markers(control),
        markers.SCHEMA,
        [(5, "fault", "", "w", "", "crash"), (7, "user_action", "", "", "", "Paused")],
    )
