from __future__ import annotations

import polars as pl

_COUNTED = ("delivered", "acknowledged", "nacked", "released", "lease_expired", "dead_lettered", "evicted")
SCHEMA = (
    "`group` STRING, topic STRING, members BIGINT, "
    + ", ".join(f"{name} BIGINT" for name in _COUNTED)
    + ", most_attempts INT, max_unfinished BIGINT, last_unfinished BIGINT"
)


def share_groups(rollup: pl.DataFrame, control: pl.DataFrame, queues: pl.DataFrame) -> pl.DataFrame:
    """One row per share group or subscription and topic. `members` were given something; `most_attempts` is the highest
    number of a delivery; `unfinished` is what waits or is in flight, at the ends of time buckets.
    """
    created = (pl.col("kind") == "queue_created") & (pl.col("group") != "")
    mine = control.filter(created).select("group", "topic").unique()
    kind, messages, given = pl.col("kind"), pl.col("messages"), pl.col("kind") == "delivered"
    counted = rollup.group_by("group", "topic").agg(
        pl.col("client").filter(given).n_unique().alias("members"),
        *(messages.filter(kind == name).sum().alias(name) for name in _COUNTED),
        pl.col("attempt").filter(given).max().alias("most_attempts"),
    )
    left = pl.col("waiting") + pl.col("in_flight")
    unfinished = queues.group_by(pl.col("queue").alias("group")).agg(
        left.max().alias("max_unfinished"), left.sort_by("start_ns").last().alias("last_unfinished")
    )
    found = mine.join(counted, on=["group", "topic"], how="left").join(unfinished, on="group", how="left")
    return found.with_columns(pl.col("members", *_COUNTED).fill_null(0)).sort("group", "topic")
