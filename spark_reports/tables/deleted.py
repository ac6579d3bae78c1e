from __future__ import annotations

import polars as pl

from spark_reports.tables.audit import DELETED, PLACE
from spark_reports.tables.details import deletions

SCHEMA = (
    "`group` STRING, topic STRING, partition INT, messages BIGINT, at_most BOOLEAN, first_offset BIGINT, "
    "last_offset BIGINT, cause STRING, first_ns BIGINT, last_ns BIGINT"
)


def deleted(audited: pl.DataFrame, control: pl.DataFrame) -> pl.DataFrame:
    """One row per group and partition: how many messages the log lost before the group got them, counted from the first
    that it got, and where, why and when. `at_most` if the topic is compacted, too: no event tells what that removed.
    """
    found = (
        audited.filter(pl.col("check") == DELETED)
        .group_by(PLACE)
        .agg(
            pl.col("messages").sum(),
            pl.col("explained").any().alias("at_most"),
            pl.col("lowest").min().alias("first_offset"),
            pl.col("highest").max().alias("last_offset"),
        )
    )
    times = (
        found.join(deletions(control), on=["topic", "partition"])
        .filter((pl.col("end") > pl.col("first_offset")) & (pl.col("offset") <= pl.col("last_offset")))
        .group_by(PLACE)
        .agg(
            pl.col("cause").unique().sort().str.join(", "),
            pl.col("time_ns").min().alias("first_ns"),
            pl.col("time_ns").max().alias("last_ns"),
        )
    )
    return found.join(times, on=PLACE, how="left").sort("messages", *PLACE, descending=[True, False, False, False])
