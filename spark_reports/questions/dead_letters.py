"""Which messages died, of what, and what became of those that were redriven?"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_reports.questions.keys import key_text

SCHEMA = "`group` STRING, cause STRING, dead_lettered BIGINT, redriven BIGINT, first_ns BIGINT, last_ns BIGINT"
LIST_SCHEMA = (
    "time_ns BIGINT, `group` STRING, topic STRING, partition INT, offset BIGINT, `key` STRING, cause STRING, "
    "attempt INT, published_ns BIGINT, bin STRING, bin_offset BIGINT, redriven_ns BIGINT"
)
LISTED = 500


def dead_letter_list(messages: DataFrame, limit: int = LISTED) -> DataFrame:
    """The first `limit` dead letters, one row a message, in the order in which they died.

    `bin` and `bin_offset` are its place among the dead letters, `redriven_ns` when it was first sent back, if
    ever.
    """
    return _dead(messages).orderBy("seq", "offset").limit(limit).drop("seq", "to_partition")


def dead_letters(messages: DataFrame) -> DataFrame:
    """One row per group or queue and cause."""
    return (
        _dead(messages)
        .groupBy("group", "cause")
        .agg(
            F.count("*").alias("dead_lettered"),
            F.count("redriven_ns").alias("redriven"),
            F.min("time_ns").alias("first_ns"),
            F.max("time_ns").alias("last_ns"),
        )
        .orderBy(F.desc("dead_lettered"), "group", "cause")
    )


def _dead(messages: DataFrame) -> DataFrame:
    """One row per dead message, with the time of its first redrive."""
    step = F.explode(F.sequence(F.lit(0).cast("bigint"), F.col("count") - 1)).alias("step")
    dead = (
        messages.where((F.col("kind") == "dead_lettered") & (F.col("count") > 0))
        .select("*", step)
        .select(
            *("seq", "time_ns", "group", "topic", "partition"),
            (F.col("offset") + F.col("step")).alias("offset"),
            key_text("key").alias("key"),
            *("cause", "attempt", "published_ns"),
            F.col("to_topic").alias("bin"),
            "to_partition",
            (F.col("to_offset") + F.col("step")).alias("bin_offset"),
        )
    )
    redriven = (
        messages.where((F.col("kind") == "redriven") & (F.col("count") > 0))
        .select("*", step)
        .groupBy(
            F.col("topic").alias("bin"),
            F.coalesce("partition", F.lit(0)).alias("redriven_partition"),
            (F.col("offset") + F.col("step")).alias("bin_offset"),
        )
        .agg(F.min("time_ns").alias("redriven_ns"))
    )
    same = (
        (dead["bin"] == redriven["bin"])
        & (dead["bin_offset"] == redriven["bin_offset"])
        & (F.coalesce(dead["to_partition"], F.lit(0)) == redriven["redriven_partition"])
    )
    return dead.join(redriven.hint("broadcast"), same, "left").select(
        *(dead[name] for name in dead.columns), "redriven_ns"
    )
