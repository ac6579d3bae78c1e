"""What held producers back, and what became of what they offered?"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

SCHEMA = (
    "topic STRING, client STRING, reason STRING, blocker STRING, blocks BIGINT, blocked_ns BIGINT, longest_ns BIGINT, "
    "rejected BIGINT, dropped BIGINT, evicted BIGINT"
)
_LOST = ("rejected", "dropped", "evicted")
_SLOWEST = r"slowest reader (.+)$"
_SCHEMA_REFUSED = r"^schema \S+ refused "


def _reason(cause: Column) -> Column:
    """The cause without the numbers that differ each time."""
    return (
        F.when(cause.rlike(r"is full: .* messages"), "full of messages")
        .when(cause.rlike(r"is full: .* bytes"), "full of bytes")
        .when(cause.rlike(r"takes at most"), "rate limit")
        .when(cause.rlike(_SCHEMA_REFUSED), "schema")
        .otherwise(F.regexp_replace(cause, r"\d+(\.\d+)?", "n"))
    )


def _blocker(cause: Column) -> Column:
    """The reader that was furthest behind, where the cause names one."""
    return F.regexp_extract(cause, _SLOWEST, 1)


def blockers(blocks: DataFrame, rollup: DataFrame) -> DataFrame:
    """One row per topic or queue, producer, reason and reader that was furthest behind; the longest blocked first.

    What is evicted was somebody else's message: its row has no producer.
    """
    keys = ("topic", "client", "reason", "blocker")
    cause = F.col("cause")
    waits = (
        blocks.select("topic", "client", _reason(cause).alias("reason"), _blocker(cause).alias("blocker"), "blocked_ns")
        .groupBy(*keys)
        .agg(
            F.count("*").alias("blocks"),
            F.sum("blocked_ns").alias("blocked_ns"),
            F.max("blocked_ns").alias("longest_ns"),
        )
    )
    losses = (
        rollup.where(F.col("kind").isin(*_LOST))
        .select(
            "topic",
            F.when(F.col("kind") == "evicted", F.lit("")).otherwise(F.col("client")).alias("client"),
            _reason(cause).alias("reason"),
            F.when((F.col("kind") == "evicted") & (F.col("group") != F.col("topic")), F.col("group"))
            .otherwise(_blocker(cause))
            .alias("blocker"),
            "kind",
            "messages",
        )
        .groupBy(*keys)
        .agg(*(F.sum(F.when(F.col("kind") == kind, F.col("messages"))).alias(kind) for kind in _LOST))
    )
    names = ("blocks", "blocked_ns", "longest_ns", *_LOST)
    return (
        waits.join(losses, list(keys), "full")
        .select(*keys, *(F.coalesce(name, F.lit(0)).cast("bigint").alias(name) for name in names))
        .orderBy(F.desc("blocked_ns"), F.desc("rejected"), F.desc("dropped"), F.desc("evicted"), *keys)
    )
