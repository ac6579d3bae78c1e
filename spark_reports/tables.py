"""Every table of the report: its name, what a reader sees while it is made, and the question that "
"answers it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

from pyspark.sql import DataFrame, SparkSession

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
from spark_reports.session import SessionInfo, bucket_width_ns, read_events


class Frames:
    """The DataFrames of one session. Nothing is computed before it is asked for; the two rollups "
    "are kept in memory."""

    def __init__(self, spark: SparkSession, info: SessionInfo) -> None:
        self.messages = read_events(spark, info, "messages")
        self.control = read_events(spark, info, "control")
        self.summary = spark.createDataFrame(_summary(info), totals.SUMMARY_SCHEMA)
        self.duration_ns = self._duration_ns(info)
        self.width_ns = bucket_width_ns(self.duration_ns)

    def _duration_ns(self, info: SessionInfo) -> int:
        known = info.metadata.get("duration_ns")
        if isinstance(known, int) and known > 0:
            return known
        last = self.messages.select("time_ns").union(self.control.select("time_ns")).agg({"time_ns": "max"}).first()
        return max(1, (last[0] if last is not None else 0) or 0)

    @cached_property
    def rollup(self) -> DataFrame:
        """The counts that most questions share; see `questions.rollup`."""
        return rollup.rollup(self.messages, self.width_ns).persist()

    @cached_property
    def latency_buckets(self) -> DataFrame:
        """The counts by duration; see `questions.latency`."""
        return latency.latency_buckets(self.messages, self.width_ns).persist()

    @cached_property
    def partitions(self) -> DataFrame:
        """The load of each partition."""
        return keys.partitions(self.rollup)

    @cached_property
    def blocks(self) -> DataFrame:
        """Every time that a producer was blocked."""
        return backpressure.backpressure(self.control, self.duration_ns)

    @cached_property
    def throughput(self) -> DataFrame:
        """Throughput of every series over time."""
        return throughput.throughput(self.rollup, self.width_ns)

    @cached_property
    def lag(self) -> DataFrame:
        """Lag of every partition over time."""
        return lag.lag(self.rollup, self.control, self.duration_ns, self.width_ns)


def _summary(info: SessionInfo) -> list[tuple[str, int]]:
    """What the broker counted itself, with the number of events that the recorder took."""
    counted = info.metadata.get("totals")
    found = {**counted} if isinstance(counted, dict) else {}
    found["events"] = info.metadata.get("events")
    return [(name, value) for name, value in found.items() if isinstance(value, int)]


class Table(NamedTuple):
    """One table: `schema` is DDL, `build` says how, `label` is read by people."""

    name: str
    label: str
    schema: str
    build: Callable[[Frames], DataFrame]


def _over(key: str, columns: str) -> str:
    return f"measure STRING, {key}, {columns}" if key else f"measure STRING, {columns}"


TABLES = (
    Table("totals", "Totals", totals.SCHEMA, lambda f: totals.totals(f.rollup, f.control)),
    Table(
        "reconciliation",
        "Reconciliation",
        totals.RECONCILIATION_SCHEMA,
        lambda f: totals.reconciliation(totals.totals(f.rollup, f.control), f.summary),
    ),
    Table("audit", "Delivery audit", audit.SCHEMA, lambda f: audit.audit(f.messages, f.control)),
    Table("throughput", "Throughput over time", throughput.SCHEMA, lambda f: f.throughput),
    Table(
        "throughput_series",
        "Throughput",
        throughput.SERIES_SCHEMA,
        lambda f: throughput.throughput_series(f.throughput, f.duration_ns),
    ),
    Table("latency", "Latency", _over("", latency.SCHEMA_COLUMNS), lambda f: latency.latency(f.latency_buckets)),
    Table(
        "latency_by_group",
        "Latency by group",
        _over("topic STRING, `group` STRING", latency.SCHEMA_COLUMNS),
        lambda f: latency.latency(f.latency_buckets, "topic", "group"),
    ),
    Table(
        "latency_over_time",
        "Latency over time",
        _over("start_ns BIGINT", latency.SCHEMA_COLUMNS),
        lambda f: latency.latency(f.latency_buckets, "start_ns"),
    ),
    Table(
        "latency_curve",
        "Latency by percentile",
        latency.CURVE_SCHEMA,
        lambda f: latency.latency_curve(f.latency_buckets),
    ),
    Table("latency_heat", "Latency heat map", latency.HEAT_SCHEMA, lambda f: latency.latency_heat(f.latency_buckets)),
    Table("lag", "Lag over time", lag.SCHEMA, lambda f: f.lag),
    Table("lag_series", "Lag", lag.SERIES_SCHEMA, lambda f: lag.lag_series(f.lag)),
    Table("queues", "Queues", queues.SCHEMA, lambda f: queues.queues(f.rollup, f.control, f.duration_ns, f.width_ns)),
    Table("rebalances", "Rebalances", rebalances.SCHEMA, lambda f: rebalances.rebalances(f.control, f.duration_ns)),
    Table("ownership", "Partition owners", ownership.SCHEMA, lambda f: ownership.ownership(f.control, f.duration_ns)),
    Table("redeliveries", "Redeliveries", redeliveries.SCHEMA, lambda f: redeliveries.redeliveries(f.rollup)),
    Table(
        "dead_letters", "Dead letters by cause", dead_letters.SCHEMA, lambda f: dead_letters.dead_letters(f.messages)
    ),
    Table(
        "dead_letter_list",
        "Dead letters",
        dead_letters.LIST_SCHEMA,
        lambda f: dead_letters.dead_letter_list(f.messages),
    ),
    Table("backpressure", "Blocked producers", backpressure.SCHEMA, lambda f: f.blocks),
    Table(
        "backpressure_series",
        "Backpressure",
        backpressure.SERIES_SCHEMA,
        lambda f: backpressure.backpressure_series(f.blocks, f.rollup),
    ),
    Table(
        "backpressure_over_time",
        "Backpressure over time",
        backpressure.TIME_SCHEMA,
        lambda f: backpressure.backpressure_over_time(f.blocks, f.rollup, f.width_ns),
    ),
    Table("partitions", "Partition skew", keys.PARTITIONS_SCHEMA, lambda f: f.partitions),
    Table("hot_keys", "Hot keys", keys.SCHEMA, lambda f: keys.hot_keys(f.messages, f.partitions)),
    Table("markers", "Faults and actions", markers.SCHEMA, lambda f: markers.markers(f.control)),
)
