"""How many messages came while nobody read their partition?"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def published_in(messages: DataFrame, pauses: DataFrame, windows: Sequence[tuple[int, int]]) -> DataFrame:
    """Per row of `pauses` (`pause`, topic, partition, from_ns, to_ns): the messages that were published in it.

    All pauses lie in `windows`: row groups in which none of them is are not read. Bound: the pauses.
    """
    inside, at = F.lit(False), F.col("time_ns")
    for begin, end in windows:
        inside = inside | at.between(begin, end)
    return (
        messages.where((F.col("kind") == "published") & inside)
        .select("topic", "partition", "time_ns", "count")
        .join(F.broadcast(pauses), ["topic", "partition"])
        .where((at >= F.col("from_ns")) & (at < F.col("to_ns")))
        .groupBy("pause")
        .agg(F.sum("count").alias("published"))
    )
