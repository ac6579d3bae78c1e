"""The effects of each fault and user action on rate, lag, waiting messages and latency."""

from __future__ import annotations

import polars as pl

from spark_reports.scale import Scale
from spark_reports.tables.latency import FIRST, quantile_ns, ranked

SCHEMA = (
    "time_ns BIGINT, kind STRING, client STRING, cause STRING, scope STRING, window_ns BIGINT, "
    "published_before DOUBLE, published_after DOUBLE, delivered_before DOUBLE, delivered_after DOUBLE, "
    "p99_before_ns BIGINT, p99_after_ns BIGINT, behind_before BIGINT, behind_after BIGINT"
)
KINDS = ("fault", "user_action", "offsets_reset")
LISTED = 100
WINDOW_BUCKETS = 12  # a twentieth of a session
_KEY = ("time_ns", "kind", "client", "cause", "scope")
_RATES = ("published", "delivered")


def effects(
    markers: pl.DataFrame, rollup: pl.DataFrame, latency_buckets: pl.DataFrame, behind: pl.DataFrame, scale: Scale
) -> pl.DataFrame:
    """One row per fault, user action and reset; before and after are the `window_ns` beside its time bucket. What a
    client of a group suffered is that group's (`scope`), anything else of all. Rates are messages per second; `behind`
    is lag and waiting messages, at the end of the bucket before and at its highest after.
    """
    each = _windows(markers, rollup, scale)
    near = each.explode("start_ns", empty_as_null=False, keep_nulls=False).with_columns(
        after=pl.col("start_ns") >= pl.col("bucket_ns")
    )
    found = each
    for other in (_rated(near, rollup), _stood(near, behind), _waited(near, latency_buckets)):
        found = found.join(other, on=_KEY, how="left")
    seconds = {
        "before": (pl.col("bucket_ns") - pl.col("first_ns")) / 1e9,
        "after": (pl.col("last_ns") - pl.col("bucket_ns")) / 1e9,
    }
    rates = (
        pl.when(long > 0).then(pl.col(f"{kind}_{side}").fill_null(0) / long).alias(f"{kind}_{side}")
        for kind in _RATES
        for side, long in seconds.items()
    )
    return found.with_columns(*rates, window_ns=pl.lit(WINDOW_BUCKETS * scale.width_ns, pl.Int64)).sort(_KEY)


def _windows(markers: pl.DataFrame, rollup: pl.DataFrame, scale: Scale) -> pl.DataFrame:
    """The markers with their scope, from `first_ns` to `last_ns`, and the buckets in that as a list `start_ns`."""
    width = scale.width_ns
    clients = (
        rollup.filter((pl.col("kind") == "delivered") & (pl.col("group") != ""))
        .select("client", pl.col("group").alias("theirs"))
        .unique()
    )
    own = pl.when(pl.col("group") != "").then("group")
    return (
        markers.filter(pl.col("kind").is_in(KINDS))
        .head(LISTED)
        .join(clients, on="client", how="left")
        .with_columns(scope=pl.coalesce(own, "theirs", pl.lit("")))
        .select(_KEY)
        .unique()
        .with_columns(bucket_ns=scale.start_of("time_ns"))
        .with_columns(
            first_ns=(pl.col("bucket_ns") - WINDOW_BUCKETS * width).clip(lower_bound=scale.from_ns),
            last_ns=(pl.col("bucket_ns") + WINDOW_BUCKETS * width).clip(upper_bound=scale.to_ns),
        )
        .with_columns(start_ns=pl.int_ranges("first_ns", "last_ns", width))
    )


def _of_scope(near: pl.DataFrame, frame: pl.DataFrame) -> pl.DataFrame:
    """The rows of `frame` that are near an effect in time, and of its group; of any where it is about all."""
    return near.join(frame, on="start_ns").filter(
        (pl.col("scope") == "") | pl.col("who").is_null() | (pl.col("who") == pl.col("scope"))
    )


