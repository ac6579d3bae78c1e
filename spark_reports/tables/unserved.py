"""Partitions without a reader: for how long, and how many messages waited.

From the last time that its owner could read a partition to the first fetch of the next one. An owner that has crashed
reads no more, long before the group notices; one that was only revoked reads on until its next heartbeat. It is what
`broker_core/recording/FORMAT.md` says.
"""

from __future__ import annotations

import polars as pl

from spark_reports.scale import Scale
from spark_reports.tables.details import places
from spark_reports.tables.rebalances import within

SCHEMA = (
    "`group` STRING, started_ns BIGINT, topic STRING, partition INT, owner_before STRING, owner_after STRING, "
    "from_ns BIGINT, to_ns BIGINT, pause_ns BIGINT, published BIGINT, revoked_ns BIGINT, assigned_ns BIGINT, "
    "cause STRING"
)
READ_ON_SCHEMA = (
    "pause BIGINT, assigned_seq BIGINT, last_ns BIGINT, first_seq BIGINT, first_ns BIGINT, published_ns BIGINT"
)
PUBLISHED_SCHEMA = "pause BIGINT, published BIGINT"  # what `passes.unserved` brings home
MOST_WINDOWS = 50
_PLACE = ("group", "topic", "partition")


def taken(detailed: pl.DataFrame, rebalances: pl.DataFrame, ownership: pl.DataFrame, scale: Scale) -> pl.DataFrame:
    """One row per rebalance and partition that it took from its owner, with its number as `pause` and its
    length `pause_ns`.

    `owner_after` is null where nobody had the partition by the end; `cause` is the crash, pause or silence of its
    owner, "" where it was taken from one that read it up to then.
    """
    revoked = (
        within(places(detailed, "partitions_revoked"), rebalances)
        .group_by(*_PLACE, "started_ns", pl.col("time_ns").alias("revoked_ns"))
        .agg(pl.col("client").max().alias("owner_before"))
        .sort("revoked_ns")
    )
    owners = ownership.select(
        *_PLACE,
        pl.col("client").alias("owner_after"),
        pl.col("from_ns").alias("assigned_ns"),
        pl.col("seq").alias("assigned_seq"),
        "end_seq",
    )
    next_owner = {"left_on": "revoked_ns", "right_on": "assigned_ns", "by": list(_PLACE), "strategy": "forward"}
    lost = _lost(revoked, detailed, ownership)
    return (
        lost.join_asof(owners.sort("assigned_ns"), coalesce=False, check_sortedness=False, **next_owner)  # type: ignore[arg-type]
        .with_columns(
            from_ns=pl.col("lost_ns").clip(lower_bound=scale.from_ns),
            to_ns=pl.col("assigned_ns").fill_null(scale.to_ns),
        )
        .with_columns(pause_ns=pl.col("to_ns") - pl.col("from_ns"), pause=pl.int_range(pl.len()))
    )


def _lost(taken: pl.DataFrame, detailed: pl.DataFrame, ownership: pl.DataFrame) -> pl.DataFrame:
    """`taken` with `lost_ns`, when the owner could read last, and the `cause` of that."""
    held = ownership.select(*_PLACE, pl.col("client").alias("owner_before"), pl.col("from_ns").alias("owned_ns"))
    struck = detailed.filter((pl.col("kind") == "fault") & pl.col("fault").is_in(["crash", "pause"]))
    over = detailed.filter((pl.col("kind") == "fault") & (pl.col("ended") == "pause"))
    left = detailed.filter((pl.col("kind") == "member_left") & pl.col("heard_ns").is_not_null())
    client, at = pl.col("client").alias("owner_before"), pl.col("time_ns")
    found = taken
    for other, by, on in (
        (held, [*_PLACE, "owner_before"], "owned_ns"),
        (struck.select(client, at.alias("struck_ns"), "fault"), ["owner_before"], "struck_ns"),
        (over.select(client, at.alias("over_ns")), ["owner_before"], "over_ns"),
        (left.select(client, "group", at.alias("left_ns"), "heard_ns"), ["owner_before", "group"], "left_ns"),
    ):
        found = found.join_asof(
            other.sort(on),
            left_on="revoked_ns",
            right_on=on,
            by=by,
            coalesce=False,
            check_sortedness=False,
            allow_exact_matches=on != "owned_ns",  # it may be given back at once, to a member of the same name
        )
    # A client whose fault came before its assignment returned as another member.
    mine = pl.col("struck_ns") >= pl.col("owned_ns")
    still = (pl.col("fault") == "crash") | pl.col("over_ns").is_null() | (pl.col("over_ns") < pl.col("struck_ns"))
    silent = (pl.col("left_ns") >= pl.col("owned_ns")) & (pl.col("heard_ns") >= pl.col("owned_ns"))
    lost = pl.when(mine & still).then("struck_ns").when(silent).then("heard_ns").otherwise("revoked_ns")
    cause = pl.when(mine & still).then("fault").when(silent).then(pl.lit("silence")).otherwise(pl.lit(""))
    return found.with_columns(lost_ns=pl.min_horizontal(lost, "revoked_ns"), cause=cause)


