"""How far behind was each group, per partition and over time?

Lag is the end offset less the committed one, in messages, at the end of each time bucket; null ("n/a") where
nothing was committed.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from spark_reports.questions.rollup import grid
from spark_reports.scale import Scale

SCHEMA = "`group` STRING, topic STRING, partition INT, start_ns BIGINT, end_offset BIGINT, committed BIGINT, lag BIGINT"
SERIES_SCHEMA = (
    "`group` STRING, topic STRING, partition INT, last_lag BIGINT, max_lag BIGINT, max_lag_ns BIGINT, mean_lag DOUBLE"
)

#: What an offsets_reset event carries: [topic, partition, from offset, to offset] of each.
_CHANGES = "changes ARRAY<ARRAY<STRING>>"


def lag(rollup: DataFrame, control: DataFrame, scale: Scale) -> DataFrame:
    """One row per group, partition and time bucket of `scale`. `rollup` and `control` also hold what came before.

    Redriven messages and dead letters are appends too. A reset moves the committed offset either way.
    """
    appended = rollup.where(F.col("kind") == "published").select("topic", "partition", "start_ns", "end_offset")
    moved = rollup.where("to_end_offset IS NOT NULL").select(
        F.col("to_topic").alias("topic"),
        F.col("to_partition").alias("partition"),
        "start_ns",
        F.col("to_end_offset").alias("end_offset"),
    )
    ends = appended.union(moved).groupBy("topic", "partition", "start_ns").agg(F.max("end_offset").alias("end_offset"))
    commits = rollup.where((F.col("kind") == "acknowledged") & (F.col("group") != F.col("topic"))).select(
        "group",
        "topic",
        "partition",
        "start_ns",
        F.col("end_offset").alias("committed"),
        F.col("last_seq").alias("seq"),
    )
    resets = (
        control.where(F.col("kind") == "offsets_reset")
        .select("group", "time_ns", "seq", F.explode(F.from_json("detail", _CHANGES).changes).alias("change"))
        .select(
            "group",
            F.col("change")[0].alias("topic"),
            F.col("change")[1].cast("int").alias("partition"),
            scale.start("time_ns").alias("start_ns"),
            F.col("change")[3].cast("bigint").alias("committed"),
            "seq",
        )
    )
    committed = (
        commits.union(resets)
        .groupBy("group", "topic", "partition", "start_ns")
        .agg(F.max_by("committed", "seq").alias("committed"))
    )
    cells = grid(committed.select("group", "topic", "partition").distinct(), scale)
    per_partition = Window.partitionBy("group", "topic", "partition").orderBy("start_ns")
    return (
        cells.join(committed, ["group", "topic", "partition", "start_ns"], "left")
        .join(ends, ["topic", "partition", "start_ns"], "left")
        .select(
            *("group", "topic", "partition", "start_ns"),
            F.coalesce(F.max("end_offset").over(per_partition), F.lit(0)).cast("bigint").alias("end_offset"),
            F.last("committed", ignorenulls=True).over(per_partition).alias("committed"),
        )
        .withColumn("lag", F.greatest(F.col("end_offset") - F.col("committed"), F.lit(0)).cast("bigint"))
        .withColumn("lag", F.when(F.col("committed").isNotNull(), F.col("lag")))
        .where(F.col("start_ns") >= scale.from_ns)
        .orderBy("group", "topic", "partition", "start_ns")
    )


def lag_series(lag: DataFrame, scale: Scale) -> DataFrame:
    """One row per group and partition: the lag at the end, the worst, when that was, and the mean.

    Lag is looked at when a bucket ends, and that is when the worst was.
    """
    looked_ns = F.least(F.col("start_ns") + scale.width_ns, F.lit(scale.to_ns))
    return (
        lag.groupBy("group", "topic", "partition")
        .agg(
            F.max_by("lag", "start_ns").alias("last_lag"),
            F.max("lag").alias("max_lag"),
            F.max_by(looked_ns, F.when(F.col("lag").isNotNull(), F.struct("lag", -F.col("start_ns")))).alias(
                "max_lag_ns"
            ),
            F.avg("lag").alias("mean_lag"),
        )
        .orderBy(F.desc("max_lag"), "group", "topic", "partition")
    )
