from __future__ import annotations

import polars as pl

from spark_reports.tables.audit import AGAIN, CHECKS, FINISHED_TWICE, NEVER, PLACE, TWICE, WORD, is_run

SCHEMA = (
    "check STRING, `group` STRING, topic STRING, partition INT, offset BIGINT, messages BIGINT, explained BOOLEAN, "
    "`key` STRING, published_ns BIGINT, happened_ns BIGINT, story STRING"
)
#: What `passes.suspects` brings home.
HAPPENED_SCHEMA = (
    "group STRING, topic STRING, partition INT, check INT, begin BIGINT, last BIGINT, seq BIGINT, time_ns BIGINT, "
    "kind STRING, client STRING, attempt INT, key STRING, own BOOLEAN"
)
LISTED = 500
_EACH = (*PLACE, "check", "offset")
_FINISHED = ("acknowledged", "dead_lettered", "expired", "evicted", "purged")


def audit_list(suspects: pl.DataFrame, happened: pl.DataFrame, limit: int = LISTED) -> pl.DataFrame:
    """The first `limit` messages that broke a check; a run of offsets that nobody published is one row. `story` tells
    what happened to it in the group, `happened_ns` when an event broke the rule. `happened` are the events about
    `suspects`.
    """
    runs = suspects.filter(is_run()).select(
        *("check", *PLACE, (pl.col("word") * WORD).alias("offset"), "messages", "explained"),
        pl.lit(None, pl.String).alias("key"),
        *(pl.lit(None, pl.Int64).alias(name) for name in ("published_ns", "happened_ns")),
        pl.lit("").alias("story"),
    )
    told = _told(suspects.filter(~is_run()), happened).select(runs.columns)
    return (
        pl.concat([told, runs])
        .sort("check", *PLACE, "offset")
        .head(limit)
        .with_columns(pl.col("check").replace_strict(dict(enumerate(CHECKS)), return_dtype=pl.String))
    )


def _told(suspects: pl.DataFrame, happened: pl.DataFrame) -> pl.DataFrame:
    """Every offset of the suspected words that broke its check: those of its `bits`, or else by what happened."""
    masks = pl.DataFrame({"bit": range(WORD), "mask": [1 << bit for bit in range(WORD - 1)] + [-(1 << (WORD - 1))]})
    each = (
        suspects.join(masks, how="cross")
        .filter(pl.col("bits").is_null() | (pl.col("bits").and_(pl.col("mask")) != 0))
        .with_columns(offset=pl.col("word") * WORD + pl.col("bit"), messages=pl.lit(1, pl.Int64))
    )
    check = pl.col("check")
    count = {name: pl.col(name).fill_null(0) for name in ("published", "first", "delivered", "done", "finished")}
    broke = (
        pl.when(pl.col("bits").is_not_null())
        .then(True)
        .when(check == TWICE)
        .then(count["published"] > 1)
        .when(check == AGAIN)
        .then(count["first"] > 1)
        .when(check == FINISHED_TWICE)
        .then(count["finished"] > 1)
        .when(check == NEVER)
        .then((count["done"] > 0) & (count["delivered"] == 0))
    )
    return each.join(_counted(happened), on=_EACH, how="left").filter(broke).with_columns(pl.col("story").fill_null(""))


def _counted(happened: pl.DataFrame) -> pl.DataFrame:
    kind, at = pl.col("kind"), pl.col("time_ns")
    first = (pl.col("attempt") == 1).fill_null(False)
    published, delivered = kind == "published", kind == "delivered"
    return (
        happened.sort("seq")
        .with_columns(offset=pl.int_ranges("begin", pl.col("last") + 1), step=_step())
        .explode("offset", empty_as_null=False, keep_nulls=False)
        .group_by(_EACH, maintain_order=True)
        .agg(
            (published & pl.col("own")).sum().alias("published"),
            (delivered & first).sum().alias("first"),
            delivered.sum().alias("delivered"),
            kind.is_in(["acknowledged", "dead_lettered"]).sum().alias("done"),
            kind.is_in(_FINISHED).sum().alias("finished"),
            at.filter(published).min().alias("published_ns"),
            at.filter(~published).max().alias("happened_ns"),
            pl.col("key").drop_nulls().first(),
            pl.col("step").str.join("; ").alias("story"),
        )
    )


def _step() -> pl.Expr:
    client, attempt = pl.col("client"), pl.col("attempt")
    who = (
        pl.when(pl.col("kind") == "delivered")
        .then(pl.format(" to {}", client))
        .when(client != "")
        .then(pl.format(" by {}", client))
        .otherwise(pl.lit(""))
    )
    again = pl.when(attempt > 1).then(pl.format(" attempt {}", attempt)).otherwise(pl.lit(""))
    ms = (pl.col("time_ns") / 1e6).round().cast(pl.Int64)
    seconds = pl.concat_str(ms // 1000, pl.lit("."), (ms % 1000).cast(pl.String).str.zfill(3))
    return pl.concat_str(pl.col("kind").str.replace_all("_", " "), who, again, pl.format(" at {} s", seconds))
