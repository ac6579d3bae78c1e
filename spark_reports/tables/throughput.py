from __future__ import annotations

import polars as pl

from spark_reports.scale import Scale

SCHEMA = (
    "dimension STRING, topic STRING, name STRING, start_ns BIGINT, messages BIGINT, bytes BIGINT, "
    "messages_per_s DOUBLE, bytes_per_s DOUBLE"
)
SERIES_SCHEMA = (
    "dimension STRING, topic STRING, name STRING, messages BIGINT, bytes BIGINT, messages_per_s DOUBLE, "
    "bytes_per_s DOUBLE, peak_messages_per_s DOUBLE"
)
#: What each dimension counts, and the column that tells its series apart.
_DIMENSIONS = (
    *(("topic", "published", "topic"), ("partition", "published", "partition"), ("producer", "published", "client")),
    ("consumer", "delivered", "client"),
)
_KNOWN = pl.col("bytes").is_not_null().any()
_SUMS = (pl.col("messages").sum(), pl.when(_KNOWN).then(pl.col("bytes").sum()).alias("bytes"))


def throughput(rollup: pl.DataFrame, scale: Scale) -> pl.DataFrame:
    """One row per series and busy time bucket. Consumers count deliveries, the others published messages."""
    return (
        pl.concat(
            rollup.filter(pl.col("kind") == kind)
            .group_by("topic", pl.col(name).cast(pl.String).alias("name"), "start_ns")
            .agg(_SUMS)
            .select(pl.lit(dimension).alias("dimension"), pl.all())
            for dimension, kind, name in _DIMENSIONS
        )
        .with_columns(_rates(scale, scale.width_ns))
        .sort("dimension", "topic", "name", "start_ns")
    )


def seen_from_outside(throughput: pl.DataFrame) -> pl.DataFrame:
    """Removes producers and sizes, which an observer of a cluster cannot know."""
    return throughput.filter(pl.col("dimension") != "producer").with_columns(
        bytes=pl.lit(None, pl.Int64), bytes_per_s=pl.lit(None, pl.Float64)
    )


def _rates(scale: Scale, length_ns: int) -> list[pl.Expr]:
    """Null where no time passes."""
    seconds = pl.lit(None if scale.is_moment else length_ns / 1e9, pl.Float64)
    return [(pl.col(name) / seconds).alias(f"{name}_per_s") for name in ("messages", "bytes")]


def throughput_series(throughput: pl.DataFrame, scale: Scale) -> pl.DataFrame:
    """One row per series. The last bucket, which may be shorter, is a peak only if alone."""
    rate = pl.col("messages_per_s")
    peak = pl.coalesce(rate.filter(pl.col("start_ns") < scale.last_ns).max(), rate.max())
    return (
        throughput.group_by("dimension", "topic", "name")
        .agg(*_SUMS, peak.alias("peak_messages_per_s"))
        .with_columns(_rates(scale, scale.duration_ns))
        .sort("dimension", "messages", "topic", "name", descending=[False, True, False, False])
    )


HOT_KEYS_SCHEMA = (
    "topic STRING, rank INT, `key` STRING, partition INT, messages BIGINT, bytes BIGINT, share_of_partition DOUBLE, "
    "share_of_topic DOUBLE"
)
PARTITIONS_SCHEMA = (
    "topic STRING, partition INT, messages BIGINT, bytes BIGINT, keys_not_read BIGINT, share DOUBLE, times_even DOUBLE"
)


def hot_keys(counted: pl.DataFrame, partitions: pl.DataFrame) -> pl.DataFrame:
    """The keys of `passes.counts.hot_keys` with their shares."""
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