def _rated(near: pl.DataFrame, rollup: pl.DataFrame) -> pl.DataFrame:
    """Messages before and after; published ones count for all groups."""
    what = pl.col("kind")
    counts = (
        rollup.filter(what.is_in(_RATES))
        .group_by("start_ns", what.alias("what"), pl.when(what == "delivered").then("group").alias("who"))
        .agg(pl.col("messages").sum())
    )
    return (
        _of_scope(near, counts)
        .group_by(_KEY)
        .agg(
            pl.col("messages")
            .filter((pl.col("what") == kind) & (pl.col("after") == after))
            .sum()
            .alias(f"{kind}_{side}")
            for kind in _RATES
            for side, after in (("before", False), ("after", True))
        )
    )


def _stood(near: pl.DataFrame, behind: pl.DataFrame) -> pl.DataFrame:
    summed = (
        _of_scope(near, behind.drop_nulls("behind").rename({"group": "who"}))
        .group_by(*_KEY, "start_ns", "after")
        .agg(pl.col("behind").sum())
        .sort("start_ns")
    )
    value, after = pl.col("behind"), pl.col("after")
    return summed.group_by(_KEY, maintain_order=True).agg(
        value.filter(~after).last().alias("behind_before"), value.filter(after).max().alias("behind_after")
    )


def _waited(near: pl.DataFrame, latency_buckets: pl.DataFrame) -> pl.DataFrame:
    """The 99th percentile of first deliveries: 99 of 100 messages are in its bucket or below."""
    late = (
        latency_buckets.filter(pl.col("measure") == FIRST)
        .group_by("start_ns", pl.col("group").alias("who"), "log_bucket")
        .agg(pl.col("messages").sum(), pl.col("max_ns").max())
    )
    p99 = ranked(_of_scope(near, late), *_KEY, "after").group_by(*_KEY, "after").agg(quantile_ns(0.99).alias("p99_ns"))
    value, after = pl.col("p99_ns"), pl.col("after")
    return p99.group_by(_KEY).agg(
        value.filter(~after).first().alias("p99_before_ns"), value.filter(after).first().alias("p99_after_ns")
    )


MARKERS_SCHEMA = "time_ns BIGINT, kind STRING, `group` STRING, client STRING, topic STRING, cause STRING"
MARKER_KINDS = (
    *("fault", "user_action", "damage", "gap", "offsets_reset", "client_stopped", "member_left"),
    *("alert_raised", "alert_over"),
)
MOST_MARKERS = 1_000


def markers(control: pl.DataFrame, limit: int = MOST_MARKERS) -> pl.DataFrame:
    """The first `limit` of them, in order."""
    return control.filter(pl.col("kind").is_in(MARKER_KINDS)).sort("seq").head(limit)


HUES_SCHEMA = "kind STRING, name STRING, number INT"
_FLOWS = ("topic_created", "queue_created", "member_joined")
_READERS = ("client_started", "member_joined")


def hues(control: pl.DataFrame) -> pl.DataFrame:
    """One row per flow (topic, queue or group) and per reader, numbered from 0 in the order in which they came."""
    flow = pl.when(pl.col("kind") == "member_joined").then("group").otherwise("topic")
    role = pl.col("detail").str.json_path_match("$.role").fill_null("")
    flows = control.filter(pl.col("kind").is_in(_FLOWS)).select("seq", kind=pl.lit("flow"), name=flow)
    reads = pl.col("kind").is_in(_READERS) & ~((pl.col("kind") == "client_started") & (role == "producer"))
    readers = control.filter(reads).select("seq", kind=pl.lit("reader"), name="client")
    return (
        pl.concat([flows, readers])
        .group_by("kind", "name")
        .agg(pl.col("seq").min())
        .sort("kind", "seq")
        .with_columns(number=pl.int_range(pl.len()).over("kind"))
    )
