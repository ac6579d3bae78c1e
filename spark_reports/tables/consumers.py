"""Utilisation of each consumer."""

from __future__ import annotations

import polars as pl

from spark_reports.scale import Scale

SCHEMA = (
    "`group` STRING, client STRING, from_ns BIGINT, to_ns BIGINT, with_partitions_ns BIGINT, delivered BIGINT, "
    "acknowledged BIGINT, busy_ns BIGINT, idle_ns BIGINT, utilisation DOUBLE, in_hand DOUBLE, longest_idle_ns BIGINT"
)
_READERS = ("consumer", "worker")
_JOINS = ("member_joined", "partitions_assigned")
_COUNTED = ("delivered", "acknowledged")
_CLIENT = ("group", "client")


def consumers(
    rollup: pl.DataFrame, detailed: pl.DataFrame, ownership: pl.DataFrame, spans: pl.DataFrame, scale: Scale
) -> pl.DataFrame:
    """One row per group or queue and client, least busy last.

    A client is busy while a message is in flight to it: delivered, and not yet acknowledged, refused or released. It is
    there from `from_ns` to `to_ns`. `with_partitions_ns` is null where nobody assigns partitions. A client that never
    read for anybody has the group "".
    """
    kind, messages = pl.col("kind"), pl.col("messages")
    counted = (
        rollup.filter((pl.col("start_ns") >= scale.from_ns) & kind.is_in(_COUNTED))
        .group_by(_CLIENT)
        .agg(messages.filter(kind == name).sum().alias(name) for name in _COUNTED)
    )
    in_flight = spans.group_by(_CLIENT).agg(
        pl.col("busy_ns").sum(),
        pl.col("held").sum(),
        pl.col("from_ns").min().alias("first_ns"),
        (pl.col("to_ns") - pl.col("from_ns")).filter(pl.col("held") == 0).max().alias("longest_ns"),
    )
    members = ownership.select("group").unique().with_columns(assigned=pl.lit(True))
    there = pl.col("to_ns") - pl.col("from_ns")
    busy = pl.min_horizontal(pl.col("busy_ns").fill_null(0), there)
    # Before its first message a client waits too.
    waited = (pl.col("first_ns") - pl.col("from_ns")).clip(lower_bound=0).fill_null(there)
    found = _there(rollup, detailed, scale)
    for other in (counted, in_flight, _covered(ownership)):
        found = found.join(other, on=_CLIENT, how="left")
    return (
        found.join(members, on="group", how="left")
        .with_columns(
            with_partitions_ns=pl.when(pl.col("assigned")).then(pl.col("covered_ns").fill_null(0)),
            busy_ns=busy,
            idle_ns=there - busy,
            utilisation=pl.when(there > 0).then(busy / there).otherwise(0.0),
            in_hand=pl.when(there > 0).then(pl.col("held").fill_null(0.0) / there).otherwise(0.0),
            longest_idle_ns=pl.max_horizontal(pl.col("longest_ns").fill_null(0), waited),
        )
        .with_columns(pl.col(_COUNTED).fill_null(0))
        .sort("utilisation", *_CLIENT, descending=[True, False, False])
    )


def _there(rollup: pl.DataFrame, detailed: pl.DataFrame, scale: Scale) -> pl.DataFrame:
    """Every group or queue and client, from when to when it was there."""
    kind, at = pl.col("kind"), pl.col("time_ns")
    joined = detailed.filter(kind.is_in(_JOINS) & (pl.col("client") != "")).select(*_CLIENT, at.alias("seen_ns"))
    read = rollup.filter(kind == "delivered").select(*_CLIENT, pl.col("first_ns").alias("seen_ns"))
    seen = pl.concat([joined, read]).group_by(_CLIENT).agg(pl.col("seen_ns").min())
    began, ended = kind == "client_started", kind == "client_stopped"
    lives = (
        detailed.filter(began | ended)
        .group_by("client")
        .agg(
            at.filter(began).min().alias("started_ns"),
            at.filter(ended).sort_by(pl.col("seq").filter(ended)).last().alias("stopped_ns"),
            pl.col("role").filter(began).max(),
        )
    )
    idle = (
        lives.filter(pl.col("role").is_in(_READERS))
        .join(seen, on="client", how="anti")
        .select(pl.lit("").alias("group"), "client", pl.col("started_ns").alias("seen_ns"))
    )
    begin = pl.min_horizontal("seen_ns", "started_ns").clip(lower_bound=scale.from_ns)
    return (
        pl.concat([seen, idle])
        .join(lives, on="client", how="left")
        .with_columns(from_ns=begin)
        .select(
            *_CLIENT,
            "from_ns",
            pl.max_horizontal(pl.col("stopped_ns").fill_null(scale.to_ns), "from_ns").alias("to_ns"),
        )
    )


def _covered(ownership: pl.DataFrame) -> pl.DataFrame:
    """How long each client had at least one partition: each span counts from where the ones before it ended."""
    until = pl.col("to_ns").cum_max().shift(1).over(_CLIENT).fill_null(0)
    fresh = (pl.col("to_ns") - pl.max_horizontal("from_ns", "until")).clip(lower_bound=0)
    return (
        ownership.sort(*_CLIENT, "from_ns", "to_ns")
        .with_columns(until=until)
        .group_by(_CLIENT)
        .agg(fresh.sum().alias("covered_ns"))
    )
