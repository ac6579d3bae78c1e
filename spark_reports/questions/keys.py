"""Which keys are hot, and how evenly are the partitions loaded?"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from spark_reports.scale import Scale

SCHEMA = (
    "topic STRING, rank INT, `key` STRING, partition INT, messages BIGINT, bytes BIGINT, "
    "share_of_partition DOUBLE, "
    "share_of_topic DOUBLE"
)
PARTITIONS_SCHEMA = "topic STRING, partition INT, messages BIGINT, bytes BIGINT, share DOUBLE, times_even DOUBLE"
TOP = 10


def key_text(name: str) -> Column:
    """A key as text where it is printable UTF-8, else as 0x and hexadecimal digits; null stays null."""
    key = F.col(name)
    text = F.try_validate_utf8(key.cast("string"))
    return F.when(text.rlike(r"^[^\x00-\x1f\x7f-\x9f]*$"), text).otherwise(F.concat(F.lit("0x"), F.hex(key)))


def hot_keys(messages: DataFrame, partitions: DataFrame, scale: Scale, top: int = TOP) -> DataFrame:
    """The `top` keys of each topic by published messages, with their shares. Batches do not carry keys and
    count for none.
    """
    counted = (
        messages.where((F.col("kind") == "published") & F.col("key").isNotNull() & (F.col("time_ns") >= scale.from_ns))
        .groupBy("topic", "key", "partition")
        .agg(F.sum("count").alias("messages"), F.sum("size_bytes").alias("bytes"))
    )
    order = Window.partitionBy("topic").orderBy(F.desc("messages"), "key", "partition")
    ranked = counted.withColumn("rank", F.row_number().over(order)).where(F.col("rank") <= top)
    of_partition = partitions.select("topic", "partition", F.col("messages").alias("in_partition"))
    of_topic = partitions.groupBy("topic").agg(F.sum("messages").alias("in_topic"))
    return (
        ranked.join(of_partition, ["topic", "partition"])
        .join(of_topic, "topic")
        .select(
            *("topic", "rank", key_text("key").alias("key"), "partition", "messages", "bytes"),
            (F.col("messages") / F.col("in_partition")).alias("share_of_partition"),
            (F.col("messages") / F.col("in_topic")).alias("share_of_topic"),
        )
        .orderBy("topic", "rank")
    )


def partitions(rollup: DataFrame) -> DataFrame:
    """Published messages per partition; `times_even` is 1 where the load is even, 2 where it is twice its
    fair share.
    """
    per_topic = Window.partitionBy("topic")
    return (
        rollup.where(F.col("kind") == "published")
        .groupBy("topic", "partition")
        .agg(F.sum("messages").alias("messages"), F.sum("bytes").alias("bytes"))
        .withColumn("share", F.col("messages") / F.sum("messages").over(per_topic))
        .withColumn("times_even", F.col("share") * F.count("*").over(per_topic))
        .orderBy("topic", "partition")
    )
