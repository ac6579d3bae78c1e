from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from spark_reports.passes.kinds import ENDS_IN_FLIGHT
from spark_reports.scale import Scale

SCHEMA = "queue STRING, start_ns BIGINT, waiting BIGINT, in_flight BIGINT"
_OUT = ("acknowledged", "dead_lettered", "expired", "evicted", "purged", "damage")
_KIND, _MESSAGES = pl.col("kind"), pl.col("messages")


def _change(more: Sequence[str], less: Sequence[str]) -> pl.Expr:
    return pl.when(_KIND.is_in(more)).then(_MESSAGES).when(_KIND.is_in(less)).then(-_MESSAGES).otherwise(0)


_STORED, _HELD = _change(("published", "user_action"), _OUT), _change(("delivered",), ENDS_IN_FLIGHT)


def subscriptions(control: pl.DataFrame) -> pl.DataFrame:
    """Subscriptions, those of share groups too: the `queue` that reads a `topic` with leases, from `created_ns` on."""
    of_another = (pl.col("group") != "") & (pl.col("group") != pl.col("topic"))
    found = control.filter((pl.col("kind") == "queue_created") & of_another)
    return found.select("topic", queue="group", created_ns="time_ns")


def queues(rollup: pl.DataFrame, control: pl.DataFrame, scale: Scale) -> pl.DataFrame:
    """One row per queue and time bucket, at its end. A queue is a topic that is read with leases (group = topic), or a
    subscription older than the first message of its topic. A user's action that counts messages has brought them back;
    damage has lost them. What a full queue dropped was never in it.
    """
    kind = pl.col("kind")
    own = rollup.filter((pl.col("group") == pl.col("topic")) & (pl.col("group") != ""))
    names = own.select(queue="group").unique()
    others = control.filter(kind.is_in(["user_action", "damage"]) & (pl.col("count") > 0)).select(
        "kind", "topic", "to_topic", start_ns=scale.polars_bucket_start("time_ns"), messages="count"
    )
    moved = pl.concat([others, rollup.select(others.columns)])
    here = moved.join(names, left_on="topic", right_on="queue").select(
        "start_ns", queue="topic", stored=_STORED, held=_HELD
    )
    redriven = moved.filter(kind == "redriven").join(names, left_on="to_topic", right_on="queue")
    back = redriven.select("start_ns", queue="to_topic", stored="messages", held=pl.lit(0, pl.Int64))
    subscribed = _subscribed(rollup, subscriptions(control))
    names = pl.concat([names, subscribed.select("queue").unique()]).unique()
    changes = pl.concat([here, back, subscribed]).group_by("queue", "start_ns").agg(pl.col("stored", "held").sum())
    so_far = (pl.col(name).fill_null(0).cum_sum().over("queue").alias(name) for name in ("stored", "held"))
    return (
        grid(names, scale)
        .join(changes, on=["queue", "start_ns"], how="left", maintain_order="left")
        .with_columns(*so_far)
        .select("queue", "start_ns", waiting=pl.col("stored") - pl.col("held"), in_flight="held")
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
    return pl.concat(moves).select("start_ns", "queue", stored=_STORED, held=_HELD)


def grid(rows: pl.DataFrame, scale: Scale) -> pl.DataFrame:
    """Every row of `rows` once per time bucket, with `start_ns`, in order of time, and for what came before `scale`."""
    first = scale.from_ns - (scale.width_ns if scale.from_ns else 0)
    starts = pl.int_range(first, scale.last_ns + 1, scale.width_ns, dtype=pl.Int64, eager=True).alias("start_ns")
    return rows.sort(rows.columns).join(starts.to_frame(), how="cross")


LEASES_SCHEMA = (
    "queue STRING, client STRING, leased BIGINT, acknowledged BIGINT, nacked BIGINT, released BIGINT, expired BIGINT, "
    "extended BIGINT, held_ns DOUBLE, mean_held_ns DOUBLE, in_flight DOUBLE"
)
_LEASES = {
    "delivered": "leased",
    "acknowledged": "acknowledged",
    "nacked": "nacked",
    "released": "released",
    "lease_expired": "expired",
    "lease_extended": "extended",
}


def leases(rollup: pl.DataFrame, control: pl.DataFrame, in_flight_time: pl.DataFrame, scale: Scale) -> pl.DataFrame:
    """One row per queue and holder."""
    kind, held = pl.col("kind"), pl.col("held_ns")
    grouped = control.filter(kind.is_in(["member_joined", "partitions_assigned"])).select("group")
    counted = (
        rollup.filter(kind.is_in(_LEASES))
        .join(grouped, on="group", how="anti")
        .group_by("group", "client")
        .agg(pl.col("messages").filter(kind == each).sum().alias(name) for each, name in _LEASES.items())
    )
    leased = in_flight_time.drop_nulls("start_ns").group_by("group", "client")
    return (
        counted.join(leased.agg(held_ns=pl.col("leased_message_ns").sum()), on=["group", "client"], how="left")
        .with_columns(
            mean_held_ns=pl.when(pl.col("leased") > 0).then(held / pl.col("leased")),
            in_flight=held.fill_null(0.0) / scale.duration_ns,
            held_ns=held.fill_null(0.0),
        )
        .rename({"group": "queue"})
        .sort("queue", "leased", "client", descending=[False, True, False])
    )


_COUNTED = ("delivered", "acknowledged", "nacked", "released", "lease_expired", "dead_lettered", "evicted")
SHARE_GROUPS_SCHEMA = (
    "`group` STRING, topic STRING, members BIGINT, "
    + ", ".join(f"{name} BIGINT" for name in _COUNTED)
    + ", most_attempts INT, max_unfinished BIGINT, last_unfinished BIGINT"
)


def share_groups(rollup: pl.DataFrame, control: pl.DataFrame, queues: pl.DataFrame) -> pl.DataFrame:
    """One row per share group or subscription and topic."""
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
