"""Who read a partition last that was taken from it, who read it next, and how many messages came in between?"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F


def read_on(messages: DataFrame, asked: DataFrame, windows: Sequence[tuple[int, int]]) -> DataFrame:
    """Per `pause` and `assigned_seq` of `asked` (one of them, a place, client, from_ns, to_ns, after_seq,
    before_seq): when the client was given something of the places last, and what first: first_seq, first_ns, and
    its published_ns.

    All of these lie in `windows`. Bound: the rows of `asked`.
    """
    at, seq = F.col("time_ns"), F.col("seq")
    return (
        messages.where((F.col("kind") == "delivered") & _inside(windows))
        .select("group", "topic", "partition", "client", "time_ns", "seq", "published_ns")
        .join(F.broadcast(asked), ["group", "topic", "partition", "client"])
        .where(at.between(F.col("from_ns"), F.col("to_ns")))
        .where((seq > F.col("after_seq")) & (seq < F.col("before_seq")))
        .groupBy("pause", "assigned_seq")
        .agg(
            F.max("time_ns").alias("last_ns"),
            F.min("seq").alias("first_seq"),
            F.min("time_ns").alias("first_ns"),
            F.min_by("published_ns", "seq").alias("published_ns"),
        )
    )


def published_in(messages: DataFrame, pauses: DataFrame, windows: Sequence[tuple[int, int]]) -> DataFrame:
    """Per row of `pauses` (`pause`, topic, partition, from_ns, to_ns): the messages that were published in it.

    All pauses lie in `windows`: row groups in which none of them is are not read. Bound: the pauses.
    """
    at = F.col("time_ns")
    return (
        messages.where((F.col("kind") == "published") & _inside(windows))
        .select("topic", "partition", "time_ns", "count")
        .join(F.broadcast(pauses), ["topic", "partition"])
        .where((at >= F.col("from_ns")) & (at < F.col("to_ns")))
        .groupBy("pause")
        .agg(F.sum("count").alias("published"))
    )


def _inside(windows: Sequence[tuple[int, int]]) -> Column:
    inside = F.lit(False)
    for begin, end in windows:
        inside = inside | F.col("time_ns").between(begin, end)
    return inside
