"""How many messages waited in each queue, and how many were in flight, over time?"""

from __future__ import annotations

import polars as pl

from spark_reports.scale import Scale
from spark_reports.tables.grid import grid

SCHEMA = "queue STRING, start_ns BIGINT, waiting BIGINT, in_flight BIGINT"
_OUT = ("acknowledged", "dead_lettered", "expired", "evicted", "purged", "damage")


def queues(rollup: pl.DataFrame, control: pl.DataFrame, scale: Scale) -> pl.DataFrame:
    """One row per queue and time bucket, at the bucket's end. A queue is a topic that is read with leases: group =
    topic.

    A user's action that counts messages of a queue has brought them back; damage has lost them. What a full queue
    dropped was never in it.
    """
    kind, messages = pl.col("kind"), pl.col("messages")
    names = (
        rollup.filter((pl.col("group") == pl.col("topic")) & (pl.col("group") != ""))
        .select(pl.col("group").alias("queue"))
        .unique()
    )
    others = control.filter(kind.is_in(["user_action", "damage"]) & (pl.col("count") > 0)).select(
        scale.start_of("time_ns").alias("start_ns"), "kind", "topic", "to_topic", pl.col("count").alias("messages")
    )
    moved = pl.concat([rollup.select("start_ns", "kind", "topic", "to_topic", "messages"), others])
    here = moved.join(names, left_on="topic", right_on="queue").select(
        pl.col("topic").alias("queue"),
        "start_ns",
        pl.when(kind.is_in(["published", "user_action"]))
        .then(messages)
        .when(kind.is_in(_OUT))
        .then(-messages)
        .otherwise(0)
        .alias("stored"),
        pl.when(kind == "delivered")
        .then(messages)
        .when(kind.is_in(["acknowledged", "nacked", "released", "lease_expired"]))
        .then(-messages)
        .otherwise(0)
        .alias("held"),
    )
    back = (
        moved.filter(kind == "redriven")
        .join(names, left_on="to_topic", right_on="queue")
        .select(
            pl.col("to_topic").alias("queue"), "start_ns", messages.alias("stored"), pl.lit(0, pl.Int64).alias("held")
        )
    )
    changes = pl.concat([here, back]).group_by("queue", "start_ns").agg(pl.col("stored", "held").sum())
    so_far = (pl.col(name).fill_null(0).cum_sum().over("queue").alias(name) for name in ("stored", "held"))
    return (
        grid(names, scale)
        .join(changes, on=["queue", "start_ns"], how="left", maintain_order="left")
        .with_columns(*so_far)
        .select(
            "queue", "start_ns", (pl.col("stored") - pl.col("held")).alias("waiting"), pl.col("held").alias("in_flight")
        )
        .filter(pl.col("start_ns") >= scale.from_ns)
    )
