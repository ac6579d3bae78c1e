from __future__ import annotations

import polars as pl

SCHEMA = (
    "topic STRING, rank INT, `key` STRING, partition INT, messages BIGINT, bytes BIGINT, share_of_partition DOUBLE, "
    "share_of_topic DOUBLE"
)
PARTITIONS_SCHEMA = (
    "topic STRING, partition INT, messages BIGINT, bytes BIGINT, keys_not_read BIGINT, share DOUBLE, times_even DOUBLE"
)


def hot_keys(counted: pl.DataFrame, partitions: pl.DataFrame) -> pl.DataFrame:
    """The keys of `passes.keys.hot_keys` with their shares."""
    of_partition = partitions.select("topic", "partition", pl.col("messages").alias("in_partition"))
    of_topic = partitions.group_by("topic").agg(pl.col("messages").sum().alias("in_topic"))
    return (
        counted.filter(pl.col("rank").is_not_null())
        .join(of_partition, on=["topic", "partition"])
        .join(of_topic, on="topic")
        .with_columns(
            share_of_partition=pl.col("messages") / pl.col("in_partition"),
            share_of_topic=pl.col("messages") / pl.col("in_topic"),
        )
        .sort("topic", "rank")
    )


def partitions(rollup: pl.DataFrame, counted: pl.DataFrame) -> pl.DataFrame:
    """Published messages per partition; `times_even` is 1 where the load is even, 2 where it is twice its share."""
    not_read = counted.filter(pl.col("rank").is_null()).select("topic", "partition", keys_not_read="messages")
    share = pl.col("messages") / pl.col("messages").sum().over("topic")
    return (
        rollup.filter(pl.col("kind") == "published")
        .group_by("topic", "partition")
        .agg(pl.col("messages", "bytes").sum())
        .join(not_read, on=["topic", "partition"], how="left")
        .with_columns(pl.col("keys_not_read").fill_null(0))
        .with_columns(share=share, times_even=share * pl.len().over("topic"))
        .sort("topic", "partition")
    )
