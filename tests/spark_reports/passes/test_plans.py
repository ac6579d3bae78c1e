"""A report is few jobs, and its plans can be read."""

from __future__ import annotations

import contextlib
import io
import itertools
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from spark_reports.passes import counts, durations
from spark_reports.pipeline.collect import PASSES, make_tables
from spark_reports.pipeline.session_data import SessionData
from spark_reports.pipeline.tables import TABLES
from spark_reports.sessions.session import inspect
from tests.spark_reports.test_wrong import Silent

pytestmark = pytest.mark.spark


def plan(frame: DataFrame) -> str:
    """What Spark would do."""
    with contextlib.redirect_stdout(io.StringIO()) as told:
        frame.explain()
    return told.getvalue()


def test_all_tables_of_a_session_take_a_dozen_jobs(spark: SparkSession, recorded: Path) -> None:
    tracker = spark.sparkContext.statusTracker()
    before = {name: set(tracker.getJobIdsForGroup(name)) for name, *_ in itertools.chain(*PASSES)}
    made = make_tables(spark, inspect(str(recorded)), Silent())
    jobs = {name: set(tracker.getJobIdsForGroup(name)) - before[name] for name, *_ in itertools.chain(*PASSES)}
    assert len(made.tables) == len(TABLES)
    assert {name for name, made in jobs.items() if made} == {"rollup", "latency_buckets", "hot_keys"}
    assert sum(map(len, jobs.values())) <= 9


def test_a_pass_over_a_small_session_shuffles_nothing(data: SessionData) -> None:
    messages, scale = data.messages, data.scale
    for frame in (
        counts.rollup(messages, scale),
        durations.latency_buckets(messages, None, scale),
        counts.hot_keys(messages, scale),
    ):
        told = plan(frame)
        assert "FileScan parquet" in told and "Exchange" not in told, told
        assert len(told.splitlines()) < 40, "a plan that nobody can read"


def test_only_the_columns_that_a_pass_needs_are_read(data: SessionData) -> None:
    told = plan(counts.hot_keys(data.messages, data.scale))
    read = told.partition("ReadSchema: struct<")[2].partition(">")[0]
    needed = {"time_ns", "kind", "topic", "partition", "count", "size_bytes", "key"}
    assert {name.partition(":")[0] for name in read.split(",")} == needed
