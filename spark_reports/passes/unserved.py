"""Who read a partition that was taken from it, and how many messages came while nobody did?"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F


def read_on(messages: DataFrame, taken: DataFrame, windows: Sequence[tuple[int, int]]) -> DataFrame:
    """Per row of `taken` (`pause`, its place, owner_before, from_ns, to_ns): when its owner was last given
    something of it in that time. All of these lie in `windows`. Bound: the rows of `taken`.
    """
    at = F.col("time_ns")
    return (
        messages.where((F.col("kind") == "delivered") & _inside(windows))
        .select("group", "topic", "partition", "client", "time_ns")
        .join(F.broadcast(taken), ["group", "topic", "partition"])
        .where((F.col("client") == F.col("owner_before")) & (at > F.col("from_ns")) & (at < F.col("to_ns")))
        .groupBy("pause")
        .agg(F.max("time_ns").alias("last_ns"))
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
