from __future__ import annotations

import polars as pl

SCHEMA = (
    "topic STRING, subject STRING, place STRING, outcome STRING, messages BIGINT, producers BIGINT, first_ns BIGINT, "
    "last_ns BIGINT"
)
DEAD_LETTERED = "dead-lettered"
#: How the broker says it: "schema orders refused /amount", or "... refused the value".
_CAUSE = r"^schema (\S+) refused (.*)$"


def refusals(rollup: pl.DataFrame) -> pl.DataFrame:
    """One row per topic, subject, place in the message and outcome (refused or dead-lettered), most often first."""
    kind, cause = pl.col("kind"), pl.col("cause")
    keys = ("topic", "subject", "place", "outcome")
    return (
        rollup.filter(kind.is_in(["rejected", "dead_lettered"]) & cause.str.contains(_CAUSE))
        .with_columns(
            subject=cause.str.extract(_CAUSE, 1),
            place=cause.str.extract(_CAUSE, 2),
            outcome=pl.when(kind == "rejected").then(pl.lit("refused")).otherwise(pl.lit(DEAD_LETTERED)),
        )
        .group_by(keys)
        .agg(
            pl.col("messages").sum(),
            pl.col("client").n_unique().alias("producers"),
            pl.col("first_ns").min(),
            pl.col("last_ns").max(),
        )
        .sort("messages", *keys, descending=[True, False, False, False, False])
    )
