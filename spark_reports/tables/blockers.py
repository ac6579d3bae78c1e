from __future__ import annotations

import polars as pl

SCHEMA = (
    "topic STRING, client STRING, reason STRING, blocker STRING, blocks BIGINT, blocked_ns BIGINT, longest_ns BIGINT, "
    "rejected BIGINT, dropped BIGINT, evicted BIGINT"
)
_TURNED_AWAY = ("rejected", "dropped", "evicted")
_SLOWEST = r"slowest reader (.+)$"
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
    return pl.col("cause").str.extract(_SLOWEST, 1).fill_null("")


def blockers(blocks: pl.DataFrame, rollup: pl.DataFrame) -> pl.DataFrame:
    """One row per topic or queue, producer (none for evictions), reason and reader furthest behind; the longest blocked
    first.
    """
    keys = ("topic", "client", "reason", "blocker")
    kind, blocked = pl.col("kind"), pl.col("blocked_ns")
    waits = (
        blocks.with_columns(reason=_reason(), blocker=_blocker())
        .group_by(keys)
        .agg(pl.len().cast(pl.Int64).alias("blocks"), blocked.sum(), blocked.max().alias("longest_ns"))
    )
    evicted = kind == "evicted"
    turned_away = (
        rollup.filter(kind.is_in(_TURNED_AWAY))
        .with_columns(
            client=pl.when(evicted).then(pl.lit("")).otherwise("client"),
            reason=_reason(),
            blocker=pl.when(evicted & (pl.col("group") != pl.col("topic"))).then("group").otherwise(_blocker()),
        )
        .group_by(keys)
        .agg(pl.col("messages").filter(kind == name).sum().alias(name) for name in _TURNED_AWAY)
    )
    sums = ("blocked_ns", *_TURNED_AWAY)
    return (
        waits.join(turned_away, on=keys, how="full", coalesce=True)
        .with_columns(pl.exclude(keys).fill_null(0))
        .sort(*sums, *keys, descending=[True] * len(sums) + [False] * len(keys))
    )
