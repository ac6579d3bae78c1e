"""Many sessions as one dataset: their figures, differences and trends."""

from __future__ import annotations

import json

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from spark_reports.parts import figures_of
from spark_reports.questions import comparison, cost, runs
from spark_reports.sessions import ABOUT_SCHEMA
from tests.spark_reports.conftest import Events
from tests.spark_reports.questions.rows import MS, S, check, committed, delivered, published

pytestmark = pytest.mark.spark


def _measures(spark: SparkSession, values: dict[str, list[float | None]]) -> DataFrame:
    rows = [
        (number, f"run-{number}", "same", f"2026-01-0{number + 1}", measure, value)
        for measure, series in values.items()
        for number, value in enumerate(series)
    ]
    return spark.createDataFrame(rows, runs.MEASURES_SCHEMA)


def _plan(frame: DataFrame) -> str:
    return str(frame._jdf.queryExecution().analyzed().toString())


def test_the_figures_of_every_session_come_out_of_one_pass(spark: SparkSession, events: Events) -> None:
    one = events(
        published(0, 0, 0, 4),
        *(delivered(100 * MS, 0, at) | {"published_ns": 90 * MS} for at in range(3)),
        delivered(S, 0, 3) | {"published_ns": 0},
        delivered(2 * S, 0, 3, attempt=2) | {"published_ns": 0},
        committed(2 * S, 0, 0, 4),
        {"kind": "rejected", "topic": "t", "count": 5},
    ).withColumn("session", F.lit(0))
    two = events(published(0, 0, 0, 1)).withColumn("session", F.lit(2))
    before, after = [["t", 0, "a"], ["t", 1, "a"]], [["t", 0, "a"], ["t", 1, "b"]]
    control = events(
        {"kind": "rebalance_started", "group": "g", "time_ns": 0},
        {"kind": "rebalance_completed", "group": "g", "time_ns": S,
         "detail": json.dumps({"before": [], "after": before})},
        {"kind": "rebalance_started", "group": "g", "time_ns": 2 * S},
        {"kind": "rebalance_completed", "group": "g", "time_ns": 5 * S,
         "detail": json.dumps({"before": before, "after": after, "started_ns": 2 * S})},
        {"kind": "producer_blocked", "topic": "t", "client": "p", "time_ns": S},
        {"kind": "producer_unblocked", "topic": "t", "client": "p", "time_ns": 3 * S},
        {"kind": "producer_blocked", "topic": "t", "client": "p", "time_ns": 9 * S},
        {"kind": "fault", "client": "a"},
    ).withColumn("session", F.lit(0))  # fmt: skip
    about = spark.createDataFrame(
        [(number, f"run-{number}", "same", 1, "", "finished", 10 * S, 1) for number in range(3)], ABOUT_SCHEMA
    )
    answer = runs.runs(one.union(two), control, about)
    assert answer.schema.simpleString() == spark.createDataFrame([], runs.SCHEMA).schema.simpleString()
    first, empty, last = answer.collect()
    assert (first.published, first.delivered, first.acknowledged, first.redelivered, first.turned_away) == (
        4,
        5,
        4,
        1,
        5,
    )
    assert (first.published_per_s, first.delivered_per_s, first.bytes_per_s) == (0.4, 0.5, 4.0)
    assert first.p50_ns == pytest.approx(10 * MS, rel=0.005) and first.max_ns == S
    assert (first.rebalances, first.rebalancing_ns, first.moved) == (2, 3 * S, 1)
    assert [row.length_ns for row in (first, empty, last)] == [10 * S] * 3
    assert (first.blocked_ns, first.faults, first.events) == (3 * S, 1, 16)
    assert (empty.published, empty.p99_ns, empty.events) == (0, None, 0)
    assert (last.published, last.name) == (1, "run-2")
    some = runs.runs(one.union(two), control, about, figures=figures_of({"latency", "queues"}))
    wanted = [name for name in answer.columns if name in (*figures_of({"latency", "queues"}), *runs.ALWAYS)]
    assert some.columns == [*about.columns, *wanted]
    assert some.collect() == answer.select(*some.columns).collect()
    assert "producer_blocked" in _plan(answer) and "producer_blocked" not in _plan(some), "nobody asked for it"
    assert {row.measure for row in runs.measures(some).collect()} == set(wanted)
    told = runs.measures(answer).where("measure = 'published'")
    assert [(row.session, row.value) for row in told.collect()] == [(0, 4.0), (1, 0.0), (2, 1.0)]


