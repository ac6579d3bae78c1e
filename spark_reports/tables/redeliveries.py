from __future__ import annotations

import polars as pl

SCHEMA = (
    "`group` STRING, topic STRING, attempt INT, delivered BIGINT, acknowledged BIGINT, nacked BIGINT, released BIGINT, "
    "lease_expired BIGINT, dead_lettered BIGINT"
)
_OUTCOMES = ("delivered", "acknowledged", "nacked", "released", "lease_expired", "dead_lettered")


def redeliveries(rollup: pl.DataFrame) -> pl.DataFrame:
    """Per group or queue and attempt: how many were delivered and what became of them. Without an attempt (a group's
    commit), it is the first. What a client fetched once more is no delivery.
    """
    kind = pl.col("kind")
    keys = ("group", "topic", "attempt")
    return (
        rollup.filter(kind.is_in(_OUTCOMES) & ((kind != "delivered") | pl.col("attempt").is_not_null()))
        .group_by("group", "topic", pl.col("attempt").fill_null(1))
        .agg(pl.col("messages").filter(kind == name).sum().alias(name) for name in _OUTCOMES)
        .sort(keys)
    )
