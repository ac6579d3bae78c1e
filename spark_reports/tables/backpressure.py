"""How long were producers blocked, by what, and what was refused or dropped?"""

from __future__ import annotations

import polars as pl

from resources.outcomes import OUTCOMES
from spark_reports.scale import Scale

SCHEMA = "topic STRING, client STRING, cause STRING, from_ns BIGINT, to_ns BIGINT, blocked_ns BIGINT, ended BOOLEAN"
SERIES_SCHEMA = (
    "topic STRING, blocks BIGINT, blocked_ns BIGINT, longest_ns BIGINT, rejected BIGINT, dropped BIGINT, "
    "evicted BIGINT, expired BIGINT"
)
TIME_SCHEMA = "topic STRING, start_ns BIGINT, blocked_ns BIGINT, rejected BIGINT, dropped BIGINT"
_TURNED_AWAY = tuple(OUTCOMES)


def backpressure(control: pl.DataFrame, scale: Scale) -> pl.DataFrame:
    """One row per time that a producer was blocked. A block that the session's end cut short is not `ended`."""
    following = pl.col("time_ns").shift(-1).over("topic", "client")
    blocked = pl.col("to_ns") - pl.col("from_ns")
    return (
        control.filter(pl.col("kind").is_in(["producer_blocked", "producer_unblocked"]))
        .sort("seq")
        .with_columns(next_ns=following)
        .filter(pl.col("kind") == "producer_blocked")
        .with_columns(
            from_ns=pl.col("time_ns").clip(lower_bound=scale.from_ns),
            to_ns=pl.col("next_ns").fill_null(scale.to_ns),
            ended=pl.col("next_ns").is_not_null(),
        )
        .with_columns(blocked_ns=blocked)
        .filter(pl.col("to_ns") >= scale.from_ns)
        .select("topic", "client", "cause", "from_ns", "to_ns", "blocked_ns", "ended")
        .sort("from_ns", "topic", "client")
    )


def backpressure_series(blocks: pl.DataFrame, rollup: pl.DataFrame) -> pl.DataFrame:
    blocked = pl.col("blocked_ns")
    waits = blocks.group_by("topic").agg(
        pl.len().cast(pl.Int64).alias("blocks"), blocked.sum(), blocked.max().alias("longest_ns")
    )
    turned_away = _messages(rollup, _TURNED_AWAY).group_by("topic").agg(pl.col(_TURNED_AWAY).sum())
    return (
        waits.join(turned_away, on="topic", how="full", coalesce=True)
        .with_columns(pl.exclude("topic").fill_null(0))
        .sort("blocked_ns", "topic", descending=[True, False])
    )


def _messages(rollup: pl.DataFrame, kinds: tuple[str, ...]) -> pl.DataFrame:
    kind, messages = pl.col("kind"), pl.col("messages")
    counts = (pl.when(kind == name).then(messages).otherwise(0).alias(name) for name in kinds)
    return rollup.filter(kind.is_in(kinds)).with_columns(*counts)


def backpressure_over_time(blocks: pl.DataFrame, rollup: pl.DataFrame, scale: Scale) -> pl.DataFrame:
    """Per topic and time bucket: producer-nanoseconds blocked, messages rejected and dropped; without quiet ones."""
    width_ns = scale.width_ns
    columns = ("topic", "start_ns", "blocked_ns", "rejected", "dropped")
    none = pl.lit(0, pl.Int64)
    end = pl.min_horizontal("to_ns", pl.col("start_ns") + width_ns)
    shares = (
        blocks.with_columns(
            start_ns=pl.int_ranges(scale.start_of("from_ns"), scale.start_of("to_ns") + width_ns, width_ns)
        )
        .explode("start_ns", empty_as_null=False, keep_nulls=False)
        .with_columns(blocked_ns=end - pl.max_horizontal("from_ns", "start_ns"), rejected=none, dropped=none)
        .select(columns)
    )
    turned_away = _messages(rollup, ("rejected", "dropped")).with_columns(blocked_ns=none).select(columns)
    return (
        pl.concat([shares, turned_away])
        .group_by("topic", "start_ns")
        .agg(pl.col(columns[2:]).sum())
        .filter(pl.any_horizontal(pl.col(columns[2:]) > 0))
        .sort("topic", "start_ns")
    )
