"""Latency from publishing to the first delivery and to the acknowledgement: percentiles of counts by duration."""

from __future__ import annotations

import polars as pl

from resources.measures import DURATION_GROWTH, REPLAY_GRACE_NS, ZERO_BUCKET

_COLUMNS = "messages BIGINT, mean_ns DOUBLE, p50_ns BIGINT, p90_ns BIGINT, p99_ns BIGINT, p999_ns BIGINT, max_ns BIGINT"
SCHEMA = f"measure STRING, {_COLUMNS}"
GROUP_SCHEMA = f"measure STRING, topic STRING, `group` STRING, {_COLUMNS}"
TIME_SCHEMA = f"measure STRING, start_ns BIGINT, {_COLUMNS}"
CURVE_SCHEMA = "measure STRING, duration_ns BIGINT, messages BIGINT, share DOUBLE"
HEAT_SCHEMA = "measure STRING, start_ns BIGINT, `row` INT, from_ns BIGINT, messages BIGINT"

QUANTILES = {"p50_ns": 0.5, "p90_ns": 0.9, "p99_ns": 0.99, "p999_ns": 0.999}
HEAT_STEPS_PER_DECADE = 8


def replays(control: pl.DataFrame) -> pl.DataFrame:
    """Per group since when it reads: first member, last reset; not of groups that were there before."""
    kind, at = pl.col("kind"), pl.col("time_ns")
    return (
        control.filter(kind.is_in(["member_joined", "offsets_reset"]))
        .group_by("group")
        .agg(
            at.filter(kind == "member_joined").min().fill_null(0).alias("joined_ns"),
            at.filter(kind == "offsets_reset").max().fill_null(0).alias("reset_ns"),
        )
        .filter((pl.col("joined_ns") > REPLAY_GRACE_NS) | (pl.col("reset_ns") > 0))
    )


def bucket_value_ns() -> pl.Expr:
    bucket = pl.col("log_bucket")
    return pl.when(bucket == ZERO_BUCKET).then(0.0).otherwise(pl.lit(DURATION_GROWTH).pow(bucket + 0.5))


def ranked(buckets: pl.DataFrame, *keys: str) -> pl.DataFrame:
    """Counts per key and duration, in order; `rank` counts those at most that late, `total` all."""
    counted = buckets.group_by(*keys, "log_bucket").agg(pl.col("messages").sum(), pl.col("max_ns").max())
    return counted.sort(*keys, "log_bucket").with_columns(
        rank=pl.col("messages").cum_sum().over(keys), total=pl.col("messages").sum().over(keys)
    )


def quantile_ns(quantile: float) -> pl.Expr:
    """A quantile of the rows of `ranked` in an aggregation; never more than their maximum."""
    reached = pl.col("rank") >= (pl.col("total") * quantile).ceil()
    value = bucket_value_ns().filter(reached).min().round().cast(pl.Int64)
    return pl.min_horizontal(value, pl.col("max_ns").max())


def latency(buckets: pl.DataFrame, *by: str) -> pl.DataFrame:
    """Percentiles per `measure` and `by`."""
    keys = ("measure", *by)
    messages = pl.col("messages")
    return (
        ranked(buckets, *keys)
        .group_by(keys)
        .agg(
            (pl.min_horizontal(bucket_value_ns(), pl.col("max_ns")) * messages).sum().alias("late"),
            *(quantile_ns(quantile).alias(name) for name, quantile in QUANTILES.items()),
            messages.sum(),
            pl.col("max_ns").max(),
        )
        .with_columns(mean_ns=pl.col("late") / messages)
        .sort(keys)
    )


def latency_curve(buckets: pl.DataFrame) -> pl.DataFrame:
    """The percentile plot: per measure and duration, the share of messages that were at most that late."""
    value = pl.min_horizontal(bucket_value_ns(), pl.col("max_ns")).round().cast(pl.Int64)
    return (
        ranked(buckets, "measure")
        .select("measure", value.alias("duration_ns"), "messages", (pl.col("rank") / pl.col("total")).alias("share"))
        .sort("measure", "duration_ns")
    )


def latency_heat(buckets: pl.DataFrame) -> pl.DataFrame:
    """The heat map: messages per measure, time bucket and duration, eight rows a decade. `from_ns` begins the row."""
    row = (bucket_value_ns().clip(lower_bound=1.0).log10() * HEAT_STEPS_PER_DECADE).floor().cast(pl.Int32)
    from_ns = pl.lit(10.0).pow(pl.col("row") / HEAT_STEPS_PER_DECADE).round().cast(pl.Int64)
    return (
        buckets.group_by("measure", "start_ns", row.alias("row"))
        .agg(pl.col("messages").sum())
        .with_columns(from_ns=from_ns)
        .sort("measure", "start_ns", "row")
    )
