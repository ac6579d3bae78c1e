from __future__ import annotations

import polars as pl

from spark_reports.scale import Scale
from spark_reports.tables.grid import grid

SCHEMA = "queue STRING, start_ns BIGINT, waiting BIGINT, in_flight BIGINT"
_OUT = ("acknowledged", "dead_lettered", "expired", "evicted", "purged", "damage")
_KIND, _MESSAGES = pl.col("kind"), pl.col("messages")
_STORED = (
    pl.when(_KIND.is_in(["published", "user_action"]))
    .then(_MESSAGES)
    .when(_KIND.is_in(_OUT))
    .then(-_MESSAGES)
    .otherwise(0)
)
_HELD = (
    pl.when(_KIND == "delivered")
    .then(_MESSAGES)
    .when(_KIND.is_in(["acknowledged", "nacked", "released", "lease_expired"]))
    .then(-_MESSAGES)
    .otherwise(0)
)


def subscriptions(control: pl.DataFrame) -> pl.DataFrame:
    """Subscriptions, those of share groups too: the `queue` that reads a `topic` with leases, from `created_ns` on."""
    of_another = (pl.col("group") != "") & (pl.col("group") != pl.col("topic"))
    found = control.filter((pl.col("kind") == "queue_created") & of_another)
    return found.select(pl.col("group").alias("queue"), "topic", pl.col("time_ns").alias("created_ns"))


def queues(rollup: pl.DataFrame, control: pl.DataFrame, scale: Scale) -> pl.DataFrame:
    """One row per queue and time bucket, at its end. A queue is a topic that is read with leases (group = topic), or a
    subscription older than the first message of its topic. A user's action that counts messages has brought them back;
    damage has lost them. What a full queue dropped was never in it.
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
        _STORED.alias("stored"),
        _HELD.alias("held"),
    )
    back = (
        moved.filter(kind == "redriven")
        .join(names, left_on="to_topic", right_on="queue")
        .select(
            pl.col("to_topic").alias("queue"), "start_ns", messages.alias("stored"), pl.lit(0, pl.Int64).alias("held")
        )
    )
    subscribed = _subscribed(rollup, subscriptions(control))
    names = pl.concat([names, subscribed.select("queue").unique()]).unique()
    changes = pl.concat([here, back, subscribed]).group_by("queue", "start_ns").agg(pl.col("stored", "held").sum())
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


def _subscribed(rollup: pl.DataFrame, found: pl.DataFrame) -> pl.DataFrame:
    published = rollup.filter(_KIND == "published").join(found, on="topic")
    early = published.group_by("queue").agg((pl.col("created_ns") <= pl.col("start_ns")).all().alias("whole"))
    late = early.filter(~pl.col("whole")).select("queue")
    found = found.join(late, on="queue", how="anti").select("queue", "topic")
    came = published.join(found, on=["queue", "topic"], how="semi")
    own = rollup.join(found, left_on=["group", "topic"], right_on=["queue", "topic"]).filter(_KIND != "published")
    moves = [each.select("queue", "start_ns", "kind", "messages") for each in (came, own.with_columns(queue="group"))]
    return pl.concat(moves).select("queue", "start_ns", _STORED.alias("stored"), _HELD.alias("held"))
