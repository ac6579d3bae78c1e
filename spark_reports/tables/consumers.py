from __future__ import annotations

import polars as pl

from spark_reports.scale import Scale

SCHEMA = (
    "`group` STRING, client STRING, from_ns BIGINT, to_ns BIGINT, there_ns BIGINT, with_partitions_ns BIGINT, "
    "delivered BIGINT, acknowledged BIGINT, busy_ns BIGINT, idle_ns BIGINT, utilisation DOUBLE, in_hand DOUBLE, "
    "longest_idle_ns BIGINT, outside BOOLEAN"
)
_COUNTED = ("delivered", "acknowledged")
_CLIENT = ("group", "client")


def consumers(
    rollup: pl.DataFrame,
    detailed: pl.DataFrame,
    lives: pl.DataFrame,
    ownership: pl.DataFrame,
    spans: pl.DataFrame,
    scale: Scale,
) -> pl.DataFrame:
    """One row per group or queue and client, least busy last. `spans` are those within `lives`. A client is busy while
    a message is in flight to it. `there_ns` leaves out when it had stopped, crashed or left. `with_partitions_ns` is
    null if nobody assigns partitions. A client that never read has the group ""; one from `outside` is not run by the
    session.
    """
    kind, messages = pl.col("kind"), pl.col("messages")
    counted = (
        rollup.filter((pl.col("start_ns") >= scale.from_ns) & kind.is_in(_COUNTED))
        .group_by(_CLIENT)
        .agg(messages.filter(kind == name).sum().alias(name) for name in _COUNTED)
    )
    there = lives.group_by(_CLIENT).agg(
        pl.col("from_ns").min(), pl.col("to_ns").max(), (pl.col("to_ns") - pl.col("from_ns")).sum().alias("there_ns")
    )
    in_flight = spans.group_by(_CLIENT).agg(pl.col("busy_ns").sum(), pl.col("held").sum())
    members = ownership.select("group").unique().with_columns(assigned=pl.lit(True))
    own = detailed.filter((kind == "client_started") & pl.col("held_from").is_null())["client"].unique()
    there_ns = pl.col("there_ns")
    busy = pl.min_horizontal(pl.col("busy_ns").fill_null(0), there_ns)
    found = there
    for other in (counted, in_flight, _covered(ownership), _longest_idle(lives, spans)):
        found = found.join(other, on=_CLIENT, how="left")
    return (
        found.join(members, on="group", how="left")
        .with_columns(
            with_partitions_ns=pl.when(pl.col("assigned")).then(pl.col("covered_ns").fill_null(0)),
            busy_ns=busy,
            idle_ns=there_ns - busy,
            utilisation=pl.when(there_ns > 0).then(busy / there_ns).otherwise(0.0),
            outside=~pl.col("client").is_in(own.implode()),
            in_hand=pl.when(there_ns > 0).then(pl.col("held").fill_null(0.0) / there_ns).otherwise(0.0),
        )
        .with_columns(pl.col(_COUNTED).fill_null(0))
        .sort("utilisation", *_CLIENT, descending=[True, False, False])
    )


def _longest_idle(lives: pl.DataFrame, spans: pl.DataFrame) -> pl.DataFrame:
    """The longest time of each life without a message in hand: before the first, between two, after the last."""
    life = [*_CLIENT, "life"]
    lived = lives.with_columns(life=pl.int_range(pl.len()).over(_CLIENT))
    held = (
        spans.filter(pl.col("held") > 0)
        .select(*_CLIENT, pl.col("from_ns").alias("held_ns"), pl.col("to_ns").alias("free_ns"))
        .sort("held_ns")
        .join_asof(
            lived.select(*life, "from_ns").sort("from_ns"),
            left_on="held_ns",
            right_on="from_ns",
            by=_CLIENT,
            check_sortedness=False,
        )
    )
    begins = lived.select(*life, pl.col("from_ns").alias("held_ns"), pl.col("from_ns").alias("free_ns"))
    ends = lived.select(*life, pl.col("to_ns").alias("held_ns"), pl.col("to_ns").alias("free_ns"))
    free = pl.col("held_ns") - pl.col("free_ns").cum_max().shift(1).over(life)
    return (
        pl.concat([begins, held.select(begins.columns), ends])
        .sort(*life, "held_ns", "free_ns")
        .with_columns(idle=free)
        .group_by(_CLIENT)
        .agg(pl.col("idle").max().clip(lower_bound=0).alias("longest_idle_ns"))
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
