"""Who owned which partition, and partitions without a reader: for how long, and how many messages waited. The window's
reducer (`broker_core.recording.ownership`) says it.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from broker_core.recording.ownership import Ownership
from spark_reports.scale import Scale
from spark_reports.tables.details import PLACE
from spark_reports.tables.schema import rows

SCHEMA = (
    "`group` STRING, topic STRING, partition INT, client STRING, generation INT, from_ns BIGINT, "
    "to_ns BIGINT, held_ns BIGINT"
)


def ownership(owners: Ownership, scale: Scale) -> pl.DataFrame:
    """One row per interval in which a client held a partition; what it is assigned again begins no new one."""
    found: list[tuple[object, ...]] = []
    for place, span in owners.owned():
        end_ns = scale.to_ns if span.end_ns is None else span.end_ns
        begin_ns = max(span.start_ns, scale.from_ns)
        if end_ns >= scale.from_ns:
            found.append((*place, span.owner, span.generation, begin_ns, end_ns, end_ns - begin_ns))
    return rows(SCHEMA, found).sort(*PLACE, "from_ns")


UNSERVED_SCHEMA = (
    "`group` STRING, started_ns BIGINT, topic STRING, partition INT, owner_before STRING, owner_after STRING, "
    "from_ns BIGINT, to_ns BIGINT, pause_ns BIGINT, published BIGINT, revoked_ns BIGINT, assigned_ns BIGINT, "
    "cause STRING"
)
PAUSES_SCHEMA = UNSERVED_SCHEMA.replace("published BIGINT, ", "") + ", pause BIGINT"
PUBLISHED_SCHEMA = "pause BIGINT, published BIGINT"


def pauses(ownership: Ownership, rebalances: pl.DataFrame, scale: Scale) -> pl.DataFrame:
    """One row per partition and time in which nobody read it, with its number as `pause`. `started_ns` is the rebalance
    that took it from its owner, null if a static member came back; `owner_after` is null if nobody had it by the
    end; `cause` is the crash, pause or silence of its owner, "" if it was taken from one that read it up to then.
    """
    started = set(rebalances.select("group", "started_ns").iter_rows())
    found: list[tuple[Any, ...]] = []
    for rebalance, gap in ownership.all_gaps():
        begin_ns = max(gap.start_ns, scale.from_ns)
        end_ns = scale.to_ns if gap.end_ns is None else gap.end_ns
        if end_ns >= scale.from_ns:
            group, topic, partition = gap.place
            since_ns = rebalance[1] if rebalance in started and not gap.came_back else None
            row = (group, since_ns, topic, partition, gap.owner_before, gap.owner_after, begin_ns, end_ns)
            found.append((*row, end_ns - begin_ns, gap.revoked_ns, gap.assigned_ns, gap.cause, None))
    found.sort(key=lambda row: (row[8], row[:4]))
    return rows(PAUSES_SCHEMA, found).with_columns(pause=pl.int_range(pl.len()))


def published_in(messages: pl.LazyFrame, pauses: pl.DataFrame) -> pl.DataFrame:
    """Per pause the messages that were published in it."""
    at, begins, ends = pl.col("time_ns"), pl.col("from_ns"), pl.col("to_ns")
    if not pauses.height:
        return rows(PUBLISHED_SCHEMA, [])
    return (
        messages.filter(pl.col("kind") == "published", at >= pauses["from_ns"].min(), at < pauses["to_ns"].max())
        .select("topic", "partition", "time_ns", "count")
        .join(pauses.lazy().select("pause", "topic", "partition", "from_ns", "to_ns"), on=["topic", "partition"])
        .filter((at >= begins) & (at < ends))
        .group_by("pause")
        .agg(published=pl.col("count").sum())
        .collect(engine="streaming")
    )


def unserved(pauses: pl.DataFrame, published: pl.DataFrame) -> pl.DataFrame:
    """The pauses, longest first. `published` are the messages that were appended during each, by `pause`."""
    keys = ("pause_ns", "started_ns", "group", "topic", "partition")
    return (
        pauses.join(published, on="pause", how="left")
        .with_columns(pl.col("published").fill_null(0))
        .sort(keys, descending=[True, False, False, False, False])
    )
