from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from typing import Any

import polars as pl

from spark_reports.passes.kinds import FIRST
from spark_reports.scale import Scale
from spark_reports.tables.schema import rows

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
            pl.col("behind").max().alias("max_behind"), pl.col("behind").sort_by("start_ns").last().alias("last_behind")
        ),
        rebalances.group_by("group").agg(pl.len().alias("rebalances"), pl.col("changed").sum()),
        unserved.group_by("group").agg(pl.col("pause_ns").sum().alias("unserved_ns")),
        consumers.group_by("group").agg(
            pl.len().alias("clients"), (pl.col("busy_ns").sum() / pl.col("there_ns").sum()).alias("utilisation")
        ),
    ):
        found = found.join(other, on="group", how="left")
    return found.with_columns(pl.col(sums).fill_null(0)).sort("delivered", "group", descending=[True, False])


REBALANCES_SCHEMA = (
    "`group` STRING, started_ns BIGINT, ended_ns BIGINT, pause_ns BIGINT, finished BOOLEAN, cause STRING, "
    "generation_before INT, generation_after INT, partitions INT, moved INT, kept INT, stopped INT, changed INT"
)
_STEPS = ("rebalance_started", "rebalance_completed", "partitions_revoked")


def rebalances(detailed: pl.DataFrame, scale: Scale) -> pl.DataFrame:
    """One row per rebalance, at most to the session's end. `kept` stayed with their owner, `moved` came from or went to
    nobody or another, `stopped` were taken from their owner for the pause. `changed` got an owner they did not have
    before; none at a group's start. A partition given back in one rebalance and given out in the next has moved twice
    and changed once.
    """
    found: list[tuple[Any, ...]] = []
    begun: dict[str, dict[str, Any]] = {}  # those that go on, by group
    revoked: dict[str, list[tuple[int, tuple[str, ...]]]] = defaultdict(list)
    for event in detailed.filter((pl.col("group") != "") & pl.col("kind").is_in(_STEPS)).iter_rows(named=True):
        kind, group, time_ns = event["kind"], event["group"], event["time_ns"]
        if kind == "partitions_revoked":
            revoked[group] += ((time_ns, tuple(place)) for place in event["partitions"] or ())
        elif kind == "rebalance_started":
            begun[group] = event
        else:
            first = begun.pop(group, {})
            times = (event["started_ns"], first.get("time_ns"), time_ns)
            start_ns = next(at_ns for at_ns in times if at_ns is not None)
            moved = _moved(event["before"], event["after"])
            found.append(
                (group, start_ns, time_ns, True, event["cause"], first.get("generation"), event["generation"], *moved)
            )
    for group, event in begun.items():
        owned = {tuple(place[:2]) for place in event["before"] or ()}
        unfinished = (event["cause"], event["generation"], None, len(owned), 0, 0, 0)
        found.append((group, event["time_ns"], scale.to_ns, False, *unfinished))
    rebalances: list[tuple[object, ...]] = []
    for group, start_ns, end_ns, *told, changed in found:
        mine = revoked[group]
        low, high = bisect_left(mine, (start_ns,)), bisect_left(mine, (end_ns + 1,))
        stopped = len({place for _, place in mine[low:high]})
        rebalances.append((group, start_ns, end_ns, end_ns - start_ns, *told, stopped, changed))
    return (
        rows(REBALANCES_SCHEMA, rebalances)
        .filter(pl.col("ended_ns") >= scale.from_ns)
        .sort("started_ns", "group", "ended_ns", maintain_order=True)
    )


def _moved(before: list[list[str]] | None, after: list[list[str]] | None) -> tuple[int, int, int, int]:
    """How many partitions there are, how many of them moved, stayed with their owner, and got another one."""
    old, new = ({tuple(owned) for owned in each or ()} for each in (before, after))
    partitions, kept = len({owned[:2] for owned in old | new}), len(old & new)
    return partitions, partitions - kept, kept, len(new - old) if old else 0


def seen_from_outside(rebalances: pl.DataFrame) -> pl.DataFrame:
    """Removes durations, stopped partitions and classic generations, which an observer of a cluster cannot know."""
    generations = [
        pl.when(pl.col(name) >= 0).then(pl.col(name)).alias(name) for name in ("generation_before", "generation_after")
    ]
    return rebalances.with_columns(
        *generations, pause_ns=pl.lit(None, pl.Int64), stopped=pl.lit(None, rebalances["stopped"].dtype)
    )
