"""Looks up events at a few moments: only row groups inside `windows` of time are read."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F


def published_in(messages: DataFrame, pauses: DataFrame, windows: Sequence[tuple[int, int]]) -> DataFrame:
    """Per `pause` of `pauses`: the messages published in it. Bound: the pauses."""
    at = F.col("time_ns")
    return (
        messages.where((F.col("kind") == "published") & inside(windows))
        .select("topic", "partition", "time_ns", "count")
        .join(F.broadcast(pauses), ["topic", "partition"])
        .where((at >= F.col("from_ns")) & (at < F.col("to_ns")))
        .groupBy("pause")
        .agg(F.sum("count").alias("published"))
    )


def inside(windows: Sequence[tuple[int, int]]) -> Column:
    found = F.lit(False)
    for begin, end in windows:
        found = found | F.col("time_ns").between(begin, end)
    return found


def held(messages: DataFrame, asked: DataFrame, windows: Sequence[tuple[int, int]]) -> DataFrame:
    """Per transaction of `asked`, topic, partition and group, before it ended: how far the group had `reached`, and
    when it was given the last of that (`last_ns`). Rows of the log (group ""): the transaction's `first` offset, when
    that came, and the `end` of the partition. All lie in `windows`. Bound: `asked` x partitions x groups.
    """
    seq, published = F.col("seq"), F.col("kind") == "published"
    own = published & (F.col("client") == F.col("producer")) & (seq > F.col("start_seq"))
    after = F.col("offset") + F.col("count")
    return (
        messages.where(F.col("kind").isin("published", "delivered") & inside(windows) & F.col("offset").isNotNull())
        .select("kind", "seq", "time_ns", "client", "group", "topic", "partition", "offset", "count")
        .join(F.broadcast(asked), F.col("time_ns").between(F.col("from_ns"), F.col("to_ns")) & (seq < F.col("end_seq")))
        .groupBy("transaction", "topic", "partition", F.when(published, "").otherwise(F.col("group")).alias("group"))
        .agg(
            F.min(F.when(own, F.col("offset"))).alias("first"),
            F.min(F.when(own, F.col("time_ns"))).alias("first_ns"),
            F.max(F.when(published, after)).alias("end"),
            F.max(F.when(~published, after)).alias("reached"),
            F.max(F.when(~published, F.col("time_ns"))).alias("last_ns"),
        )
    )
