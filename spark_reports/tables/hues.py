"""Which number of the shared hues does everything have? As `resources.colours` says, and as the window counts."""

from __future__ import annotations

import polars as pl

SCHEMA = "kind STRING, name STRING, number INT"
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
