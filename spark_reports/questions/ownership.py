"""Who owned which partition, from when to when?"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from spark_reports.scale import Scale

SCHEMA = (
    "`group` STRING, topic STRING, partition INT, client STRING, generation INT, from_ns BIGINT, "
    "to_ns BIGINT, held_ns BIGINT"
)


def ownership(control: DataFrame, scale: Scale) -> DataFrame:
    """One row per interval in which a client held a partition; an interval that was not ended lasts to the
    session's end.

    Being assigned again what one holds begins no new interval.
    """
    place = F.from_json("detail", "partitions ARRAY<ARRAY<STRING>>").partitions
    changes = (
        control.where(F.col("kind").isin("partitions_assigned", "partitions_revoked"))
        .select("seq", "time_ns", "kind", "group", "client", "generation", F.explode(place).alias("place"))
        .select(
            *("seq", "time_ns", "group", "client", "generation"),
            F.col("place")[0].alias("topic"),
            F.col("place")[1].cast("int").alias("partition"),
            F.when(F.col("kind") == "partitions_assigned", F.col("client")).alias("owner"),
        )
    )
    per_place = Window.partitionBy("group", "topic", "partition").orderBy("seq")
    # A revocation counts only for who holds: one that comes after the next owner's assignment ends nothing.
    holder = F.last("owner", ignorenulls=True).over(per_place.rowsBetween(Window.unboundedPreceding, -1))
    late = F.col("owner").isNull() & (F.col("client") != F.col("holder"))
    kept = changes.withColumn("holder", holder).where(~F.coalesce(late, F.lit(False)))
    before = F.lag(F.coalesce("owner", F.lit(""))).over(per_place)
    turns = kept.withColumn("before", before).where(
        F.col("before").isNull() | (F.col("before") != F.coalesce("owner", F.lit("")))
    )
    ended = F.coalesce(F.lead("time_ns").over(per_place), F.lit(scale.to_ns).cast("bigint"))
    return (
        turns.withColumn("to_ns", ended)
        .where("owner IS NOT NULL")
        .select(
            *("group", "topic", "partition", "client", "generation"),
            F.greatest("time_ns", F.lit(scale.from_ns)).cast("bigint").alias("from_ns"),
            "to_ns",
        )
        .where(F.col("to_ns") >= scale.from_ns)
        .withColumn("held_ns", F.col("to_ns") - F.col("from_ns"))
        .orderBy("group", "topic", "partition", "from_ns")
    )
