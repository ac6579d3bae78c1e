from __future__ import annotations

import polars as pl

from spark_reports.tables.latency import FIRST

SCHEMA = (
    "`group` STRING, clients BIGINT, delivered BIGINT, acknowledged BIGINT, repeated BIGINT, dead_lettered BIGINT, "
    "p50_ns BIGINT, p99_ns BIGINT, max_ns BIGINT, max_behind BIGINT, last_behind BIGINT, rebalances BIGINT, "
    "changed BIGINT, unserved_ns BIGINT, utilisation DOUBLE"
)
_COUNTED = ("delivered", "acknowledged", "dead_lettered")


def behind(lag: pl.DataFrame, queues: pl.DataFrame) -> pl.DataFrame:
    """Per group or queue and time bucket: lag, or what waits, summed over its partitions."""
    waiting = queues.select("start_ns", group="queue", behind="waiting")
    each = pl.concat([lag.select("start_ns", "group", behind="lag"), waiting])
    # Without a commit the lag of a group is unknown: the sum of nothing is not 0.
    known = pl.when(pl.col("behind").is_not_null().any()).then(pl.col("behind").sum())
    return each.group_by("group", "start_ns").agg(known)


def groups(
    rollup: pl.DataFrame,
    latency_by_group: pl.DataFrame,
    behind: pl.DataFrame,
    rebalances: pl.DataFrame,
    unserved: pl.DataFrame,
    consumers: pl.DataFrame,
) -> pl.DataFrame:
    """One row per group or queue. `latency_by_group` has one row per `measure` and group."""
    kind, messages = pl.col("kind"), pl.col("messages")
    counted = (
        rollup.filter((pl.col("group") != "") & kind.is_in(_COUNTED))
        .group_by("group")
        .agg(
            *(messages.filter(kind == name).sum().alias(name) for name in _COUNTED),
            messages.filter((kind == "delivered") & (pl.col("attempt") > 1)).sum().alias("repeated"),
        )
        .filter(pl.col("delivered") > 0)
    )
    sums = ("clients", "rebalances", "changed", "unserved_ns")
    found = counted
    for other in (
        latency_by_group.filter(pl.col("measure") == FIRST).select("group", "p50_ns", "p99_ns", "max_ns"),
        behind.group_by("group").agg(
            pl.col("behind").max().alias("max_behind"),
            pl.col("behind").sort_by("start_ns").last().alias("last_behind"),
        ),
        rebalances.group_by("group").agg(pl.len().alias("rebalances"), pl.col("changed").sum()),
        unserved.group_by("group").agg(pl.col("pause_ns").sum().alias("unserved_ns")),
        consumers.group_by("group").agg(
            pl.len().alias("clients"), (pl.col("busy_ns").sum() / pl.col("there_ns").sum()).alias("utilisation")
        ),
    ):
        found = found.join(other, on="group", how="left")
    return found.with_columns(pl.col(sums).fill_null(0)).sort("delivered", "group", descending=[True, False])
