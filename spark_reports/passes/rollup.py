"""The pass that most tables are made of: counts by time bucket and everything with few values."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from spark_reports.scale import Scale

KEYS = ("kind", "topic", "partition", "client", "group", "attempt", "cause", "to_topic", "to_partition")
COLUMNS = (
    *("start_ns", *KEYS, "events", "messages", "bytes", "end_offset", "to_end_offset"),
    *("first_ns", "last_ns", "last_seq", "first_offset", "reached_offset"),
)
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
    keys["cause"] = F.when(F.col("kind").isin(*_TOLD), _steady(F.col("cause"))).otherwise("")
    return messages.groupBy(
        scale.start("time_ns").alias("start_ns"), *(key.alias(name) for name, key in keys.items())
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


def _steady(cause: Column) -> Column:
    return F.regexp_replace(cause, r"is full: \S+ of \S+", "is full: n of n")
