"""A report is few jobs, and its plans can be read."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from spark_reports.collect import make_tables
from spark_reports.frames import PASSES, Frames
from spark_reports.passes import counts, dead_letters, latency, recording
from spark_reports.session import inspect
from spark_reports.tables import TABLES
from tests.spark_reports.test_wrong import Silent

pytestmark = pytest.mark.spark


def plan(frame: DataFrame) -> str:
    """What Spark would do."""
    with contextlib.redirect_stdout(io.StringIO()) as told:
        frame.explain()
    return told.getvalue()


def test_all_tables_of_a_session_take_a_dozen_jobs(spark: SparkSession, recorded: Path) -> None:
    made = make_tables(spark, inspect(str(recorded)), Silent(), prefix="counted ")
    tracker = spark.sparkContext.statusTracker()
    jobs = {name: tracker.getJobIdsForGroup(f"counted {name}") for name in PASSES}
    assert len(made.tables) == len(TABLES)
    assert jobs["rollup"] and jobs["broken"] and jobs["dead_letters"]
    assert not jobs["happened"], "nothing broke a rule, so nothing is followed"
    assert sum(map(len, jobs.values())) <= 16


def test_a_pass_over_a_small_session_shuffles_nothing(frames: Frames) -> None:
    messages, scale = frames.messages, frames.scale
    for frame in (
        counts.rollup(messages, scale),
        latency.latency_buckets(messages, None, scale),
        counts.slots(messages, scale, scale.slot_ns()),
        counts.hot_keys(messages, scale),
        dead_letters.dead_letters(dead_letters.dead(messages, scale, redriven=False)),
    ):
        told = plan(frame)
        assert "FileScan parquet" in told and "Exchange" not in told, told
        assert len(told.splitlines()) < 40, "a plan that nobody can read"


def test_only_the_columns_that_a_pass_needs_are_read(frames: Frames) -> None:
    told = plan(recording.broken_numbers(frames.messages, frames.control_events))
    assert told.count("ReadSchema: struct<seq:bigint,time_ns:bigint>") == 2
