"""Every group and queue in one row: what it read, how late, how far behind, and what its rebalances cost."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from spark_reports.questions.latency import FIRST

SCHEMA = (
    "`group` STRING, clients BIGINT, delivered BIGINT, acknowledged BIGINT, repeated BIGINT, dead_lettered BIGINT, "
    "p50_ns BIGINT, p99_ns BIGINT, max_ns BIGINT, max_behind BIGINT, last_behind BIGINT, rebalances BIGINT, "
    "changed BIGINT, unserved_ns BIGINT, utilisation DOUBLE"
)


def groups(
    rollup: DataFrame,
    latency_by_group: DataFrame,
    lag: DataFrame,
    queues: DataFrame,
    rebalances: DataFrame,
    unserved: DataFrame,
    consumers: DataFrame,
) -> DataFrame:
    """One row per group or queue. `behind` is lag, or what waits in a queue, summed over its partitions;
    `unserved_ns` the time of partitions without an owner, summed; `changed` counts new owners of partitions.

    `latency_by_group` has one row per `measure` and group.
    """
    kind, messages = F.col("kind"), F.col("messages")

    def total(name: str) -> Column:
        return F.sum(F.when(kind == name, messages).otherwise(0)).alias(name)

    again = F.sum(F.when((kind == "delivered") & (F.col("attempt") > 1), messages).otherwise(0))
    counted = (
        rollup.where((F.col("group") != "") & kind.isin("delivered", "acknowledged", "dead_lettered"))
        .groupBy("group")
        .agg(total("delivered"), total("acknowledged"), again.alias("repeated"), total("dead_lettered"))
        .where("delivered > 0")
    )
    late = latency_by_group.where(F.col("measure") == FIRST).select("group", "p50_ns", "p99_ns", "max_ns")
    behind = (
        lag.select("group", "start_ns", F.col("lag").alias("behind"))
        .union(queues.select("queue", "start_ns", "waiting"))
        .groupBy("group", "start_ns")
        .agg(F.sum("behind").alias("behind"))
        .groupBy("group")
        .agg(F.max("behind").alias("max_behind"), F.max_by("behind", "start_ns").alias("last_behind"))
    )
    moves = rebalances.groupBy("group").agg(F.count("*").alias("rebalances"), F.sum("changed").alias("changed"))
    without = unserved.groupBy("group").agg(F.sum("pause_ns").alias("unserved_ns"))
    busy = consumers.groupBy("group").agg(
        F.count("*").alias("clients"),
        (F.sum("busy_ns") / F.sum(F.col("to_ns") - F.col("from_ns"))).alias("utilisation"),
    )
    found = counted
    for other in (late, behind, moves, without, busy):
        found = found.join(other, "group", "left")
    none = F.lit(0).cast("bigint")
    return found.select(
        *("group", F.coalesce("clients", none).alias("clients")),
        *("delivered", "acknowledged", "repeated", "dead_lettered", "p50_ns", "p99_ns", "max_ns"),
        *("max_behind", "last_behind"),
        *(F.coalesce(name, none).alias(name) for name in ("rebalances", "changed", "unserved_ns")),
        "utilisation",
    ).orderBy(F.desc("delivered"), "group")
