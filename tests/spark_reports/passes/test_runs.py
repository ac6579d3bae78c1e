"""The figures of every session of a dataset."""

from __future__ import annotations

import json

import polars as pl
import pytest
from pyspark.sql import functions as F

from spark_reports.pipeline.collect import make_runs
from spark_reports.request.parts import figures_of
from spark_reports.tables import runs
from spark_reports.tables.schema import columns, rows
from tests.spark_reports.conftest import Events
from tests.spark_reports.tables.rows import MS, S, committed, delivered, published, told

pytestmark = pytest.mark.spark


def test_the_figures_of_every_session_come_out_of_one_pass(events: Events) -> None:
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
         "detail": json.dumps({"before": [], "after": before, "started_ns": 0})},
        {"kind": "rebalance_started", "group": "g", "time_ns": 2 * S},
        {"kind": "rebalance_completed", "group": "g", "time_ns": 5 * S,
         "detail": json.dumps({"before": before, "after": after, "started_ns": 2 * S})},
        {"kind": "producer_blocked", "topic": "t", "client": "p", "time_ns": S},
        {"kind": "producer_unblocked", "topic": "t", "client": "p", "time_ns": 3 * S},
        {"kind": "producer_blocked", "topic": "t", "client": "p", "time_ns": 9 * S},
        {"kind": "fault", "client": "a"},
    ).withColumn("session", F.lit(0))  # fmt: skip
    about = rows(
        runs.ABOUT_SCHEMA, [(number, f"run-{number}", "same", 1, "", "finished", 10 * S, 1) for number in range(3)]
    )
    answer = make_runs(one.union(two), control, about)
    first, empty, last = told(answer, runs.SCHEMA)
    assert (first.published, first.delivered, first.acknowledged, first.redelivered, first.turned_away) == (
        4,
        5,
        4,
        1,
        5,
    )
    assert (first.published_per_s, first.delivered_per_s, first.bytes_per_s) == (0.4, 0.5, 4.0)
    assert first.p50_ns == pytest.approx(10 * MS, rel=0.005) and first.max_ns == S
    assert (first.rebalances, first.rebalancing_ns, first.moved) == (2, 4 * S, 1)
    assert [row.length_ns for row in (first, empty, last)] == [10 * S] * 3
    assert (first.blocked_ns, first.faults, first.events) == (3 * S, 1, 16)
    assert (empty.published, empty.p99_ns, empty.events) == (0, None, 0)
    assert (last.published, last.name) == (1, "run-2")
    asked = figures_of({"latency", "queues"})
    some = make_runs(one.union(two), control, about, figures=asked)
    wanted = [name for name in answer.columns if name in (*asked, *runs.ALWAYS)]
    assert some.columns == [*about.columns, *wanted]
    assert some.equals(answer.select(some.columns))
    assert set(runs.measures(some)["measure"]) == set(wanted)
    assert runs.schema(asked) == ", ".join(
        f"{name} {kind}" for name, kind in columns(runs.SCHEMA) if name in some.columns
    )
    published_ = runs.measures(answer).filter(pl.col("measure") == "published")
    assert published_.select("session", "value").rows() == [(0, 4.0), (1, 0.0), (2, 1.0)]
