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
    """Counts per time bucket, kind, place, client, group, attempt and cause.

    `messages` and `bytes` are sums over the ranges that events carry. `end_offset` is the offset after the range of
    the last event of the row, `last_seq` the number of that event; `first_offset` and `reached_offset` are where the
    lowest range begins and the highest ends, `to_end_offset` the latter at the destination.

    Bound: 241 buckets x 15 kinds x partitions x clients x groups x `MOST_ATTEMPTS` (later ones count as that one) x
    causes, of which only those that refused, lost or passed over something have rows of their own, without the numbers
    that differ.
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
