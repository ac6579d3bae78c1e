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
    """The `top` keys of each topic by published messages; without key and rank, the messages of each partition whose
    keys are unknown, as in batches. Bound: `top` x topics + partitions.
    """
    is_known = F.col("key").isNotNull()
    order = Window.partitionBy("topic", is_known).orderBy(F.desc("messages"), "key", "partition")
    told = is_known | (F.col("count") > 1)
    return (
        messages.where((F.col("kind") == "published") & told & (F.col("time_ns") >= scale.from_ns))
        .groupBy("topic", "key", "partition")
        .agg(F.sum("count").alias("messages"), F.sum("size_bytes").alias("bytes"))
        .withColumn("rank", F.when(is_known, F.row_number().over(order)))
        .where(~is_known | (F.col("rank") <= top))
        .select("topic", "rank", key_text("key").alias("key"), "partition", "messages", "bytes")
    )
