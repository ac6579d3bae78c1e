"""A part of a session: what happened in it, to the nanosecond, on top of what was there before."""

from __future__ import annotations

from pathlib import Path

import duckdb
import polars as pl
import pytest
from pyspark.sql import SparkSession

from spark_reports.pipeline.session_data import SessionData, read_session_data
from spark_reports.sessions.session import inspect
from spark_reports.tables import recording

pytestmark = pytest.mark.spark

FROM, TO = 5_000_000_000, 17_000_000_000


@pytest.fixture(scope="module")
def part(spark: SparkSession, recorded: Path) -> SessionData:
    """The twelve seconds from second 5 on."""
    return read_session_data(spark, inspect(str(recorded)), FROM, TO)


def test_a_part_has_buckets_of_its_own(part: SessionData) -> None:
    assert (part.scale.from_ns, part.scale.to_ns, part.scale.width_ns) == (FROM, TO, 50_000_000)


def test_a_part_counts_exactly_what_happened_in_it(part: SessionData, recorded: Path) -> None:
    found = dict(part.totals.rows())
    truth = dict(
        duckdb.execute(
            f"""SELECT kind, sum(count)::BIGINT FROM read_parquet('{recorded}/messages/*.parquet')
                WHERE time_ns >= {FROM} AND time_ns < {TO} GROUP BY kind"""
        ).fetchall()
    )
    for kind in ("published", "delivered", "acknowledged", "dead_lettered", "rejected"):
        assert found[kind] == truth[kind] > 0, kind
    measured = dict(part.latency_buckets.group_by("measure").agg(pl.col("messages").sum()).rows())
    assert measured["acknowledged"] == truth["acknowledged"]
    assert part.summary.height == 0, "the broker counted the whole"


def test_what_a_part_cost_is_told_of_the_whole_session(part: SessionData, data: SessionData) -> None:
    noted = {"wall_s": 2.0, "process_cpu_s": 1.0}
    mine, whole = (recording.cost(noted, one.all_events, one.all_ns) for one in (part, data))
    assert mine.equals(whole)
    found = dict(mine.select("name", "value").rows())
    assert found["session_seconds_a_second"] == data.scale.duration_ns / 1e9 / 2
    events = data.messages.count() + data.control.height
    assert found["process_cpu_an_event"] == 1e9 / events


def test_what_stands_at_the_beginning_of_a_part_comes_from_before(part: SessionData, data: SessionData) -> None:
    keys = ("group", "topic", "partition")
    ends = {
        (*(row[name] for name in keys), row["start_ns"] + data.scale.width_ns): row["lag"]
        for row in data.lag.rows(named=True)
    }
    same = [
        (row["lag"], ends[place])
        for row in part.lag.rows(named=True)
        if (place := (*(row[name] for name in keys), row["start_ns"] + part.scale.width_ns)) in ends
    ]
    assert len(same) > 100 and all(mine == theirs for mine, theirs in same)
    waiting = {row[1] + data.scale.width_ns: row[2:] for row in data.queues.rows()}
    for _, start_ns, *mine in part.queues.rows():
        if other := waiting.get(start_ns + part.scale.width_ns):
            assert tuple(mine) == other
    owners = part.ownership.filter(pl.col("from_ns") == FROM).select(*keys, "client").unique().rows()
    assert len(owners) == 6, "every partition has its owner from the first moment on"
    assert part.ownership.filter((pl.col("from_ns") < FROM) | (pl.col("to_ns") > TO)).height == 0
