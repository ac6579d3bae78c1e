from __future__ import annotations

import polars as pl

#: The kinds that are read. Others mean something else by the same names: a user's action what was asked for.
_KINDS = (
    *("rebalance_started", "rebalance_completed", "partitions_assigned", "partitions_revoked"),
    *("member_joined", "member_left"),
    *("offsets_reset", "transaction_started", "transaction_ended", "client_started", "client_stopped", "fault"),
)
PLACE = ("group", "topic", "partition")
_PLACES = pl.List(pl.List(pl.String()))
_DETAIL = pl.Struct(
    {
        "before": _PLACES,  # [topic, partition, client] of each partition
        "after": _PLACES,
        "partitions": _PLACES,  # [topic, partition]
        "aborted": _PLACES,  # [topic, partition, first offset, count] of each run
        "markers": _PLACES,  # [topic, partition, offset] of each
        "changes": _PLACES,  # [topic, partition, from offset, to offset]
        "started_ns": pl.Int64(),
        "member_id": pl.String(),
        "replaces": pl.String(),  # the member id of a static member before it came back
        "transactional_id": pl.String(),
        "timeout_ms": pl.Int64(),
        "role": pl.String(),
        "held_from": pl.String(),  # the group out of which a program is held
        "fault": pl.String(),
        "ended": pl.String(),  # the fault that is over
        "heard_ns": pl.Int64(),  # of a member that missed a deadline: its last sign of life
    }
)


def detailed(control: pl.DataFrame) -> pl.DataFrame:
    """`control` in its order, with what is known in `detail` as columns."""
    told = pl.when(pl.col("kind").is_in(_KINDS)).then("detail").str.json_decode(_DETAIL)
    return control.sort("seq").with_columns(told.alias("told")).unnest("told")


def _each(detailed: pl.DataFrame, kinds: tuple[str, ...], name: str, *kept: str) -> tuple[pl.DataFrame, list[pl.Expr]]:
    """One row per element of the list `name` of events of these kinds, with the columns `kept`; and what it has."""
    value = pl.col(name).list
    rows = detailed.filter(pl.col("kind").is_in(kinds)).select(*kept, name)
    numbers = [value.get(place, null_on_oob=True).cast(pl.Int64) for place in (2, 3)]
    place = [value.get(0).alias("topic"), value.get(1).cast(pl.Int32).alias("partition")]
    return rows.explode(name, empty_as_null=False, keep_nulls=False), [*place, *numbers]


def places(detailed: pl.DataFrame, *kinds: str) -> pl.DataFrame:
    """One row per partition of the events of these kinds, in order."""
    kept = ("seq", "time_ns", "kind", "group", "client", "generation")
    rows, (topic, partition, *_) = _each(detailed, kinds, "partitions", *kept)
    return rows.select(*kept, topic, partition)


def compacted(control: pl.DataFrame) -> pl.Series:
    """The topics that are compacted, or were at some time."""
    told = pl.col("kind").is_in(["topic_created", "user_action"])
    return (
        control.filter(told & pl.col("detail").str.contains(r'"cleanup": ?"[a-z,]*compact"'))
        .get_column("topic")
        .unique()
    )


def deletions(control: pl.DataFrame) -> pl.DataFrame:
    return control.filter((pl.col("kind") == "records_deleted") & pl.col("offset").is_not_null()).select(
        *("topic", "partition", "offset", "time_ns", "cause"), end=pl.col("offset") + pl.col("count")
    )


def resets(detailed: pl.DataFrame) -> pl.DataFrame:
    """One row per partition whose committed offset a user moved from `old` (null for none) to `new`."""
    rows, (topic, partition, old, new) = _each(detailed, ("offsets_reset",), "changes", "group", "seq", "time_ns")
    return rows.select("group", "seq", "time_ns", topic, partition, old=old, new=new)


def passed(detailed: pl.DataFrame) -> pl.DataFrame:
    """Offsets that nobody misses: `count` of them from `at` on, of the log (`group` is "") where they hold no message,
    or one that was aborted, of a group where a reset has jumped over them.
    """
    skipped = resets(detailed).filter(pl.col("new") > pl.col("old"))
    return pl.concat(
        [
            markers(detailed).select(
                pl.lit("").alias("group"), "topic", "partition", at="offset", count=pl.lit(1, pl.Int64)
            ),
            skipped.select("group", "topic", "partition", at="old", count=pl.col("new") - pl.col("old")),
            aborted(detailed),
        ]
    )


def aborted(detailed: pl.DataFrame) -> pl.DataFrame:
    """The messages of aborted transactions, as in `passed`."""
    rows, (topic, partition, first, count) = _each(detailed, ("transaction_ended",), "aborted")
    return rows.select(pl.lit("").alias("group"), topic, partition, at=first, count=count)


def markers(detailed: pl.DataFrame) -> pl.DataFrame:
    """Where transactions have ended: `topic`, `partition` and `offset` of each marker, which is no message."""
    rows, (topic, partition, offset, _) = _each(detailed, ("transaction_ended",), "markers")
    return rows.select(topic, partition, offset=offset)
