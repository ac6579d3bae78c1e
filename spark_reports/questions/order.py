"""Which messages came to a group behind a later one? In a partition the order is a promise."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

_PLACE = ("group", "topic", "partition")


def late(messages: DataFrame) -> DataFrame:
    """One row per first delivery of which a part came behind a later one: group, topic, partition, and the offsets
    from `begin` up to `end`.

    Attempts after the first may come at any time. What came twice as the first is here too.
    """
    first = (F.col("kind") == "delivered") & (F.coalesce("attempt", F.lit(1)) == 1)
    before = Window.partitionBy(*_PLACE).orderBy("seq").rowsBetween(Window.unboundedPreceding, -1)
    return (
        messages.where(first & F.col("offset").isNotNull() & (F.col("count") > 0))
        .select(*_PLACE, "seq", F.col("offset").alias("begin"), (F.col("offset") + F.col("count")).alias("end"))
        .withColumn("reached", F.max("end").over(before))
        .where("begin < reached")
        .select(*_PLACE, "begin", F.least("end", "reached").alias("end"))
    )
