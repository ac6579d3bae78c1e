"""Who owned which partition, from when to when?"""

from __future__ import annotations

import polars as pl

from spark_reports.scale import Scale
from spark_reports.tables.details import places

SCHEMA = (
    "`group` STRING, topic STRING, partition INT, client STRING, generation INT, from_ns BIGINT, "
    "to_ns BIGINT, held_ns BIGINT"
)
_PLACE = ("group", "topic", "partition")


def ownership(detailed: pl.DataFrame, scale: Scale) -> pl.DataFrame:
    """One row per interval in which a client held a partition; an interval that was not ended lasts to the session's
    end.

    Being assigned again what one holds begins no new interval.
    """
    owner = pl.when(pl.col("kind") == "partitions_assigned").then("client")
    now = pl.col("owner").fill_null("")
    # A revocation counts only for the owner: one after the next owner's assignment ends nothing.
    late = pl.col("owner").is_null() & (pl.col("client") != pl.col("holder"))
    return (
        places(detailed, "partitions_assigned", "partitions_revoked")
        .with_columns(owner=owner)
        .with_columns(holder=pl.col("owner").shift(1).forward_fill().over(_PLACE))
        .filter(~late.fill_null(False))
        .with_columns(before=now.shift(1).over(_PLACE))
        .filter(pl.col("before").is_null() | (pl.col("before") != now))
        .with_columns(
            to_ns=pl.col("time_ns").shift(-1).over(_PLACE).fill_null(scale.to_ns),
            end_seq=pl.col("seq").shift(-1).over(_PLACE),
        )
        .filter(pl.col("owner").is_not_null() & (pl.col("to_ns") >= scale.from_ns))
        .with_columns(from_ns=pl.col("time_ns").clip(lower_bound=scale.from_ns))
        .with_columns(held_ns=pl.col("to_ns") - pl.col("from_ns"))
        .sort(*_PLACE, "from_ns")
    )
