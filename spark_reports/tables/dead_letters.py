from __future__ import annotations

import polars as pl

_RESULTS = "dead_lettered BIGINT, redriven BIGINT, recovered BIGINT, died_again BIGINT, waiting BIGINT"
SCHEMA = f"`group` STRING, cause STRING, {_RESULTS}, first_ns BIGINT, last_ns BIGINT"
KEYS_SCHEMA = f"`group` STRING, `key` STRING, {_RESULTS}, cause STRING, first_ns BIGINT"
TIME_SCHEMA = "start_ns BIGINT, `group` STRING, dead_lettered BIGINT, redriven BIGINT"
LIST_SCHEMA = (
    "time_ns BIGINT, `group` STRING, topic STRING, partition INT, offset BIGINT, `key` STRING, cause STRING, "
    "attempt INT, published_ns BIGINT, bin STRING, bin_offset BIGINT, redriven_ns BIGINT, fate STRING, fate_ns BIGINT"
)
#: What `passes.fates` brings home.
COUNTED_SCHEMA = (
    f"way INT, seq BIGINT, offset BIGINT, group STRING, key STRING, {_RESULTS}, first_ns BIGINT, last_ns BIGINT, "
    "cause STRING, time_ns BIGINT, topic STRING, partition INT, attempt INT, published_ns BIGINT, bin STRING, "
    "bin_offset BIGINT, redriven_ns BIGINT, fate STRING, fate_ns BIGINT, place INT"
)
LISTED = 500
TOP_KEYS = 50
RECOVERED, DIED_AGAIN, WAITING = "acknowledged", "died again", "waiting"
BY_CAUSE, BY_KEY, EACH = range(3)  # the ways in which `passes.fates` counts


def _counted(dead: pl.DataFrame, way: int) -> pl.DataFrame:
    return dead.filter(pl.col("way") == way).sort("place")


def dead_letter_list(dead: pl.DataFrame) -> pl.DataFrame:
    """The first `LISTED` dead letters in order."""
    return _counted(dead, EACH)


def dead_letters(dead: pl.DataFrame) -> pl.DataFrame:
    return _counted(dead, BY_CAUSE)


def dead_letter_keys(dead: pl.DataFrame) -> pl.DataFrame:
    """The `TOP_KEYS` keys that died most often, by group or queue; `cause` is the first. No key is one row."""
    return _counted(dead, BY_KEY)


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
    """Per group or queue and attempt what became of the deliveries. A commit, which has no attempt, is of the first."""
    kind = pl.col("kind")
    # A delivery without an attempt is none: the client had it already, and fetched it once more.
    return (
        rollup.filter(kind.is_in(_OUTCOMES) & ((kind != "delivered") | pl.col("attempt").is_not_null()))
        .group_by("group", "topic", pl.col("attempt").fill_null(1))
        .agg(pl.col("messages").filter(kind == name).sum().alias(name) for name in _OUTCOMES)
        .sort("group", "topic", "attempt")
    )
