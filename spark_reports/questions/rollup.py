"""The one pass over all messages that most questions share: counts by time bucket and everything with few
values.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_reports.scale import Scale

SCHEMA = (
    "start_ns BIGINT, kind STRING, topic STRING, partition INT, client STRING, `group` STRING, "
    "attempt INT, cause STRING, "
    "to_topic STRING, to_partition INT, events BIGINT, messages BIGINT, bytes BIGINT, end_offset BIGINT, "
    "to_end_offset BIGINT, first_ns BIGINT, last_ns BIGINT, last_seq BIGINT"
)
KEYS = ("kind", "topic", "partition", "client", "group", "attempt", "cause", "to_topic", "to_partition")


def rollup(messages: DataFrame, scale: Scale) -> DataFrame:
    """Counts per time bucket, kind, place, client, group, attempt and cause.

    `messages` and `bytes` are sums over the ranges that events carry. `end_offset` is the offset after the
    range of the last event of the row, `to_end_offset` the highest one at the destination, `last_seq` the
    number of that event.
    """
    after = F.col("offset") + F.col("count")
    return messages.groupBy(scale.start("time_ns").alias("start_ns"), *KEYS).agg(
        F.count("*").alias("events"),
        F.sum("count").alias("messages"),
        F.sum("size_bytes").alias("bytes"),
        F.max_by(after, "seq").alias("end_offset"),
        F.max(F.col("to_offset") + F.col("count")).alias("to_end_offset"),
        F.min("time_ns").alias("first_ns"),
        F.max("time_ns").alias("last_ns"),
        F.max("seq").alias("last_seq"),
    )


def grid(rows: DataFrame, scale: Scale) -> DataFrame:
    """Every row of `rows` once per time bucket, with `start_ns`: what happened to nobody is still shown.

    The bucket of what came before `scale` is there too; who sums up drops it afterwards.
    """
    first = scale.from_ns - (scale.width_ns if scale.from_ns else 0)
    end = scale.from_ns + scale.buckets * scale.width_ns
    starts = rows.sparkSession.range(first, end, scale.width_ns, 1).withColumnRenamed("id", "start_ns")
    return rows.crossJoin(F.broadcast(starts))
