"""The basis of most tables: counts by time bucket and by everything with few values."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from spark_reports.scale import Scale

KEYS = ("kind", "topic", "partition", "client", "group", "attempt", "cause", "to_topic", "to_partition")
MOST_ATTEMPTS = 100
_TOLD = ("rejected", "dropped", "evicted", "dead_lettered", "passed_over")  # kinds whose cause some table asks for


def rollup(messages: DataFrame, scale: Scale) -> DataFrame:
    """Counts per time bucket, kind, place, client, group, attempt and cause. `messages` and `bytes` are sums over
    ranges, `first_offset` and `reached_offset` their lowest and highest end. `end_offset` is the end of the last
    event's range, `last_seq` its number, `to_end_offset` the highest end at the destination. Bound: 241 buckets x 15
    kinds x partitions x clients x groups x `MOST_ATTEMPTS` (of later ones the last) x causes, kept for `_TOLD` only and
    without their numbers.
    """
    after = F.col("offset") + F.col("count")
    keys = {name: F.col(name) for name in KEYS}
    keys["attempt"] = F.when(F.col("attempt") > MOST_ATTEMPTS, MOST_ATTEMPTS).otherwise(F.col("attempt"))
    steady = F.regexp_replace(F.col("cause"), r"is full: \S+ of \S+", "is full: n of n")
    keys["cause"] = F.when(F.col("kind").isin(*_TOLD), steady).otherwise("")
    return messages.groupBy(
        scale.spark_bucket_start("time_ns").alias("start_ns"), *(key.alias(name) for name, key in keys.items())
    ).agg(
        F.count("*").alias("events"),
        F.sum("count").alias("messages"),
        F.sum("size_bytes").alias("bytes"),
        F.max_by(after, "seq").alias("end_offset"),
        F.max(F.col("to_offset") + F.col("count")).alias("to_end_offset"),
        F.min("time_ns").alias("first_ns"),
        F.max("time_ns").alias("last_ns"),
        F.max("seq").alias("last_seq"),
        F.min("offset").alias("first_offset"),
        F.max(after).alias("reached_offset"),
    )


TOP = 10


def key_text(name: str) -> Column:
    """A key as text where it is printable UTF-8, else as 0x and hexadecimal digits; null stays null."""
    key = F.col(name)
    text = F.try_validate_utf8(key.cast("string"))
    return F.when(text.rlike(r"^[^\x00-\x1f\x7f-\x9f]*\z"), text).otherwise(F.concat(F.lit("0x"), F.hex(key)))


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
