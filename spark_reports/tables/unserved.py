"""Which partitions had nobody to read them during a rebalance, for how long, and how many messages waited?"""

from __future__ import annotations

import polars as pl

from spark_reports.scale import Scale
from spark_reports.tables.details import places
from spark_reports.tables.rebalances import within

SCHEMA = (
    "`group` STRING, started_ns BIGINT, topic STRING, partition INT, owner_before STRING, owner_after STRING, "
    "from_ns BIGINT, to_ns BIGINT, pause_ns BIGINT, published BIGINT"
)
PUBLISHED_SCHEMA = "pause BIGINT, published BIGINT"  # what `passes.unserved` brings home
MOST_WINDOWS = 50


def pauses(detailed: pl.DataFrame, rebalances: pl.DataFrame, ownership: pl.DataFrame, scale: Scale) -> pl.DataFrame:
    """One row per rebalance and partition that it took from its owner, with its number as `pause` and its
    length `pause_ns`.

    `owner_after` is null where nobody had the partition by the end.
    """
    place = ("group", "topic", "partition")
    taken = (
        within(places(detailed, "partitions_revoked"), rebalances)
        .group_by("group", "started_ns", "topic", "partition", pl.col("time_ns").alias("from_ns"))
        .agg(pl.col("client").max().alias("owner_before"))
        .sort("from_ns")
    )
    owners = ownership.select(*place, pl.col("client").alias("owner_after"), pl.col("from_ns").alias("to_ns")).sort(
        "to_ns"
    )
    next_owner = {"left_on": "from_ns", "right_on": "to_ns", "by": list(place), "strategy": "forward"}
    return (
        taken.join_asof(owners, coalesce=False, check_sortedness=False, **next_owner)  # type: ignore[arg-type]
        .with_columns(pl.col("to_ns").fill_null(scale.to_ns))
        .with_columns(pause_ns=pl.col("to_ns") - pl.col("from_ns"), pause=pl.int_range(pl.len()))
    )


def windows(pauses: pl.DataFrame) -> list[tuple[int, int]]:
    """The times of `pauses`, few enough to be written into a filter; nearby ones are joined where there are many."""
    spans = pauses.select("from_ns", "to_ns").unique().sort("from_ns", "to_ns")
    begins = pl.col("from_ns") > pl.col("to_ns").cum_max().shift(1)
    joined = (
        spans.with_columns(window=begins.fill_null(True).cum_sum())
        .group_by("window", maintain_order=True)
        .agg(pl.col("from_ns").min(), pl.col("to_ns").max())
    )
    # The widest gaps stay, as many as there may be windows.
    gap = pl.col("from_ns") - pl.col("to_ns").shift(1)
    wide = gap.rank("ordinal", descending=True) < MOST_WINDOWS
    few = joined.with_columns(window=wide.fill_null(True).cum_sum())
    few = few.group_by("window", maintain_order=True).agg(pl.col("from_ns").min(), pl.col("to_ns").max())
    return list(few.select("from_ns", "to_ns").iter_rows())


def unserved(pauses: pl.DataFrame, published: pl.DataFrame) -> pl.DataFrame:
    """The pauses, longest first. `published` are the messages that were appended while nobody read, by `pause`."""
    keys = ("pause_ns", "started_ns", "group", "topic", "partition")
    return (
        pauses.join(published, on="pause", how="left")
        .with_columns(pl.col("published").fill_null(0))
        .sort(keys, descending=[True, False, False, False, False])
    )
