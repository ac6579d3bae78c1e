"""Which messages came to a group behind a later one? In a partition the order is a promise."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F


def late(messages: DataFrame) -> DataFrame:
    """One row per first delivery of which a part came behind a later one: its group, topic and partition, and the
    offsets from `at` on, `count` of them. Attempts after the first may come at any time.

    Sorted by a hash of the place, which costs half of sorting by the three; two places with one hash would be told
    as out of order, once in 2^64. Stays on the executors.
    """
    first = (F.col("kind") == "delivered") & (F.coalesce("attempt", F.lit(1)) == 1)
    before = Window.partitionBy("place").orderBy("seq").rowsBetween(Window.unboundedPreceding, -1)
    end = F.col("offset") + F.col("count")
    return (
        messages.where(first & F.col("offset").isNotNull() & (F.col("count") > 0))
        .select(
            *("group", "topic", "partition", "seq", F.col("offset").alias("at"), end.alias("end")),
            F.xxhash64("group", "topic", "partition").alias("place"),
        )
        .withColumn("reached", F.max("end").over(before))
        .where("at < reached")
        .select(*("group", "topic", "partition", "at"), (F.least("end", "reached") - F.col("at")).alias("count"))
    )
