"""Which messages came to a group behind a later one? In a partition the order is a promise."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F


def place() -> Column:
    """Group, topic and partition as one number of 64 bits: sorting by it costs half of sorting by the three."""
    return F.xxhash64("group", "topic", "partition").alias("place")


def late(messages: DataFrame) -> DataFrame:
    """One row per first delivery of which a part came behind a later one: its `place`, and the offsets from `begin`
    up to `end`.

    Attempts after the first may come at any time. What came twice as the first is here too.
    """
    first = (F.col("kind") == "delivered") & (F.coalesce("attempt", F.lit(1)) == 1)
    before = Window.partitionBy("place").orderBy("seq").rowsBetween(Window.unboundedPreceding, -1)
    return (
        messages.where(first & F.col("offset").isNotNull() & (F.col("count") > 0))
        .select(place(), "seq", F.col("offset").alias("begin"), (F.col("offset") + F.col("count")).alias("end"))
        .withColumn("reached", F.max("end").over(before))
        .where("begin < reached")
        .select("place", "begin", F.least("end", "reached").alias("end"))
    )
