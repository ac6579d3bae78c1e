"""Which keys are hot?"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from spark_reports.scale import Scale

TOP = 10


def key_text(name: str) -> Column:
    """A key as text where it is printable UTF-8, else as 0x and hexadecimal digits; null stays null."""
    key = F.col(name)
    text = F.try_validate_utf8(key.cast("string"))
    return F.when(text.rlike(r"^[^\x00-\x1f\x7f-\x9f]*$"), text).otherwise(F.concat(F.lit("0x"), F.hex(key)))


def hot_keys(messages: DataFrame, scale: Scale, top: int = TOP) -> DataFrame:
    """The `top` keys of each topic by published messages. Batches do not carry keys and count for none.

    Bound: `top` x topics.
    """
    order = Window.partitionBy("topic").orderBy(F.desc("messages"), "key", "partition")
    return (
        messages.where((F.col("kind") == "published") & F.col("key").isNotNull() & (F.col("time_ns") >= scale.from_ns))
        .groupBy("topic", "key", "partition")
        .agg(F.sum("count").alias("messages"), F.sum("size_bytes").alias("bytes"))
        .withColumn("rank", F.row_number().over(order))
        .where(F.col("rank") <= top)
        .select("topic", "rank", key_text("key").alias("key"), "partition", "messages", "bytes")
    )
