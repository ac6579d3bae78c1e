"""Which partitions had nobody to read them during a rebalance, for how long, and how many messages waited?"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_reports.scale import Scale

SCHEMA = (
    "`group` STRING, started_ns BIGINT, topic STRING, partition INT, owner_before STRING, owner_after STRING, "
    "from_ns BIGINT, to_ns BIGINT, pause_ns BIGINT, published BIGINT"
)
PAUSES_SCHEMA = (
    "`group` STRING, started_ns BIGINT, topic STRING, partition INT, from_ns BIGINT, owner_before STRING, "
    "owner_after STRING, to_ns BIGINT"
)
MOST_WINDOWS = 50


def pauses(control: DataFrame, rebalances: DataFrame, ownership: DataFrame, scale: Scale) -> DataFrame:
    """One row per rebalance and partition that it took from its owner.

    `owner_after` is null where nobody had the partition by the end.
    """
    place = F.from_json("detail", "partitions ARRAY<ARRAY<STRING>>").partitions
    revoked = (
        control.where(F.col("kind") == "partitions_revoked")
        .select("group", "time_ns", F.col("client").alias("owner_before"), F.explode(place).alias("place"))
        .select(
            *("group", F.col("place")[0].alias("topic"), F.col("place")[1].cast("int").alias("partition")),
            F.col("time_ns").alias("from_ns"),
            "owner_before",
        )
    )
    of_rebalance = revoked.join(rebalances.select("group", "started_ns", "ended_ns"), "group").where(
        F.col("from_ns").between(F.col("started_ns"), F.col("ended_ns"))
    )
    next_owner = ownership.select(
        "group", "topic", "partition", F.col("client").alias("owner_after"), F.col("from_ns").alias("assigned_ns")
    )
    later = F.col("assigned_ns") >= F.col("from_ns")
    return (
        of_rebalance.join(next_owner, ["group", "topic", "partition"], "left")
        .groupBy("group", "started_ns", "topic", "partition", "from_ns")
        .agg(
            F.max("owner_before").alias("owner_before"),
            F.min_by(F.when(later, F.col("owner_after")), F.when(later, F.col("assigned_ns"))).alias("owner_after"),
            F.min(F.when(later, F.col("assigned_ns"))).alias("assigned_ns"),
        )
        .withColumn("to_ns", F.coalesce("assigned_ns", F.lit(scale.to_ns)).cast("bigint"))
        .drop("assigned_ns")
    )


def windows(pauses: DataFrame) -> list[tuple[int, int]]:
    """The times of `pauses`, few enough to be written into a filter; nearby ones are joined where there are many."""
    spans = sorted((row.from_ns, row.to_ns) for row in pauses.select("from_ns", "to_ns").distinct().collect())
    joined: list[tuple[int, int]] = []
    for begin, end in spans:
        if joined and begin <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((begin, end))
    while len(joined) > MOST_WINDOWS:
        _, at = min((joined[at + 1][0] - joined[at][1], at) for at in range(len(joined) - 1))
        joined[at : at + 2] = [(joined[at][0], joined[at + 1][1])]
    return joined


def unserved(pauses: DataFrame, messages: DataFrame, windows: Sequence[tuple[int, int]]) -> DataFrame:
    """The pauses, longest first. `published` are the messages that were appended while nobody read.

    All pauses lie in `windows`: files in which none of them is are not read.
    """
    inside = F.lit(False)
    for begin, end in windows:
        inside = inside | F.col("time_ns").between(begin, end)
    at = F.col("time_ns")
    appended = (
        messages.where((F.col("kind") == "published") & inside)
        .select("topic", "partition", "time_ns", "count")
        .join(
            F.broadcast(pauses.select("group", "started_ns", "topic", "partition", "from_ns", "to_ns")),
            ["topic", "partition"],
        )
        .where((at >= F.col("from_ns")) & (at < F.col("to_ns")))
        .groupBy("group", "started_ns", "topic", "partition", "from_ns")
        .agg(F.sum("count").alias("published"))
    )
    return (
        pauses.join(appended, ["group", "started_ns", "topic", "partition", "from_ns"], "left")
        .select(
            *("group", "started_ns", "topic", "partition", "owner_before", "owner_after", "from_ns", "to_ns"),
            (F.col("to_ns") - F.col("from_ns")).alias("pause_ns"),
            F.coalesce("published", F.lit(0)).cast("bigint").alias("published"),
        )
        .orderBy(F.desc("pause_ns"), "started_ns", "group", "topic", "partition")
    )
