"""Was anything lost, delivered twice as if it were new, or finished twice?"""

from __future__ import annotations

import polars as pl

from spark_reports.tables.details import PLACE, compacted, deletions

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
    "acknowledged or dead-lettered without ever being delivered",
    "skipped: never delivered to a group that read on beyond it",
    "reordered: delivered for the first time after a later one",
)
LOST, TWICE, AGAIN, FINISHED_TWICE, NEVER, SKIPPED, REORDERED = range(len(CHECKS))
DELETED = len(CHECKS)  # no rule of messages: what was deleted before a group got it, a table of its own
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
        offsets.select(*PLACE, "start", begin="delivered_begin", end="delivered_end")
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
    """One row per check of `CHECKS`: how many messages broke it, and the first place."""
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


LIST_SCHEMA = (
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
    """The first messages that broke a check; a run of offsets that nobody published is one row."""
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
    check, twice = pl.col("check"), {TWICE: "published", AGAIN: "first", FINISHED_TWICE: "finished"}
    broke = pl.any_horizontal(
        pl.col("bits").is_not_null(),
        *((check == one) & (pl.col(name) > 1) for one, name in twice.items()),
        (check == NEVER) & (pl.col("done") > 0) & (pl.col("delivered") == 0),
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


DELETED_SCHEMA = (
    "`group` STRING, topic STRING, partition INT, messages BIGINT, at_most BOOLEAN, first_offset BIGINT, "
    "last_offset BIGINT, cause STRING, first_ns BIGINT, last_ns BIGINT"
)


def deleted(audited: pl.DataFrame, control: pl.DataFrame) -> pl.DataFrame:
    """One row per group and partition: what the log lost before the group got it, from the first that it got on."""
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