def asked(taken: pl.DataFrame, detailed: pl.DataFrame, rollup: pl.DataFrame) -> pl.DataFrame:
    """Which deliveries tell when somebody read: those to `client` of a partition, from `from_ns` to `to_ns`, between
    the events `after_seq` and `before_seq`. For a `pause` the last of them counts, for an assignment
    (`assigned_seq`) the first.
    """
    has_owner = taken.filter(pl.col("assigned_ns").is_not_null())
    read_on = has_owner.filter(pl.col("cause").is_in(["", "silence"])).select(
        "pause",
        pl.lit(None, pl.Int64).alias("assigned_seq"),
        *_PLACE,
        pl.col("owner_before").alias("client"),
        "from_ns",
        pl.col("assigned_ns").alias("to_ns"),
        pl.lit(-1, pl.Int64).alias("after_seq"),
        pl.col("assigned_seq").alias("before_seq"),
    )
    assigned = places(detailed, "partitions_assigned").join(
        has_owner, left_on="seq", right_on="assigned_seq", how="semi"
    )
    given = pl.col("kind") == "delivered"
    # Of each partition the counts that are the first to reach beyond the assignment: its first delivery is no later.
    first = assigned.sort("seq").join_asof(
        rollup.filter(given).select(*_PLACE, "client", "last_seq", pl.col("last_ns").alias("to_ns")).sort("last_seq"),
        left_on="seq",
        right_on="last_seq",
        by=[*_PLACE, "client"],
        strategy="forward",
        check_sortedness=False,
    )
    first = first.select(
        pl.lit(None, pl.Int64).alias("pause"),
        pl.col("seq").alias("assigned_seq"),
        *_PLACE,
        "client",
        pl.col("time_ns").alias("from_ns"),
        pl.col("to_ns").min().over("seq"),
        pl.col("seq").alias("after_seq"),
        (pl.col("last_seq") + 1).min().over("seq").alias("before_seq"),
    )
    return pl.concat([read_on, first.drop_nulls("to_ns")])


def pauses(taken: pl.DataFrame, read_on: pl.DataFrame) -> pl.DataFrame:
    """`taken`, each from `last_ns` of what its owner was given of anything that was taken from it together, to the
    next owner's first fetch of anything that it was assigned together.
    """
    together = ("group", "revoked_ns", "owner_before")
    last = pl.col("last_ns").max().over(together)
    first = read_on.drop("pause", "last_ns").drop_nulls("assigned_seq")
    in_time = pl.col("end_seq").is_null() | (pl.col("first_seq") < pl.col("end_seq"))
    waited = in_time & (pl.col("published_ns") <= pl.col("assigned_ns"))
    return (
        taken.join(read_on.select("pause", "last_ns").drop_nulls("pause"), on="pause", how="left")
        .join(first, on="assigned_seq", how="left")
        .with_columns(last_ns=pl.when(pl.col("assigned_ns").is_not_null()).then(last))
        .with_columns(
            from_ns=pl.max_horizontal("from_ns", "last_ns"),
            to_ns=pl.when(waited).then(pl.max_horizontal("to_ns", "first_ns")).otherwise("to_ns"),
        )
        .with_columns(pause_ns=pl.col("to_ns") - pl.col("from_ns"))
    )


def windows(pauses: pl.DataFrame) -> list[tuple[int, int]]:
    """The times of `pauses`, few enough to be written into a filter; nearby ones are joined where there are many."""
    spans = pauses.select("from_ns", "to_ns").unique().sort("from_ns", "to_ns")
    begins = pl.col("from_ns") > pl.col("to_ns").cum_max().shift(1)
    joined = (
        spans.with_columns(window=begins.fill_null(True).cum_sum())
        .group_by("window", maintain_order=True)
        .agg(pl.col("from_ns").min(), pl.col("to_ns").max())
    )
    # The widest gaps stay, as many as there may be windows.
    gap = pl.col("from_ns") - pl.col("to_ns").shift(1)
    wide = gap.rank("ordinal", descending=True) < MOST_WINDOWS
    few = joined.with_columns(window=wide.fill_null(True).cum_sum())
    few = few.group_by("window", maintain_order=True).agg(pl.col("from_ns").min(), pl.col("to_ns").max())
    return list(few.select("from_ns", "to_ns").iter_rows())


def unserved(pauses: pl.DataFrame, published: pl.DataFrame) -> pl.DataFrame:
    """The pauses, longest first. `published` are the messages that were appended during each, by `pause`."""
    keys = ("pause_ns", "started_ns", "group", "topic", "partition")
    return (
        pauses.join(published, on="pause", how="left")
        .with_columns(pl.col("published").fill_null(0))
        .sort(keys, descending=[True, False, False, False, False])
    )
