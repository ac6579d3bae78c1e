"""The lag of each group, per partition and over time.

Lag is the end offset less the committed one, in messages, at the end of each time bucket; before the first commit less
the offset at which the group began to read, null ("n/a") if that is not known. What was deleted is behind for nobody.
"""

from __future__ import annotations

import polars as pl
import polars.selectors as cs

from spark_reports.scale import Scale
from spark_reports.tables import queues
from spark_reports.tables.details import PLACE, compacted, deletions, markers, resets

SCHEMA = "`group` STRING, topic STRING, partition INT, start_ns BIGINT, end_offset BIGINT, committed BIGINT, lag BIGINT"
SERIES_SCHEMA = (
    "`group` STRING, topic STRING, partition INT, last_lag BIGINT, max_lag BIGINT, max_lag_ns BIGINT, mean_lag DOUBLE, "
    "at_most BOOLEAN"
)


def lag(rollup: pl.DataFrame, detailed: pl.DataFrame, scale: Scale) -> pl.DataFrame:
    """One row per group, partition and time bucket of `scale`. `rollup` and the control events also hold what came
    before. Redriven messages and dead letters are appends too; transaction markers are no messages.
    """
    committed, began = _committed(rollup, detailed, scale), _began(detailed, scale)
    reached = pl.coalesce("committed", "began_offset")
    places = pl.concat([committed.select(PLACE), began.select(PLACE)]).unique()
    return (
        queues.grid(places, scale)
        .join(committed, on=[*PLACE, "start_ns"], how="left", maintain_order="left")
        .join(began, on=[*PLACE, "start_ns"], how="left", maintain_order="left")
        .join(_ends(rollup), on=["topic", "partition", "start_ns"], how="left", maintain_order="left")
        .join(_deleted(detailed, scale), on=["topic", "partition", "start_ns"], how="left", maintain_order="left")
        .with_columns(
            end_offset=pl.col("end_offset").cum_max().forward_fill().over(PLACE).fill_null(0),
            committed=pl.col("committed").forward_fill().over(PLACE),
            began_offset=pl.col("began_offset").forward_fill().over(PLACE),
            deleted=pl.col("deleted").cum_max().forward_fill().over(PLACE).fill_null(0),
        )
        .with_columns(next_offset=pl.when(reached.is_not_null()).then(pl.max_horizontal(reached, "deleted")))
        .pipe(_without_markers, markers(detailed))
        .filter(pl.col("start_ns") >= scale.from_ns)
        .drop("began_offset", "next_offset", "deleted")
    )


def _without_markers(table: pl.DataFrame, found: pl.DataFrame) -> pl.DataFrame:
    """`table` with its lag: offsets less the markers of transactions among them, which are no messages."""
    between = pl.col("end_offset") - pl.col("next_offset")
    if found.height:
        numbered = found.sort("offset").with_columns(number=pl.int_range(1, pl.len() + 1).over("topic", "partition"))
        for name in ("end_offset", "next_offset"):
            before = numbered.select("topic", "partition", (pl.col("offset") + 1).alias(name), pl.col("number"))
            table = (
                table.with_row_index("row")
                .sort(name)
                .join_asof(before.sort(name), on=name, by=["topic", "partition"], check_sortedness=False)
                .sort("row")
                .drop("row")
                .rename({"number": f"markers_before_{name}"})
            )
        counts = [pl.col(f"markers_before_{name}").fill_null(0) for name in ("end_offset", "next_offset")]
        between = between - (counts[0] - counts[1])
    return table.with_columns(lag=between.clip(lower_bound=0)).drop(cs.starts_with("markers_before_"))


def _ends(rollup: pl.DataFrame) -> pl.DataFrame:
    """The end of each partition, at the end of each bucket in which it moved."""
    appended = rollup.filter(pl.col("kind") == "published").select("start_ns", "topic", "partition", "end_offset")
    moved = rollup.drop_nulls("to_end_offset").select(
        "start_ns", topic="to_topic", partition="to_partition", end_offset="to_end_offset"
    )
    return pl.concat([appended, moved]).group_by("topic", "partition", "start_ns").agg(pl.col("end_offset").max())


def _deleted(detailed: pl.DataFrame, scale: Scale) -> pl.DataFrame:
    """Where each partition begins, at the end of each bucket in which it was cut."""
    cut = deletions(detailed).select("topic", "partition", start_ns=scale.polars_bucket_start("time_ns"), deleted="end")
    return cut.group_by("topic", "partition", "start_ns").agg(pl.col("deleted").max())


def _began(detailed: pl.DataFrame, scale: Scale) -> pl.DataFrame:
    began = detailed.filter(pl.col("kind") == "reading_began").select(
        *PLACE, "seq", start_ns=scale.polars_bucket_start("time_ns"), began_offset="offset"
    )
    return began.group_by(*PLACE, "start_ns").agg(pl.col("began_offset").sort_by("seq").last())


def _committed(rollup: pl.DataFrame, detailed: pl.DataFrame, scale: Scale) -> pl.DataFrame:
    passed = (pl.col("kind") == "passed_over") & (pl.col("cause") == "acknowledged")
    is_commit = (pl.col("kind") == "acknowledged") | passed
    commits = rollup.filter(is_commit & (pl.col("group") != pl.col("topic"))).select(
        *PLACE, "start_ns", committed="end_offset", seq="last_seq"
    )
    moved = resets(detailed).select(*PLACE, start_ns=scale.polars_bucket_start("time_ns"), committed="new", seq="seq")
    # A subscription or share group has no offset that it has come to: what it has not finished is in `queues`.
    commits = commits.join(queues.subscriptions(detailed), left_on="group", right_on="queue", how="anti")
    last = pl.col("committed").sort_by("seq").last()
    return pl.concat([commits, moved]).group_by(*PLACE, "start_ns").agg(last)


def lag_series(lag: pl.DataFrame, control: pl.DataFrame, scale: Scale) -> pl.DataFrame:
    """One row per group and partition: its last, worst and mean lag at the ends of buckets."""
    looked_ns = (pl.col("start_ns") + scale.width_ns).clip(upper_bound=scale.to_ns)
    worst = pl.col("lag") == pl.col("lag").max()
    return (
        lag.group_by(PLACE)
        .agg(
            pl.col("lag").sort_by("start_ns").last().alias("last_lag"),
            pl.col("lag").max().alias("max_lag"),
            looked_ns.filter(worst).min().alias("max_lag_ns"),
            pl.col("lag").mean().alias("mean_lag"),
        )
        .with_columns(at_most=pl.col("topic").is_in(compacted(control).implode()))
        .sort("max_lag", *PLACE, descending=[True, False, False, False], nulls_last=True)
    )