def test_differences_have_a_size_and_a_direction(spark: SparkSession) -> None:
    measures = _measures(
        spark, {"p99_ns": [100.0, 50.0, 101.0], "dead_lettered": [0.0, 3.0, 0.0], "published": [5.0, 9.0, None]}
    )
    check(
        spark,
        comparison.comparison(measures).where("session > 0"),
        comparison.SCHEMA,
        [
            ("dead_lettered", "less", 1, "run-1", 3.0, 0.0, 3.0, None, "worse"),
            ("dead_lettered", "less", 2, "run-2", 0.0, 0.0, 0.0, None, "same"),
            ("p99_ns", "less", 1, "run-1", 50.0, 100.0, -50.0, -0.5, "better"),
            ("p99_ns", "less", 2, "run-2", 101.0, 100.0, 1.0, 0.01, "same"),
            ("published", "", 1, "run-1", 9.0, 5.0, 4.0, 0.8, "different"),
            ("published", "", 2, "run-2", None, 5.0, None, None, None),
        ],
    )  # fmt: skip


def test_sums_over_sessions_of_different_lengths_are_not_judged(spark: SparkSession) -> None:
    told: dict[str, list[float | None]] = {
        "length_ns": [10.0 * S, 20.0 * S, 10.5 * S],
        "dead_lettered": [10.0, 20.0, 20.0],
        "p99_ns": [1.0, 2.0, 2.0],
    }
    verdicts = {
        (row.measure, row.session): row.verdict for row in comparison.comparison(_measures(spark, told)).collect()
    }
    assert [verdicts["dead_lettered", session] for session in range(3)] == ["same", "different", "worse"]
    assert [verdicts["p99_ns", session] for session in range(3)] == ["same", "worse", "worse"]
    trends = {row.measure: row.verdict for row in comparison.trends(_measures(spark, told)).collect()}
    assert (trends["dead_lettered"], trends["p99_ns"]) == ("different", "worse")
    told["length_ns"] = [10.0 * S] * 3
    trends = {row.measure: row.verdict for row in comparison.trends(_measures(spark, told)).collect()}
    assert (trends["dead_lettered"], trends["length_ns"]) == ("worse", "same")


def test_trends_tell_a_drift_from_one_run_that_is_out_of_line(spark: SparkSession) -> None:
    measures = _measures(
        spark, {"p99_ns": [10.0, 20.0, 30.0, 40.0, 50.0], "delivered_per_s": [7.0, 7.0, 70.0, 7.0, 7.0], "moved": [1.0]}
    )
    odd, drift = comparison.trends(measures).collect()
    names = spark.createDataFrame([], comparison.TRENDS_SCHEMA).schema.names
    assert list(odd.asDict()) == names
    assert (drift.measure, drift.runs, drift.first, drift.last, drift.median) == ("p99_ns", 5, 10.0, 50.0, 30.0)
    assert (drift.per_run, drift.verdict, drift.odd_session) == (pytest.approx(10.0), "worse", None)
    assert drift.change == pytest.approx(4.0) and drift.steady == pytest.approx(1.0)
    assert (odd.measure, odd.odd_session, odd.odd_name, odd.odd_value) == ("delivered_per_s", 2, "run-2", 70.0)
    assert odd.steady == pytest.approx(0.0) and odd.verdict == "same"


def test_what_a_session_cost_has_its_units_and_what_follows(spark: SparkSession) -> None:
    noted = spark.createDataFrame(
        [
            *[("wall_s", 4.0), ("process_cpu_s", 2.0), ("peak_memory_bytes", 5e6)],
            *[("frames_drawn_count", 300.0), ("frame_cost_p99_ms", 12.5)],
        ],
        cost.NOTED_SCHEMA,
    )
    check(
        spark,
        cost.cost(noted, 1000, 8 * S),
        cost.SCHEMA,
        [
            ("frame_cost_p99", 12.5, "ms"),
            ("frames_drawn", 300.0, "count"),
            ("peak_memory", 5e6, "bytes"),
            ("process_cpu", 2.0, "s"),
            ("process_cpu_an_event", 2_000_000.0, "ns"),
            ("session_seconds_a_second", 2.0, ""),
            ("wall", 4.0, "s"),
        ],
    )
    check(spark, cost.cost(noted.limit(0), 0, 8 * S), cost.SCHEMA, [])
