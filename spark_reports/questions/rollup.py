"""The one pass over all messages that most questions share: counts by time bucket and everything with few
values.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

SCHEMA = (
    "start_ns BIGINT, kind STRING, topic STRING, partition INT, client STRING, `group` STRING, "
    "attempt INT, cause STRING, "
    "to_topic STRING, to_partition INT, events BIGINT, messages BIGINT, bytes BIGINT, end_offset BIGINT, "
    "to_end_offset BIGINT, last_seq BIGINT"
)
KEYS = ("kind", "topic", "partition", "client", "group", "attempt", "cause", "to_topic", "to_partition")


def rollup(messages: DataFrame, width_ns: int) -> DataFrame:
    """Counts per time bucket, kind, place, client, group, attempt and cause.

    `messages` and `bytes` are sums over the ranges that events carry. `end_offset` is the offset after the
    range of the last event of the row, `to_end_offset` the highest one at the destination, `last_seq` the
    number of that event.
    """
    start = (F.floor(F.col("time_ns") / F.lit(width_ns)) * width_ns).cast("bigint").alias("start_ns")
    after = F.col("offset") + F.col("count")
    return messages.groupBy(start, *KEYS).agg(
        F.count("*").alias("events"),
        F.sum("count").alias("messages"),
        F.sum("size_bytes").alias("bytes"),
        F.max_by(after, "seq").alias("end_offset"),
        F.max(F.col("to_offset") + F.col("count")).alias("to_end_offset"),
        F.max("seq").alias("last_seq"),
    )


def grid(buckets: DataFrame, duration_ns: int, width_ns: int) -> DataFrame:
    """Every row of `buckets` once per time bucket of the session, with `start_ns`: what happened to nobody is
    still shown.
    """
    count = max(1, -(-duration_ns // width_ns))
    starts = buckets.sparkSession.range(0, count * width_ns, width_ns, 1).withColumnRenamed("id", "start_ns")
    return buckets.crossJoin(F.broadcast(starts))
