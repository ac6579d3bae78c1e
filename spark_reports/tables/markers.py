"""Faults, actions and stops in their order; and the hue of each flow and reader."""

from __future__ import annotations

import polars as pl

SCHEMA = "time_ns BIGINT, kind STRING, `group` STRING, client STRING, topic STRING, cause STRING"
MARKER_KINDS = (
    *("fault", "user_action", "damage", "gap", "offsets_reset", "client_stopped", "member_left"),
    *("alert_raised", "alert_over"),
)
MOST_MARKERS = 1_000
_MOVED = r",\s*\d+,\s*\d+,\s*\d+\]"  # a change from one offset to another: what a look sees at first is no reset


def markers(control: pl.DataFrame, limit: int = MOST_MARKERS) -> pl.DataFrame:
    """The first `limit` of them, in order."""
    moved = (pl.col("kind") != "offsets_reset") | pl.col("detail").str.contains(_MOVED).fill_null(False)
    return control.filter(pl.col("kind").is_in(MARKER_KINDS) & moved).sort("seq").head(limit)


CLUSTER_SCHEMA = "time_ns BIGINT, kind STRING, cause STRING, began_ns BIGINT"
_CLUSTER_KINDS = ("node_gone", "node_seen", "controller_moved", "incident")


def cluster(control: pl.DataFrame) -> pl.DataFrame:
    """Events of a cluster's brokers and each deed, in order; an incident appears once, as told last."""
    deed = pl.col("detail").str.json_path_match("$.deed").is_not_null()
    told = control.filter(pl.col("kind").is_in(_CLUSTER_KINDS) | deed).with_columns(
        began_ns=pl.col("detail").str.json_path_match("$.began_ns").cast(pl.Int64)
    )
    incidents, others = told.filter(pl.col("kind") == "incident"), told.filter(pl.col("kind") != "incident")
    return pl.concat([incidents.unique("began_ns", keep="last", maintain_order=True), others]).sort(
        pl.coalesce("began_ns", "time_ns"), "seq"
    )


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
