"""How far behind was each group, per partition and over time?

Lag is the end offset less the committed one, in messages, at the end of each time bucket; null ("n/a") where
nothing was committed.
"""

from __future__ import annotations

import polars as pl
import polars.selectors as cs

from spark_reports.scale import Scale
from spark_reports.tables.details import markers
from spark_reports.tables.grid import grid

SCHEMA = "`group` STRING, topic STRING, partition INT, start_ns BIGINT, end_offset BIGINT, committed BIGINT, lag BIGINT"
SERIES_SCHEMA = (
    "`group` STRING, topic STRING, partition INT, last_lag BIGINT, max_lag BIGINT, max_lag_ns BIGINT, mean_lag DOUBLE"
)
_PLACE = ("group", "topic", "partition")


def lag(rollup: pl.DataFrame, detailed: pl.DataFrame, scale: Scale) -> pl.DataFrame:
    """One row per group, partition and time bucket of `scale`. `rollup` and the control events (see `details`) also
    hold what came before.

    Redriven messages and dead letters are appends too; markers of transactions are no messages. A reset moves the
    committed offset either way.
    """
    committed = _committed(rollup, detailed, scale)
    end, mark = pl.col("end_offset"), pl.col("committed")
    return (
        grid(committed.select(_PLACE).unique(), scale)
        .join(committed, on=[*_PLACE, "start_ns"], how="left", maintain_order="left")
        .join(_ends(rollup), on=["topic", "partition", "start_ns"], how="left", maintain_order="left")
        .with_columns(
            end_offset=end.cum_max().forward_fill().over(_PLACE).fill_null(0),
            committed=mark.forward_fill().over(_PLACE),
        )
        .pipe(_without_markers, markers(detailed))
        .filter(pl.col("start_ns") >= scale.from_ns)
    )


def _without_markers(table: pl.DataFrame, found: pl.DataFrame) -> pl.DataFrame:
    """`table` with its lag: offsets less the markers of transactions among them, which are no messages."""
    between = pl.col("end_offset") - pl.col("committed")
    if found.height:
        numbered = found.sort("offset").with_columns(number=pl.int_range(1, pl.len() + 1).over("topic", "partition"))
        for name in ("end_offset", "committed"):
            before = numbered.select("topic", "partition", (pl.col("offset") + 1).alias(name), pl.col("number"))
            table = (
                table.with_row_index("row")
                .sort(name)
                .join_asof(before.sort(name), on=name, by=["topic", "partition"], check_sortedness=False)
                .sort("row")
                .drop("row")
                .rename({"number": f"markers_before_{name}"})
            )
        counts = [pl.col(f"markers_before_{name}").fill_null(0) for name in ("end_offset", "committed")]
        between = between - (counts[0] - counts[1])
    return table.with_columns(lag=between.clip(lower_bound=0)).drop(cs.starts_with("markers_before_"))


def _ends(rollup: pl.DataFrame) -> pl.DataFrame:
    """The end of each partition, at the end of each bucket in which it moved."""
    appended = rollup.filter(pl.col("kind") == "published").select("topic", "partition", "start_ns", "end_offset")
    moved = rollup.drop_nulls("to_end_offset").select(
        pl.col("to_topic").alias("topic"),
        pl.col("to_partition").alias("partition"),
        "start_ns",
        pl.col("to_end_offset").alias("end_offset"),
    )
    return pl.concat([appended, moved]).group_by("topic", "partition", "start_ns").agg(pl.col("end_offset").max())


def _committed(rollup: pl.DataFrame, detailed: pl.DataFrame, scale: Scale) -> pl.DataFrame:
    """What each group has committed, at the end of each bucket in which it did."""
    commits = rollup.filter((pl.col("kind") == "acknowledged") & (pl.col("group") != pl.col("topic"))).select(
        *_PLACE, "start_ns", pl.col("end_offset").alias("committed"), pl.col("last_seq").alias("seq")
    )
    change = pl.col("changes").list
    resets = (
        detailed.filter(pl.col("kind") == "offsets_reset")
        .select("group", "seq", scale.start_of("time_ns").alias("start_ns"), "changes")
        .explode("changes", empty_as_null=False, keep_nulls=False)
        .select(
            "group",
            change.get(0).alias("topic"),
            change.get(1).cast(pl.Int32).alias("partition"),
            "start_ns",
            change.get(3).cast(pl.Int64).alias("committed"),
            "seq",
        )
    )
    last = pl.col("committed").sort_by("seq").last()
    return pl.concat([commits, resets]).group_by(*_PLACE, "start_ns").agg(last)


def lag_series(lag: pl.DataFrame, scale: Scale) -> pl.DataFrame:
    """One row per group and partition: the lag at the end, the worst, when that was, and the mean.

    Lag is looked at when a bucket ends, and that is when the worst was.
    """
    looked_ns = (pl.col("start_ns") + scale.width_ns).clip(upper_bound=scale.to_ns)
    worst = pl.col("lag") == pl.col("lag").max()
    return (
        lag.group_by(_PLACE)
        .agg(
            pl.col("lag").sort_by("start_ns").last().alias("last_lag"),
            pl.col("lag").max().alias("max_lag"),
            looked_ns.filter(worst).min().alias("max_lag_ns"),
            pl.col("lag").mean().alias("mean_lag"),
        )
        .sort("max_lag", *_PLACE, descending=[True, False, False, False], nulls_last=True)
    )
