from __future__ import annotations

import polars as pl

from spark_reports.scale import Scale
from spark_reports.tables.details import places
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


REBALANCES_SCHEMA = (
    "`group` STRING, started_ns BIGINT, ended_ns BIGINT, pause_ns BIGINT, finished BOOLEAN, cause STRING, "
    "generation_before INT, generation_after INT, partitions INT, moved INT, kept INT, stopped INT, "
    "changed INT"
)
_SAME_START = 4  # rebalances of a group that may begin at one moment, or end where the next begins
_SEPARATOR = "\x00"


def rebalances(detailed: pl.DataFrame, scale: Scale) -> pl.DataFrame:
    """One row per rebalance, at most to the session's end. `kept` stayed with their owner, `moved` came from or went to
    nobody or another, `stopped` were taken from their owner for the pause. `changed` got an owner they did not have
    before; none at a group's start. A partition given back in one rebalance and given out in the next has moved twice
    and changed once.
    """
    known = _known(detailed, scale)
    stopped = (
        within(places(detailed, "partitions_revoked"), known)
        .group_by("rebalance")
        .agg(pl.struct("topic", "partition").n_unique().alias("stopped"))
    )
    return (
        known.join(stopped, on="rebalance", how="left")
        .with_columns(pl.col("stopped").fill_null(0))
        .filter(pl.col("ended_ns") >= scale.from_ns)
        .sort("started_ns", "group")
    )


def seen_from_outside(rebalances: pl.DataFrame) -> pl.DataFrame:
    """Removes durations, stopped partitions and classic generations, which an observer of a cluster cannot know."""
    generations = [
        pl.when(pl.col(name) >= 0).then(pl.col(name)).alias(name) for name in ("generation_before", "generation_after")
    ]
    return rebalances.with_columns(
        *generations, pause_ns=pl.lit(None, pl.Int64), stopped=pl.lit(None, rebalances["stopped"].dtype)
    )


def _known(detailed: pl.DataFrame, scale: Scale) -> pl.DataFrame:
    """Every rebalance, with its number as `rebalance`, in the order in which those of a group began."""
    kind, finished = pl.col("kind"), pl.col("finished")
    begun = kind.shift(1).over("group") == "rebalance_started"
    previous_ns, previous = (
        pl.when(begun).then(pl.col(name).shift(1).over("group")) for name in ("time_ns", "generation")
    )
    steps = (
        detailed.filter((pl.col("group") != "") & kind.is_in(["rebalance_started", "rebalance_completed"]))
        .with_columns(
            previous_ns=previous_ns,
            previous_generation=previous,
            next_kind=kind.shift(-1).over("group"),
            finished=kind == "rebalance_completed",
        )
        .filter(finished | pl.col("next_kind").is_null())
    )
    before, after = pl.col("before").list, pl.col("after").list
    zero = pl.lit(0, pl.UInt32)
    return (
        steps.with_columns(after=pl.when(finished).then("after"))
        .select(
            *("group", "finished", "cause", _joined("before"), _joined("after")),
            started_ns=pl.when(finished).then(pl.coalesce("started_ns", "previous_ns", "time_ns")).otherwise("time_ns"),
            ended_ns=pl.when(finished).then("time_ns").otherwise(scale.to_ns),
            generation_before=pl.when(finished).then("previous_generation").otherwise("generation"),
            generation_after=pl.when(finished).then("generation"),
            partitions=_joined("before", 2).list.set_union(_joined("after", 2)).list.len(),
        )
        .with_columns(both=before.set_intersection("after").list.len())
        .with_columns(
            pause_ns=pl.col("ended_ns") - pl.col("started_ns"),
            moved=pl.when(finished).then(pl.col("partitions") - pl.col("both")).otherwise(zero),
            kept=pl.when(finished).then("both").otherwise(zero),
            changed=pl.when(before.len() > 0).then(after.set_difference("before").list.len()).otherwise(zero),
        )
        .drop("before", "after", "both")
        .sort("group", "started_ns", "ended_ns")
        .with_row_index("rebalance")
    )


def _joined(name: str, first: int = 3) -> pl.Expr:
    each = pl.element().list.head(first).list.join(_SEPARATOR)
    return pl.col(name).fill_null([]).list.eval(each).list.unique(maintain_order=True)


def within(revoked: pl.DataFrame, rebalances: pl.DataFrame) -> pl.DataFrame:
    """Each row of `revoked` once per rebalance of its group that went on then, with its number, beginning and end."""
    spans = rebalances.select("group", "rebalance", "started_ns", "ended_ns").sort("group", "started_ns")
    latest = revoked.sort("group", "time_ns").join_asof(
        spans.select("group", "started_ns", pl.col("rebalance").alias("latest")),
        left_on="time_ns",
        right_on="started_ns",
        by="group",
        check_sortedness=False,
    )
    near = latest.drop("started_ns").drop_nulls("latest")
    each = near.with_columns(rebalance=pl.int_ranges(_first(), pl.col("latest") + 1, dtype=pl.UInt32))
    return (
        each.explode("rebalance", empty_as_null=False, keep_nulls=False)
        .join(spans, on=["group", "rebalance"])
        .filter(pl.col("time_ns").is_between("started_ns", "ended_ns"))
    )


def _first() -> pl.Expr:
    number = pl.col("latest").cast(pl.Int64) - (_SAME_START - 1)
    return number.clip(lower_bound=0)
