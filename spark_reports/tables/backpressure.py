"""Blocked producers and their causes, and refused or dropped messages."""

from __future__ import annotations

import polars as pl

from resources.outcomes import OUTCOMES
from spark_reports.scale import Scale

SCHEMA = "topic STRING, client STRING, cause STRING, from_ns BIGINT, to_ns BIGINT, blocked_ns BIGINT, ended BOOLEAN"
SERIES_SCHEMA = (
    "topic STRING, blocks BIGINT, blocked_ns BIGINT, longest_ns BIGINT, rejected BIGINT, dropped BIGINT, "
    "evicted BIGINT, expired BIGINT"
)
TIME_SCHEMA = "topic STRING, start_ns BIGINT, blocked_ns BIGINT, rejected BIGINT, dropped BIGINT"
_TURNED_AWAY = tuple(OUTCOMES)


def backpressure(control: pl.DataFrame, scale: Scale) -> pl.DataFrame:
    """One row per time that a producer was blocked. A block that the session's end cut short is not `ended`."""
    following = pl.col("time_ns").shift(-1).over("topic", "client")
    return (
        control.filter(pl.col("kind").is_in(["producer_blocked", "producer_unblocked"]))
        .sort("seq")
        .with_columns(next_ns=following)
        .filter(pl.col("kind") == "producer_blocked")
        .with_columns(
            from_ns=pl.col("time_ns").clip(lower_bound=scale.from_ns),
            to_ns=pl.col("next_ns").fill_null(scale.to_ns),
            ended=pl.col("next_ns").is_not_null(),
        )
        .with_columns(blocked_ns=pl.col("to_ns") - pl.col("from_ns"))
        .filter(pl.col("to_ns") >= scale.from_ns)
        .sort("from_ns", "topic", "client")
    )


def series(blocks: pl.DataFrame, rollup: pl.DataFrame) -> pl.DataFrame:
    turned_away = rollup.filter(pl.col("kind").is_in(_TURNED_AWAY)).group_by("topic").agg(_messages(_TURNED_AWAY))
    return (
        _blocked(blocks, "topic")
        .join(turned_away, on="topic", how="full", coalesce=True)
        .with_columns(pl.exclude("topic").fill_null(0))
        .sort("blocked_ns", "topic", descending=[True, False])
    )


def _blocked(blocks: pl.DataFrame, *keys: str) -> pl.DataFrame:
    blocked = pl.col("blocked_ns")
    return blocks.group_by(keys).agg(
        pl.len().cast(pl.Int64).alias("blocks"), blocked.sum(), blocked.max().alias("longest_ns")
    )


def _messages(kinds: tuple[str, ...]) -> list[pl.Expr]:
    return [pl.col("messages").filter(pl.col("kind") == name).sum().alias(name) for name in kinds]


def over_time(blocks: pl.DataFrame, rollup: pl.DataFrame, scale: Scale) -> pl.DataFrame:
    """Per topic and time bucket: producer-nanoseconds blocked, messages rejected and dropped; without quiet ones."""
    columns = ("topic", "start_ns", "blocked_ns", "rejected", "dropped")
    none = pl.lit(0, pl.Int64)
    end = pl.min_horizontal("to_ns", pl.col("start_ns") + scale.width_ns)
    shares = (
        blocks.pipe(scale.each_bucket, "from_ns", "to_ns")
        .with_columns(blocked_ns=end - pl.max_horizontal("from_ns", "start_ns"), rejected=none, dropped=none)
        .select(columns)
    )
    counted = rollup.group_by("topic", "start_ns").agg(_messages(("rejected", "dropped")))
    turned_away = counted.with_columns(blocked_ns=none).select(columns)
    return (
        pl.concat([shares, turned_away])
        .group_by("topic", "start_ns")
        .agg(pl.col(columns[2:]).sum())
        .filter(pl.any_horizontal(pl.col(columns[2:]) > 0))
        .sort("topic", "start_ns")
    )


BLOCKERS_SCHEMA = (
    "topic STRING, client STRING, reason STRING, blocker STRING, blocks BIGINT, blocked_ns BIGINT, longest_ns BIGINT, "
    "rejected BIGINT, dropped BIGINT, evicted BIGINT"
)
_NO_ROOM = ("rejected", "dropped", "evicted")
#: The broker tells the reason in its sentence alone (`flow/gate.py`, `broker/schemas.py`): a field of the event would
#: change what recordings hold, and those that there are lack it.
_REASONS = {
    r"is full: .* messages": "full of messages",
    r"is full: .* bytes": "full of bytes",
    r"takes at most": "rate limit",
    r"^schema \S+ refused ": "schema",
}


def _reason() -> pl.Expr:
    """The cause without the numbers that differ each time."""
    cause = pl.col("cause")
    reason = cause.str.replace_all(r"\d+(\.\d+)?", "n")
    for pattern, name in reversed(_REASONS.items()):
        reason = pl.when(cause.str.contains(pattern)).then(pl.lit(name)).otherwise(reason)
    return reason


def _blocker() -> pl.Expr:
    """The reader that was furthest behind, where the cause names one."""
    return pl.col("cause").str.extract(r"slowest reader (.+)$", 1).fill_null("")


def blockers(blocks: pl.DataFrame, rollup: pl.DataFrame) -> pl.DataFrame:
    """One row per topic or queue, producer (none for evictions), reason and blocker; the longest blocked first."""
    keys = ("topic", "client", "reason", "blocker")
    kind = pl.col("kind")
    waits = _blocked(blocks.with_columns(reason=_reason(), blocker=_blocker()), *keys)
    evicted = kind == "evicted"
    turned_away = (
        rollup.filter(kind.is_in(_NO_ROOM))
        .with_columns(
            client=pl.when(evicted).then(pl.lit("")).otherwise("client"),
            reason=_reason(),
            blocker=pl.when(evicted & (pl.col("group") != pl.col("topic"))).then("group").otherwise(_blocker()),
        )
        .group_by(keys)
        .agg(_messages(_NO_ROOM))
    )
    sums = ("blocked_ns", *_NO_ROOM)
    return (
        waits.join(turned_away, on=keys, how="full", coalesce=True)
        .with_columns(pl.exclude(keys).fill_null(0))
        .sort(*sums, *keys, descending=[True] * len(sums) + [False] * len(keys))
    )


REFUSALS_SCHEMA = (
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
