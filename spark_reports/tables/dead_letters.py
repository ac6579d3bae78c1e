from __future__ import annotations

import polars as pl

from spark_reports.passes.kinds import DIED_AGAIN, RECOVERED, WAITING

_RESULTS = "dead_lettered BIGINT, redriven BIGINT, recovered BIGINT, died_again BIGINT, waiting BIGINT"
SCHEMA = f"`group` STRING, cause STRING, {_RESULTS}, first_ns BIGINT, last_ns BIGINT"
KEYS_SCHEMA = f"`group` STRING, `key` STRING, {_RESULTS}, cause STRING, first_ns BIGINT"
TIME_SCHEMA = "start_ns BIGINT, `group` STRING, dead_lettered BIGINT, redriven BIGINT"
LIST_SCHEMA = (
    "time_ns BIGINT, `group` STRING, topic STRING, partition INT, offset BIGINT, `key` STRING, cause STRING, "
    "attempt INT, published_ns BIGINT, bin STRING, bin_offset BIGINT, redriven_ns BIGINT, fate STRING, fate_ns BIGINT"
)
LISTED = 500
MOST_CAUSES = 1_000
TOP_KEYS = 50
_FATES = {"recovered": RECOVERED, "died_again": DIED_AGAIN, "waiting": WAITING}


def _counted(dead: pl.DataFrame, by: str, most: int) -> pl.DataFrame:
    """Counts of dead letters by group or queue and by `by`, the most frequent first."""
    first = [] if by == "cause" else [pl.col("cause").first()]
    return (
        dead.group_by("group", by, maintain_order=True)
        .agg(
            pl.len().alias("dead_lettered"),
            pl.col("redriven_ns").count().alias("redriven"),
            *((pl.col("fate") == fate).sum().alias(name) for name, fate in _FATES.items()),
            pl.col("time_ns").min().alias("first_ns"),
            pl.col("time_ns").max().alias("last_ns"),
            *first,
        )
        .sort("dead_lettered", "group", by, descending=[True, False, False])
        .head(most)
    )


def dead_letter_list(dead: pl.DataFrame) -> pl.DataFrame:
    """The first `LISTED` dead letters in order. `dead` is from `passes.redrives`."""
    return dead.head(LISTED)


def dead_letters(dead: pl.DataFrame) -> pl.DataFrame:
    return _counted(dead, "cause", MOST_CAUSES)


def dead_letter_keys(dead: pl.DataFrame) -> pl.DataFrame:
    """The `TOP_KEYS` keys that died most often, by group or queue; `cause` is the first. No key is one row."""
    return _counted(dead, "key", TOP_KEYS)


def dead_letters_over_time(rollup: pl.DataFrame) -> pl.DataFrame:
    """One row per group or queue and time bucket in which something died or was redriven."""
    kind = pl.col("kind")
    return (
        rollup.filter(kind.is_in(["dead_lettered", "redriven"]))
        .group_by("start_ns", "group")
        .agg(pl.col("messages").filter(kind == name).sum().alias(name) for name in ("dead_lettered", "redriven"))
        .sort("start_ns", "group")
    )


REDELIVERIES_SCHEMA = (
    "`group` STRING, topic STRING, attempt INT, delivered BIGINT, acknowledged BIGINT, nacked BIGINT, released BIGINT, "
    "lease_expired BIGINT, dead_lettered BIGINT"
)
_OUTCOMES = ("delivered", "acknowledged", "nacked", "released", "lease_expired", "dead_lettered")


def redeliveries(rollup: pl.DataFrame) -> pl.DataFrame:
    """Per group or queue and attempt what became of the deliveries. A commit, which has no attempt, is of the first; of
    the others `acknowledged` is null.
    """
    kind, attempt, later = pl.col("kind"), pl.col("attempt"), pl.col("attempt") > 1
    committed = ((kind == "acknowledged") & attempt.is_null()).any().over("group", "topic")
    # A delivery without an attempt is none: the client had it already, and fetched it once more.
    return (
        rollup.filter(kind.is_in(_OUTCOMES) & ((kind != "delivered") | attempt.is_not_null()))
        .with_columns(committed=committed)
        .group_by("group", "topic", attempt.fill_null(1), "committed")
        .agg(pl.col("messages").filter(kind == name).sum().alias(name) for name in _OUTCOMES)
        .with_columns(acknowledged=pl.when(~(pl.col("committed") & later)).then(pl.col("acknowledged")))
        .drop("committed")
        .sort("group", "topic", "attempt")
    )
