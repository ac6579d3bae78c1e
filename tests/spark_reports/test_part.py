"""A part of a session: what happened in it, to the nanosecond, on top of what was there before."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from pyspark.sql import SparkSession

from spark_reports.frames import Frames, read_frames
from spark_reports.questions import cost, totals
from spark_reports.session import inspect

pytestmark = pytest.mark.spark

FROM, TO = 5_000_000_000, 17_000_000_000


@pytest.fixture(scope="module")
def part(spark: SparkSession, recorded: Path) -> Iterator[Frames]:
    """The twelve seconds from second 5 on."""
    frames = read_frames(spark, inspect(str(recorded)), FROM, TO)
    yield frames
    frames.release()


def test_a_part_has_buckets_of_its_own(part: Frames) -> None:
    assert (part.scale.from_ns, part.scale.to_ns, part.scale.width_ns) == (FROM, TO, 50_000_000)


def test_a_part_counts_exactly_what_happened_in_it(part: Frames, recorded: Path) -> None:
    found = {row.name: row.recorded for row in totals.totals(part.counted, part.happened).collect()}
    truth = dict(
        duckdb.execute(
            f"""SELECT kind, sum(count)::BIGINT FROM read_parquet('{recorded}/messages/*.parquet')
                WHERE time_ns >= {FROM} AND time_ns < {TO} GROUP BY kind"""
        ).fetchall()
    )
    for kind in ("published", "delivered", "acknowledged", "dead_lettered", "rejected"):
        assert found[kind] == truth[kind] > 0, kind
    measured = {row[0]: row[1] for row in part.latency_buckets.groupBy("measure").sum("messages").collect()}
    assert measured["acknowledged"] == truth["acknowledged"]
    assert part.summary.count() == 0, "the broker counted the whole"


def test_what_a_part_cost_is_told_of_the_whole_session(part: Frames, frames: Frames, spark: SparkSession) -> None:
    noted = spark.createDataFrame([("wall_s", 2.0), ("process_cpu_s", 1.0)], cost.NOTED_SCHEMA)
    part.noted, frames.noted = noted, noted
    mine, whole = (one.cost.collect() for one in (part, frames))
    assert mine == whole
    found = {row.name: row.value for row in mine}
    assert found["session_seconds_a_second"] == frames.scale.duration_ns / 1e9 / 2
    events = frames.messages.count() + frames.control.count()
    assert found["process_cpu_an_event"] == 1e9 / events


def test_what_stands_at_the_beginning_of_a_part_comes_from_before(part: Frames, frames: Frames) -> None:
    keys = ("group", "topic", "partition")
    ends = {
        (*(row[name] for name in keys), row.start_ns + frames.scale.width_ns): row.lag for row in frames.lag.collect()
    }
    same = [
        (row.lag, ends[place])
        for row in part.lag.collect()
        if (place := (*(row[name] for name in keys), row.start_ns + part.scale.width_ns)) in ends
    ]
    assert len(same) > 100 and all(mine == theirs for mine, theirs in same)
    waiting = {row.start_ns + frames.scale.width_ns: row for row in frames.queues.collect()}
    for row in part.queues.collect():
        if other := waiting.get(row.start_ns + part.scale.width_ns):
            assert (row.waiting, row.in_flight) == (other.waiting, other.in_flight)
    owners = {
        tuple(row[name] for name in (*keys, "client")) for row in part.ownership.where(f"from_ns = {FROM}").collect()
    }
    assert len(owners) == 6, "every partition has its owner from the first moment on"
    assert part.ownership.where(f"from_ns < {FROM} OR to_ns > {TO}").count() == 0
