"""Was anything lost, delivered twice as if it were new, or finished twice?"""

from __future__ import annotations

import polars as pl

from spark_reports.tables.details import compacted

SCHEMA = (
    "check STRING, messages BIGINT, explained BIGINT, ok BOOLEAN, `group` STRING, topic STRING, partition INT, "
    "near_offset BIGINT"
)

#: What must not be, in the order of the page.
CHECKS = (
    "lost: an offset that was never published, between others that were",
    "published twice under one offset",
    "delivered twice to one group, both times as the first",
    "finished twice by one group",
    "acknowledged or dead without ever being delivered",
    "skipped: never delivered to a group that went on behind it",
    "reordered: delivered for the first time behind a later one",
)
LOST, TWICE, AGAIN, FINISHED_TWICE, NEVER, SKIPPED, REORDERED = range(len(CHECKS))
DELETED = len(CHECKS)  # no rule of messages: what was deleted before a group got it, a table of its own
PLACE = ("group", "topic", "partition")
WORD = 64
BROKEN_SCHEMA = (
    "check INT, `group` STRING, topic STRING, partition INT, listed BIGINT, messages BIGINT, word BIGINT, bits BIGINT, "
    "lowest BIGINT, highest BIGINT"
)
SUSPECTS = 200  # words of 64 offsets that are looked at


def with_starts(offsets: pl.DataFrame, deletions: pl.DataFrame) -> pl.DataFrame:
    """`passes.audit.offsets` with `start`, where the partition begins in the end; null if nothing was deleted."""
    ends = deletions.group_by("topic", "partition").agg(pl.col("end").max().alias("start"))
    reached = pl.col("delivered_end")
    return offsets.join(ends, on=["topic", "partition"], how="left").with_columns(
        delivered_end=pl.when(reached.is_not_null()).then(pl.max_horizontal(reached, "start"))
    )


def reach(offsets: pl.DataFrame) -> pl.DataFrame:
    """Per topic and partition of `with_starts` its `start` and its `readers`: each group that was delivered some, and
    between which offsets it should have got all.
    """
    return (
        offsets.select(*PLACE, "start", pl.col("delivered_begin").alias("begin"), pl.col("delivered_end").alias("end"))
        .drop_nulls(["begin", "end"])
        .sort(PLACE)
        .group_by("topic", "partition", "start", maintain_order=True)
        .agg(pl.struct("group", "begin", "end").alias("readers"))
    )


def is_sound(offsets: pl.DataFrame) -> bool:
    """Whether the sums of `with_starts` alone prove every check. If False, the words must be looked at."""
    log = pl.col("group") == ""
    once = [pl.col(name) == pl.col(f"{name}_count") for name in ("published", "first", "finished")]
    whole = pl.col("published") == pl.col("published_end") - pl.col("published_begin")
    reach = pl.col("delivered_end") - pl.col("delivered_begin")
    inside = pl.col("finished_begin").ge(pl.col("delivered_begin")) & pl.col("finished_end").le(pl.col("delivered_end"))
    read = reach.is_null() | (pl.col("delivered") == reach) | (inside.fill_null(False) & (pl.col("got") == reach))
    sound = pl.when(log).then(whole.fill_null(True)).otherwise(read & (pl.col("never") == 0) & (pl.col("late") == 0))
    return bool(offsets.select((sound & pl.all_horizontal(once)).all()).item())


def explained(broken: pl.DataFrame, control: pl.DataFrame, *, from_the_middle: bool = False) -> pl.DataFrame:
    """`broken` with what its `passes.audit` found, and whether an event explains it: offsets reset, a user's action, or
    a topic deleted, damaged or compacted; in what was observed, also a start `from_the_middle` or a gap.
    """
    kind = pl.col("kind")
    reset = control.filter(kind == "offsets_reset").get_column("group")
    undone = control.filter(((kind == "user_action") & (pl.col("count") > 0)) | (kind == "topic_deleted"))["topic"]
    trimmed = control.filter(kind == "damage").get_column("topic")
    who, cut = ({name for name in names if name} for names in ([*reset, *undone], [*trimmed, *compacted(control)]))
    check, gone = pl.col("check"), pl.col("topic").is_in(cut)
    moved = pl.col("group").is_in(who) | pl.col("topic").is_in(who)
    unseen = pl.lit(bool((control["kind"] == "gap").any())) | ((check == NEVER) & from_the_middle)
    return broken.with_columns(
        explained=((check != DELETED) & (moved | unseen)) | (check.is_in([SKIPPED, DELETED]) & gone)
    )


def audit(found: pl.DataFrame) -> pl.DataFrame:
    """One row per check of `CHECKS`: how many messages broke it, and the first place. `near_offset` begins the 64
    offsets in which the first of them is.
    """
    messages = pl.col("messages")
    worst = (
        found.sort(*PLACE, "word")
        .group_by("check", maintain_order=True)
        .agg(
            messages.sum(),
            messages.filter("explained").sum().alias("explained"),
            *(pl.col(name).first() for name in PLACE),
            (pl.col("word").first() * WORD).alias("near_offset"),
        )
        .with_columns(pl.col("check").cast(pl.Int64))
    )
    checks = pl.DataFrame({"check": range(len(CHECKS)), "name": CHECKS}, {"check": pl.Int64, "name": pl.String})
    return (
        checks.join(worst, on="check", how="left", maintain_order="left")
        .with_columns(pl.col("messages", "explained").fill_null(0))
        .with_columns(ok=messages == pl.col("explained"), check=pl.col("name"))
    )


def suspects(found: pl.DataFrame) -> pl.DataFrame:
    """The first words whose messages are listed, singly or as one run; none if every violation has a reason."""
    rules = found.filter(pl.col("check") != DELETED)
    if rules["explained"].all():
        return rules.clear()
    return rules.drop_nulls("listed").sort("check", *PLACE, "word").head(SUSPECTS)


def is_run() -> pl.Expr:
    """Whether a row of `suspects` is a run of offsets that were never published."""
    return (pl.col("check") == LOST) & (pl.col("messages") > WORD)
