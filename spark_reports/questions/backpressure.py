"""How long were producers blocked, by what, and what was refused or dropped?"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from spark_reports.scale import Scale

SCHEMA = "topic STRING, client STRING, cause STRING, from_ns BIGINT, to_ns BIGINT, blocked_ns BIGINT, ended BOOLEAN"
SERIES_SCHEMA = (
    "topic STRING, blocks BIGINT, blocked_ns BIGINT, longest_ns BIGINT, rejected BIGINT, dropped BIGINT, "
    "evicted BIGINT, expired BIGINT"
)
TIME_SCHEMA = "topic STRING, start_ns BIGINT, blocked_ns BIGINT, rejected BIGINT, dropped BIGINT"


def backpressure(control: DataFrame, scale: Scale) -> DataFrame:
    """One row per time that a producer was blocked. A block that the session's end cut short is not "
    "`ended`."""
    per_producer = Window.partitionBy("topic", "client").orderBy("seq")
    following = F.lead("time_ns").over(per_producer)
    return (
        control.where(F.col("kind").isin("producer_blocked", "producer_unblocked"))
        .select("*", following.alias("next_ns"))
        .where(F.col("kind") == "producer_blocked")
        .select(
            *("topic", "client", "cause"),
            F.greatest("time_ns", F.lit(scale.from_ns)).cast("bigint").alias("from_ns"),
            F.coalesce("next_ns", F.lit(scale.to_ns)).cast("bigint").alias("to_ns"),
            F.col("next_ns").isNotNull().alias("ended"),
        )
        .select(
            "topic",
            "client",
            "cause",
            "from_ns",
            "to_ns",
            (F.col("to_ns") - F.col("from_ns")).alias("blocked_ns"),
            "ended",
        )
        .where(F.col("to_ns") >= scale.from_ns)
        .orderBy("from_ns", "topic", "client")
    )


def backpressure_series(blocks: DataFrame, rollup: DataFrame) -> DataFrame:
    """One row per topic that blocked, refused or lost anything."""
    waits = blocks.groupBy("topic").agg(
        F.count("*").alias("blocks"),
        F.sum("blocked_ns").alias("blocked_ns"),
        F.max("blocked_ns").alias("longest_ns"),
    )
    kinds = ("rejected", "dropped", "evicted", "expired")
    losses = (
        rollup.where(F.col("kind").isin(*kinds))
        .groupBy("topic")
        .agg(*(F.sum(F.when(F.col("kind") == kind, F.col("messages")).otherwise(0)).alias(kind) for kind in kinds))
    )
    names = ("blocks", "blocked_ns", "longest_ns", *kinds)
    return (
        waits.join(losses, "topic", "full")
        .select("topic", *(F.coalesce(name, F.lit(0)).cast("bigint").alias(name) for name in names))
        .orderBy(F.desc("blocked_ns"), "topic")
    )


def backpressure_over_time(blocks: DataFrame, rollup: DataFrame, scale: Scale) -> DataFrame:
    """Per topic and time bucket: producer-nanoseconds blocked, messages rejected and dropped. Quiet buckets
    are left out.
    """
    width_ns = scale.width_ns

    shares = blocks.select(
        *("topic", "from_ns", "to_ns"),
        F.explode(F.sequence(scale.start("from_ns"), scale.start("to_ns"), F.lit(width_ns).cast("bigint"))).alias(
            "start_ns"
        ),
    ).select(
        *("topic", "start_ns"),
        (F.least("to_ns", F.col("start_ns") + width_ns) - F.greatest("from_ns", "start_ns")).alias("blocked_ns"),
        F.lit(0).cast("bigint").alias("rejected"),
        F.lit(0).cast("bigint").alias("dropped"),
    )
    losses = rollup.where(F.col("kind").isin("rejected", "dropped")).select(
        *("topic", "start_ns", F.lit(0).cast("bigint").alias("blocked_ns")),
        F.when(F.col("kind") == "rejected", F.col("messages")).otherwise(0).alias("rejected"),
        F.when(F.col("kind") == "dropped", F.col("messages")).otherwise(0).alias("dropped"),
    )
    return (
        shares.union(losses)
        .groupBy("topic", "start_ns")
        .agg(*(F.sum(name).alias(name) for name in ("blocked_ns", "rejected", "dropped")))
        .where("blocked_ns > 0 OR rejected > 0 OR dropped > 0")
        .orderBy("topic", "start_ns")
    )
