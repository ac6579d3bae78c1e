"""What control events say in their details."""

from __future__ import annotations

import polars as pl

#: The kinds that are read. Others mean something else by the same names: a user's action what was asked for.
_KINDS = (
    *("rebalance_started", "rebalance_completed", "partitions_assigned", "partitions_revoked", "member_left"),
    *("offsets_reset", "transaction_ended", "client_started", "client_stopped", "fault"),
)
_PLACES = pl.List(pl.List(pl.String()))
_DETAIL = pl.Struct(
    {
        "before": _PLACES,  # [topic, partition, client] of each partition
        "after": _PLACES,
        "partitions": _PLACES,  # [topic, partition]
        "markers": _PLACES,  # [topic, partition, offset] of each
        "changes": _PLACES,  # [topic, partition, from offset, to offset]
        "started_ns": pl.Int64(),
        "role": pl.String(),
        "fault": pl.String(),
        "ended": pl.String(),  # the fault that is over
        "heard_ns": pl.Int64(),  # of a member that missed a deadline: its last sign of life
    }
)


def detailed(control: pl.DataFrame) -> pl.DataFrame:
    """`control` in its order, with what is known in `detail` as columns."""
    told = pl.when(pl.col("kind").is_in(_KINDS)).then("detail").str.json_decode(_DETAIL)
    return control.sort("seq").with_columns(told.alias("told")).unnest("told")


def places(detailed: pl.DataFrame, *kinds: str) -> pl.DataFrame:
    """One row per partition of the events of these kinds, with its `topic` and `partition`, in order."""
    place = pl.col("partitions").list
    return (
        detailed.filter(pl.col("kind").is_in(kinds))
        .select("seq", "time_ns", "kind", "group", "client", "generation", "partitions")
        .explode("partitions", empty_as_null=False, keep_nulls=False)
        .with_columns(topic=place.get(0), partition=place.get(1).cast(pl.Int32))
        .drop("partitions")
    )


def markers(detailed: pl.DataFrame) -> pl.DataFrame:
    """Where transactions have ended: `topic`, `partition` and `offset` of each marker, which is no message."""
    place = pl.col("markers").list
    return (
        detailed.filter(pl.col("kind") == "transaction_ended")
        .select("markers")
        .explode("markers", empty_as_null=False, keep_nulls=False)
        .select(
            topic=place.get(0),
            partition=place.get(1).cast(pl.Int32),
            offset=place.get(2).cast(pl.Int64),
        )
    )
