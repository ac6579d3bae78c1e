"""The figures by which sessions are compared, one row per session: every event has the number of its `session`."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from resources.measures import TURNED_AWAY
from spark_reports.passes.durations import durations
from spark_reports.tables.latency import DONE, FIRST

_OWNERS = "before ARRAY<ARRAY<STRING>>, after ARRAY<ARRAY<STRING>>, started_ns BIGINT"


def counted(messages: DataFrame) -> DataFrame:
    """Messages by outcome. Bound: the sessions."""
    kind, count = F.col("kind"), F.col("count")

    def total(*kinds: str) -> Column:
        return F.sum(F.when(kind.isin(*kinds), count).otherwise(0))

    return messages.groupBy("session").agg(
        *(total(name).alias(name) for name in ("published", "delivered", "acknowledged", "dead_lettered")),
        F.sum(F.when((kind == "delivered") & (F.col("attempt") > 1), count).otherwise(0)).alias("redelivered"),
        total(*TURNED_AWAY).alias("turned_away"),
        F.sum(F.when(kind == "published", F.col("size_bytes")).otherwise(0)).alias("bytes"),
        F.count("*").alias("message_events"),
    )


def counted_control(control: DataFrame) -> DataFrame:
    """Control events by kind. Bound: the sessions."""
    kind, scheduled = F.col("kind"), F.coalesce(F.col("detail"), F.lit("")).contains('"by":"scenario"')
    return control.groupBy("session").agg(
        F.count_if(kind == "rebalance_started").alias("rebalances"),
        F.count_if(kind == "fault").alias("faults"),
        F.count_if((kind == "user_action") & ~scheduled).alias("user_actions"),
        F.count("*").alias("control_events"),
    )


def joins(control: DataFrame) -> DataFrame:
    """When groups got members and new offsets: what `tables.latency.replays` asks for. Bound: those events."""
    return control.where(F.col("kind").isin("member_joined", "offsets_reset")).select(
        "session", "group", "kind", "time_ns"
    )


def latency_buckets(messages: DataFrame, replays: DataFrame | None) -> DataFrame:
    """Counts by duration, without what was replayed. Bound: sessions x 2 measures x some 300 duration buckets."""
    return (
        durations(messages, replays, "session")
        .where(F.col("measure").isin(FIRST, DONE))
        .groupBy("session", "measure", "log_bucket")
        .agg(F.sum("count").alias("messages"), F.max("duration").alias("max_ns"))
    )


def moves(control: DataFrame) -> DataFrame:
    """How long groups were rebalancing, summed, and how many partitions changed hands. Bound: the sessions."""
    detail = F.from_json("detail", _OWNERS)
    nothing = F.array().cast("array<array<string>>")
    done = control.where(F.col("kind") == "rebalance_completed").select(
        "session", "time_ns", F.coalesce(detail.started_ns, "time_ns").alias("started_ns"),
        F.coalesce(detail.before, nothing).alias("before"), F.coalesce(detail.after, nothing).alias("after"),
    )  # fmt: skip
    return done.groupBy("session").agg(
        F.sum(F.col("time_ns") - F.col("started_ns")).alias("rebalancing_ns"),
        F.sum(F.when(F.size("before") > 0, F.size(F.array_except("after", "before"))).otherwise(0)).alias("moved"),
    )


def blocked(control: DataFrame, ends: DataFrame) -> DataFrame:
    """How long producers were blocked, summed. `ends` has each session's `end_ns`. Bound: the sessions."""
    order = Window.partitionBy("session", "topic", "client").orderBy("seq")
    return (
        control.where(F.col("kind").isin("producer_blocked", "producer_unblocked"))
        .select("session", "kind", "time_ns", F.lead("time_ns").over(order).alias("next_ns"))
        .where(F.col("kind") == "producer_blocked")
        .join(F.broadcast(ends), "session")
        .groupBy("session")
        .agg(F.sum(F.coalesce("next_ns", "end_ns") - F.col("time_ns")).alias("blocked_ns"))
    )
