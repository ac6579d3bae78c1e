"""Each question on a few events whose answer can be worked out by hand."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession
from pyspark.testing import assertDataFrameEqual

from spark_reports.questions import (
    audit,
    backpressure,
    dead_letters,
    keys,
    lag,
    latency,
    markers,
    ownership,
    queues,
    rebalances,
    redeliveries,
    rollup,
    throughput,
    totals,
)
from tests.spark_reports.conftest import Events

pytestmark = pytest.mark.spark

S = 1_000_000_000
MS = 1_000_000


def check(spark: SparkSession, answer: DataFrame, schema: str, rows: list[tuple]) -> None:
    """`answer` has exactly these columns, types and rows, in this order."""
    assertDataFrameEqual(answer, spark.createDataFrame(rows, schema), checkRowOrder=True, ignoreNullable=True)


def published(at: int, partition: int, offset: int, count: int = 1, **more: object) -> dict:
    return {
        "kind": "published", "time_ns": at, "topic": "t", "partition": partition, "offset": offset, "count": count,
        "size_bytes": 10 * count, "client": "p", **more,
    }  # fmt: skip


def committed(at: int, partition: int, offset: int, count: int = 1, **more: object) -> dict:
    return {
        "kind": "acknowledged", "time_ns": at, "topic": "t", "partition": partition, "offset": offset, "count": count,
        "client": "c", "group": "g", **more,
    }  # fmt: skip


def leased(kind: str, at: int, offset: int, count: int = 1, **more: object) -> dict:
    return {
        "kind": kind, "time_ns": at, "topic": "q", "partition": 0, "offset": offset, "count": count, "group": "q",
        "client": "w", "attempt": 1, **more,
    }  # fmt: skip


def test_rollup_sums_ranges_and_keeps_the_last_offset(spark: SparkSession, events: Events) -> None:
    table = events(
        published(0, 0, 0, 3),
        published(S - 1, 0, 3, 2),
        published(S, 0, 5),
        committed(S, 0, 2, 3),
        committed(S + 1, 0, 0, 2),
    )
    answer = rollup.rollup(table, S).orderBy("start_ns", "kind")
    check(
        spark,
        answer,
        rollup.SCHEMA,
        [
            (0, "published", "t", 0, "p", "", None, "", "", None, 2, 5, 50, 5, None, 1),
            # The last event decides, not the highest offset: a reset goes back.
            (S, "acknowledged", "t", 0, "c", "g", None, "", "", None, 2, 5, 0, 2, None, 4),
            (S, "published", "t", 0, "p", "", None, "", "", None, 1, 1, 10, 6, None, 2),
        ],
    )


def test_totals_count_every_message_of_every_range(spark: SparkSession, events: Events) -> None:
    table = events(
        published(0, 0, 0, 1000),
        leased("delivered", 1, 0, 4),
        leased("delivered", 2, 0, 3, attempt=2),
        leased("acknowledged", 3, 0, 4),
        leased("dead_lettered", 4, 4, 2),
        {"kind": "rejected", "topic": "t", "count": 5},
        {"kind": "dropped", "topic": "t", "count": 6},
        leased("purged", 5, 6, 3),
        leased("purged", 5, 0, 2, topic="q.dlq"),
    )
    control = events({"kind": "rebalance_started", "group": "g"}, {"kind": "fault"})
    answer = totals.totals(rollup.rollup(table, S), control).orderBy("name")
    expected = {
        "published": 1000, "delivered": 7, "redelivered": 3, "acknowledged": 4, "dead_lettered": 2, "rejected": 5,
        "dropped": 6, "redriven": 0, "expired": 0, "evicted": 0, "purged": 3, "rebalances": 1, "events": 11,
    }  # fmt: skip
    check(spark, answer, totals.SCHEMA, sorted(expected.items()))


def test_totals_of_an_empty_session_are_zero(events: Events) -> None:
    answer = totals.totals(rollup.rollup(events(), S), events()).collect()
    assert len(answer) == 13 and all(row.recorded == 0 for row in answer)


def test_reconciliation_puts_what_differs_first(spark: SparkSession) -> None:
    counted = spark.createDataFrame([("published", 10), ("delivered", 9), ("purged", 0)], totals.SCHEMA)
    summary = spark.createDataFrame([("published", 10), ("delivered", 10)], totals.SUMMARY_SCHEMA)
    check(
        spark,
        totals.reconciliation(counted, summary),
        totals.RECONCILIATION_SCHEMA,
        [("delivered", 10, 9, -1, False), ("published", 10, 10, 0, True)],
    )


def test_throughput_is_per_second_of_the_bucket(spark: SparkSession, events: Events) -> None:
    table = events(
        published(0, 0, 0, 4), published(S, 1, 0, 2), published(5 * S, 0, 4),
        leased("delivered", 2 * S, 0, 3, size_bytes=30),
    )  # fmt: skip
    answer = throughput.throughput(rollup.rollup(table, 2 * S), 2 * S)
    check(
        spark,
        answer,
        throughput.SCHEMA,
        [
            ("consumer", "q", "w", 2 * S, 3, 30, 1.5, 15.0),
            ("partition", "t", "0", 0, 4, 40, 2.0, 20.0),
            ("partition", "t", "0", 4 * S, 1, 10, 0.5, 5.0),
            ("partition", "t", "1", 0, 2, 20, 1.0, 10.0),
            ("producer", "t", "p", 0, 6, 60, 3.0, 30.0),
            ("producer", "t", "p", 4 * S, 1, 10, 0.5, 5.0),
            ("topic", "t", "t", 0, 6, 60, 3.0, 30.0),
            ("topic", "t", "t", 4 * S, 1, 10, 0.5, 5.0),
        ],
    )
    series = throughput.throughput_series(answer, 7 * S).where("dimension = 'topic'")
    check(spark, series, throughput.SERIES_SCHEMA, [("topic", "t", "t", 7, 70, 1.0, 10.0, 3.0)])


def test_latency_weighs_messages_and_takes_first_deliveries_only(spark: SparkSession, events: Events) -> None:
    table = events(
        leased("delivered", 100 * MS, 0, 98, published_ns=90 * MS),
        leased("delivered", 1000 * MS, 98, 2, published_ns=0),
        leased("delivered", 9000 * MS, 0, 1, published_ns=0, attempt=2),
        leased("acknowledged", 5 * MS, 0, 1, published_ns=5 * MS),
        leased("acknowledged", 5 * MS, 0, 7),
    )
    answer = latency.latency(latency.latency_buckets(table, S)).collect()
    zero, first = answer
    assert (zero.measure, zero.messages, zero.p50_ns, zero.max_ns) == ("acknowledged", 1, 0, 0)
    assert (first.measure, first.messages, first.max_ns) == ("delivered", 100, 1000 * MS)
    assert first.p50_ns == pytest.approx(10 * MS, rel=0.005)
    assert first.p90_ns == first.p50_ns
    assert first.p99_ns == pytest.approx(1000 * MS, rel=0.005)
    assert first.mean_ns == pytest.approx((98 * 10 + 2 * 1000) / 100 * MS, rel=0.005)


def test_latency_percentiles_are_within_half_a_percent_of_the_exact_ones(spark: SparkSession) -> None:
    rows = spark.range(20_000).selectExpr(
        "'delivered' kind", "'t' topic", "'g' group", "1 attempt", "cast(1 + mod(id, 3) as bigint) count",
        "cast(pow(10, 3 + 6 * rand(7)) as bigint) + id * 1000 time_ns", "id * 1000 published_ns",
    )  # fmt: skip
    rows = rows.persist()
    row = latency.latency(latency.latency_buckets(rows, S)).first()
    exact = sorted(
        value
        for late, count in rows.selectExpr("time_ns - published_ns", "count").collect()
        for value in [late] * count
    )
    assert row is not None
    for name, quantile in latency.QUANTILES.items():
        rank = -(-len(exact) * quantile // 1)
        assert row[name] == pytest.approx(exact[int(rank) - 1], rel=0.0051), name
    assert row.max_ns == exact[-1]


def test_latency_curve_ends_at_one_and_the_heat_map_keeps_every_message(spark: SparkSession, events: Events) -> None:
    table = events(
        leased("delivered", 10 * MS, 0, 3, published_ns=0), leased("delivered", 2 * S, 3, 1, published_ns=1 * S)
    )
    buckets = latency.latency_buckets(table, S)
    curve = latency.latency_curve(buckets)
    assert curve.schema.simpleString() == spark.createDataFrame([], latency.CURVE_SCHEMA).schema.simpleString()
    assert [(row.messages, row.share) for row in curve.collect()] == [(3, 0.75), (1, 1.0)]
    check(
        spark,
        latency.latency_heat(buckets),
        latency.HEAT_SCHEMA,
        # Eight rows a decade: row 55 holds 7.5 to 10 ms, row 71 holds 750 ms to 1 s.
        [("delivered", 0, 55, 7_498_942, 3), ("delivered", 2 * S, 71, 749_894_209, 1)],
    )


def test_lag_carries_offsets_forward_and_is_null_before_the_first_commit(spark: SparkSession, events: Events) -> None:
    table = events(
        published(0, 0, 0, 10), committed(S, 0, 0, 4), published(3 * S, 0, 10, 5), committed(3 * S + 1, 0, 4, 2)
    )
    answer = lag.lag(rollup.rollup(table, S), events(), 5 * S, S)
    check(
        spark,
        answer,
        lag.SCHEMA,
        [
            ("g", "t", 0, 0, 10, None, None),
            ("g", "t", 0, S, 10, 4, 6),
            ("g", "t", 0, 2 * S, 10, 4, 6),
            ("g", "t", 0, 3 * S, 15, 6, 9),
            ("g", "t", 0, 4 * S, 15, 6, 9),
        ],
    )
    check(spark, lag.lag_series(answer), lag.SERIES_SCHEMA, [("g", "t", 0, 9, 9, 3 * S, 7.5)])


def test_a_reset_moves_the_committed_offset_back_and_redriven_messages_are_appended(
    spark: SparkSession, events: Events
) -> None:
    redriven = {
        "kind": "redriven", "time_ns": S, "topic": "t.dlq", "partition": 0, "offset": 0, "count": 2,
        "to_topic": "t", "to_partition": 0, "to_offset": 10, "seq": 3,
    }  # fmt: skip
    table = events(published(0, 0, 0, 10), committed(0, 0, 0, 10), redriven)
    changes = json.dumps({"changes": [["t", 0, 10, 2]]})
    reset = events({"kind": "offsets_reset", "time_ns": S, "group": "g", "count": 1, "detail": changes, "seq": 9})
    check(
        spark,
        lag.lag(rollup.rollup(table, S), reset, 2 * S, S),
        lag.SCHEMA,
        [("g", "t", 0, 0, 10, 10, 0), ("g", "t", 0, S, 12, 2, 10)],
    )


def test_queues_have_what_waits_and_what_is_in_flight(spark: SparkSession, events: Events) -> None:
    table = events(
        {**published(0, 0, 0, 5), "topic": "q"},
        leased("delivered", 0, 0, 3),
        leased("acknowledged", S, 0, 1),
        leased("nacked", S, 1, 1),
        leased("lease_expired", S, 2, 1),
        leased("dead_lettered", S, 2, 1, to_topic="q.dlq", to_partition=0, to_offset=0),
        {"kind": "redriven", "time_ns": 2 * S, "topic": "q.dlq", "partition": 0, "offset": 0, "count": 1, "group": "q",
         "to_topic": "q", "to_partition": 0, "to_offset": 5},
        {"kind": "dropped", "time_ns": 2 * S, "topic": "q", "count": 7},
        leased("purged", 2 * S, 3, 2),
    )  # fmt: skip
    control = events(
        {"kind": "user_action", "time_ns": 2 * S, "topic": "q", "count": 1, "cause": "undo purge"},
        {"kind": "user_action", "time_ns": 2 * S, "topic": "q", "cause": "looked at it"},
    )
    check(
        spark,
        queues.queues(rollup.rollup(table, S), control, 3 * S, S),
        queues.SCHEMA,
        [("q", 0, 2, 3), ("q", S, 3, 0), ("q", 2 * S, 3, 0)],
    )


def _started(at: int, generation: int, cause: str, **more: object) -> dict:
    return {"kind": "rebalance_started", "time_ns": at, "group": "g", "generation": generation, "cause": cause, **more}


def _completed(at: int, generation: int, cause: str, **detail: object) -> dict:
    return {
        "kind": "rebalance_completed", "time_ns": at, "group": "g", "generation": generation, "cause": cause,
        "detail": json.dumps(detail),
    }  # fmt: skip


def test_rebalances_say_cause_pause_and_what_moved(spark: SparkSession, events: Events) -> None:
    before = [["t", 0, "a"], ["t", 1, "a"], ["t", 2, "b"]]
    after = [["t", 0, "a"], ["t", 1, "b"], ["t", 2, "b"], ["t", 3, "b"]]
    revoked = {
        "kind": "partitions_revoked",
        "group": "g",
        "client": "a",
        "detail": json.dumps({"partitions": [["t", 1]]}),
    }
    control = events(
        _started(S, 1, "b joined"),
        {**revoked, "time_ns": S},
        {**revoked, "time_ns": S},
        {"kind": "group_state", "group": "g", "time_ns": S},
        _completed(3 * S, 2, "b joined", before=before, after=after, started_ns=S),
        {**revoked, "time_ns": 3 * S + 1, "group": "other"},
        _started(8 * S, 2, "b crashed"),
    )
    check(
        spark,
        rebalances.rebalances(control, 10 * S),
        rebalances.SCHEMA,
        [
            ("g", S, 3 * S, 2 * S, True, "b joined", 1, 2, 4, 2, 2, 1),
            ("g", 8 * S, 10 * S, 2 * S, False, "b crashed", 2, None, 0, 0, 0, 0),
        ],
    )


def _owned(kind: str, at: int, client: str, *partitions: int, generation: int = 1) -> dict:
    detail = json.dumps({"partitions": [["t", number] for number in partitions]})
    return {
        "kind": f"partitions_{kind}", "time_ns": at, "group": "g", "client": client, "generation": generation,
        "detail": detail,
    }  # fmt: skip


def test_ownership_is_one_interval_per_holder(spark: SparkSession, events: Events) -> None:
    control = events(
        _owned("assigned", S, "a", 0, 1),
        _owned("revoked", 2 * S, "a", 1),
        _owned("assigned", 3 * S, "b", 1, generation=2),
        _owned("assigned", 3 * S, "a", 0, generation=2),  # kept: no new interval
        _owned("revoked", 4 * S, "a", 1),  # late: b holds it
    )
    check(
        spark,
        ownership.ownership(control, 5 * S),
        ownership.SCHEMA,
        [
            ("g", "t", 0, "a", 1, S, 5 * S, 4 * S),
            ("g", "t", 1, "a", 1, S, 2 * S, S),
            ("g", "t", 1, "b", 2, 3 * S, 5 * S, 2 * S),
        ],
    )


def test_redeliveries_are_a_ladder_of_attempts(spark: SparkSession, events: Events) -> None:
    table = events(
        leased("delivered", 0, 0, 5), leased("acknowledged", 1, 0, 3), leased("nacked", 1, 3, 1),
        leased("lease_expired", 2, 4, 1), leased("delivered", 3, 3, 2, attempt=2),
        leased("dead_lettered", 4, 3, 2, attempt=2), committed(5, 0, 0, 2),
    )  # fmt: skip
    check(
        spark,
        redeliveries.redeliveries(rollup.rollup(table, S)),
        redeliveries.SCHEMA,
        [("g", "t", 1, 0, 2, 0, 0, 0, 0), ("q", "q", 1, 5, 3, 1, 0, 1, 0), ("q", "q", 2, 2, 0, 0, 0, 0, 2)],
    )


def test_dead_letters_by_cause_and_each_with_its_redrive(spark: SparkSession, events: Events) -> None:
    table = events(
        leased("dead_lettered", S, 7, 2, cause="poison", attempt=3, to_topic="q.dlq", to_partition=0, to_offset=0,
               published_ns=5),
        leased("dead_lettered", 2 * S, 9, cause="=late", attempt=1, to_topic="q.dlq", to_partition=0, to_offset=2,
               key=b"\xff\x00"),
        {"kind": "redriven", "time_ns": 3 * S, "topic": "q.dlq", "partition": 0, "offset": 1, "count": 1, "group": "q"},
        {"kind": "redriven", "time_ns": 4 * S, "topic": "q.dlq", "partition": 0, "offset": 1, "count": 1, "group": "q"},
    )  # fmt: skip
    check(
        spark,
        dead_letters.dead_letters(table),
        dead_letters.SCHEMA,
        [("q", "poison", 2, 1, S, S), ("q", "=late", 1, 0, 2 * S, 2 * S)],
    )
    check(
        spark,
        dead_letters.dead_letter_list(table),
        dead_letters.LIST_SCHEMA,
        [
            (S, "q", "q", 0, 7, None, "poison", 3, 5, "q.dlq", 0, None),
            (S, "q", "q", 0, 8, None, "poison", 3, 5, "q.dlq", 1, 3 * S),
            (2 * S, "q", "q", 0, 9, "0xFF00", "=late", 1, None, "q.dlq", 2, None),
        ],
    )


def test_hot_keys_have_their_shares_and_any_bytes_are_shown(spark: SparkSession, events: Events) -> None:
    table = events(
        *(published(0, 0, n, key=b"hot") for n in range(6)),
        *(published(0, 0, 6 + n, key=b"\x00\x01") for n in range(2)),
        published(0, 1, 0, key="Ž".encode()),
        published(0, 1, 1, 3),
    )
    parts = keys.partitions(rollup.rollup(table, S))
    check(spark, parts, keys.PARTITIONS_SCHEMA, [("t", 0, 8, 80, 8 / 12, 16 / 12), ("t", 1, 4, 40, 4 / 12, 8 / 12)])
    check(
        spark,
        keys.hot_keys(table, parts, top=3),
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
    blocks = backpressure.backpressure(control, 3 * S)
    check(
        spark,
        blocks,
        backpressure.SCHEMA,
        [("t", "p", "block: r", S // 2, 3 * S // 2, S, True), ("t", "p2", "block: r", S, 3 * S, 2 * S, False)],
    )
    rolled = rollup.rollup(table, S)
    check(
        spark,
        backpressure.backpressure_series(blocks, rolled),
        backpressure.SERIES_SCHEMA,
        [("t", 2, 3 * S, 2 * S, 2, 0, 0, 0), ("u", 0, 0, 0, 0, 1, 0, 0)],
    )
    check(
        spark,
        backpressure.backpressure_over_time(blocks, rolled, S),
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


def broken(events: Events, *rows: dict, control: tuple[dict, ...] = ()) -> dict[str, tuple]:
    """The checks that `rows` break: (messages, explained, group, topic, partition, first offset)."""
    answer = audit.audit(events(*rows), events(*control)).collect()
    assert [row.check for row in answer] == list(audit.CHECKS)
    return {row.check.split(" ")[0].rstrip(":"): tuple(row)[1:3] + tuple(row)[4:] for row in answer if row.messages}


def delivered(at: int, partition: int, offset: int, count: int = 1, attempt: int = 1) -> dict:
    return committed(at, partition, offset, count, kind="delivered", attempt=attempt)


def test_an_audit_finds_nothing_where_nothing_is_wrong(events: Events) -> None:
    sound = (
        published(0, 0, 0, 5), published(0, 0, 5, 5), published(0, 1, 0), delivered(1, 0, 0, 7),
        delivered(2, 0, 4, 3, 2), delivered(3, 0, 7, 3), committed(4, 0, 0, 2), committed(5, 0, 2, 8),
        {**published(0, 0, 0, 3), "topic": "q"}, leased("delivered", 1, 0, 3), leased("acknowledged", 2, 1),
        leased("dead_lettered", 2, 0, to_topic="q.dlq", to_partition=0, to_offset=0), leased("purged", 3, 2),
        {"kind": "redriven", "topic": "q.dlq", "partition": 0, "offset": 0, "count": 1, "group": "q",
         "to_topic": "q", "to_partition": 0, "to_offset": 3},
        leased("delivered", 4, 3), leased("acknowledged", 5, 3), {"kind": "dropped", "topic": "q", "count": 9},
    )  # fmt: skip
    assert broken(events, *sound) == {}


def test_an_audit_names_what_is_lost_duplicated_or_finished_twice(events: Events) -> None:
    assert broken(events, published(0, 0, 0, 5), published(0, 0, 8, 2)) == {"lost": (3, 0, "", "t", 0, 0)}
    assert broken(events, published(0, 1, 0, 5), published(0, 1, 3, 4)) == {"published": (2, 0, "", "t", 1, 0)}
    assert broken(events, published(0, 0, 0, 9), delivered(1, 0, 0, 4), delivered(2, 0, 2, 5)) == {
        "delivered": (2, 0, "g", "t", 0, 0)
    }
    twice = (published(0, 0, 0, 9), delivered(1, 0, 0, 9), committed(2, 0, 0, 5), committed(3, 0, 1, 2))
    assert broken(events, *twice) == {"finished": (2, 0, "g", "t", 0, 0)}
    reset = {"kind": "offsets_reset", "group": "g"}
    assert broken(events, *twice, control=(reset,)) == {"finished": (2, 2, "g", "t", 0, 0)}
    assert broken(events, published(0, 0, 0, 9), delivered(1, 0, 0, 2), committed(2, 0, 0, 6)) == {
        "acknowledged": (4, 0, "g", "t", 0, 0)
    }


def test_an_audit_counts_across_words_of_64_offsets(events: Events) -> None:
    whole = [published(0, 0, 0, 1000), delivered(1, 0, 0, 1000), committed(2, 0, 0, 64), committed(3, 0, 64, 936)]
    assert broken(events, *whole) == {}
    assert broken(events, *whole, committed(4, 0, 100, 200)) == {"finished": (200, 0, "g", "t", 0, 64)}
    assert broken(events, published(0, 0, 70, 58), published(0, 0, 128, 1), published(0, 0, 700)) == {
        "lost": (571, 0, "", "t", 0, 64)
    }
    assert broken(events, published(0, 0, 5, 300), published(0, 0, 127, 2)) == {"published": (2, 0, "", "t", 0, 64)}


@given(st.lists(st.tuples(st.integers(0, 400), st.integers(1, 150)), min_size=1, max_size=12))
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_an_audit_of_any_ranges_counts_as_a_set_does(events: Events, ranges: list[tuple[int, int]]) -> None:
    offsets = [offset for start, count in ranges for offset in range(start, start + count)]
    lost, twice = max(offsets) + 1 - min(offsets) - len(set(offsets)), len(offsets) - len(set(offsets))
    found = broken(events, *(published(0, 0, start, count) for start, count in ranges))
    assert {check: row[0] for check, row in found.items()} == {
        check: messages for check, messages in (("lost", lost), ("published", twice)) if messages
    }
