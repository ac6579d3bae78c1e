"""Was anything lost, delivered twice as if it were new, or finished twice? Message by message, by offset.

Offsets are bits: each place is cut into words of 64 offsets, and what happened to a range of offsets sets its bits.
A set bit is there once however often it is set, so sums less bits are duplicates, and bits that are missing are
losses: exact, in one pass, with a sixty-fourth of the rows left after it. (An exact sweep over the ends of all
ranges gave the same and cost three times the rest of the report at 10 million events.)
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

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
)
_DONE = ("acknowledged", "dead_lettered")
_REMOVED = ("expired", "evicted", "purged")
_PLACE = ("group", "topic", "partition")
WORD = 64


def audit(messages: DataFrame, control: DataFrame) -> DataFrame:
    """One row per check of `CHECKS`: how many messages broke it, and the first place where.

    `near_offset` begins the 64 offsets in which the first of them is. `explained` are those of groups whose offsets
    were reset, or of topics where a user took something back.
    """
    words = _words(messages)
    own = F.col("group") == ""
    broken = F.array(
        _broken(1, own, F.col("published_count") - F.bit_count("published")),
        _broken(2, ~own, F.col("first_count") - F.bit_count("first")),
        _broken(3, ~own, F.col("finished_count") - F.bit_count("finished")),
        _broken(4, ~own, F.bit_count(F.col("done").bitwiseAND(F.bitwise_not("delivered")))),
    )
    found = words.select(*_PLACE, (F.col("word") * WORD).alias("near_offset"), F.explode(broken).alias("broken"))
    found = found.where("broken IS NOT NULL").select(*_PLACE, "near_offset", "broken.check", "broken.messages")
    marked = found.union(_lost(words)).join(
        _excused(control), (F.col("group") == F.col("who")) | (F.col("topic") == F.col("who")), "left"
    )
    worst = marked.groupBy("check").agg(
        F.sum("messages").alias("messages"),
        F.sum(F.when(F.col("who").isNotNull(), F.col("messages"))).alias("explained"),
        F.min(F.struct(*_PLACE, "near_offset")).alias("place"),
    )
    checks = messages.sparkSession.createDataFrame(list(enumerate(CHECKS)), "number INT, check STRING")
    none = F.lit(0).cast("bigint")
    return (
        checks.join(F.broadcast(worst), "check", "left")
        .orderBy("number")
        .select(
            "check",
            F.coalesce("messages", none).alias("messages"),
            F.coalesce("explained", none).alias("explained"),
            (F.coalesce("messages", none) == F.coalesce("explained", none)).alias("ok"),
            *(F.col(f"place.{name}").alias(name) for name in (*_PLACE, "near_offset")),
        )
    )


def _broken(check: int, where: Column, messages: Column) -> Column:
    found = F.struct(F.lit(CHECKS[check]).alias("check"), messages.cast("bigint").alias("messages"))
    return F.when(where & (messages > 0), found)


def _lost(words: DataFrame) -> DataFrame:
    """Offsets between the first and the last one of a partition that were never published."""
    return (
        words.where((F.col("group") == "") & (F.col("published") != 0))
        .groupBy(*_PLACE)
        .agg(
            F.min("first_offset").alias("near_offset"),
            F.max("end_offset").alias("end"),
            F.sum(F.bit_count("published")).alias("there"),
            # The first word that is not full, but for the last one, is where to look.
            F.min(F.when(F.col("published") != -1, F.col("word") * WORD)).alias("gap"),
        )
        .where(F.col("end") - F.col("near_offset") > F.col("there"))
        .select(
            *_PLACE,
            F.coalesce("gap", "near_offset").alias("near_offset"),
            F.lit(CHECKS[0]).alias("check"),
            (F.col("end") - F.col("near_offset") - F.col("there")).cast("bigint").alias("messages"),
        )
    )


def _words(messages: DataFrame) -> DataFrame:
    """Per place and word of 64 offsets: the bits and the counts of what happened to them. Group "" "
    "is the log itself."""
    kind, end = F.col("kind"), F.col("at") + F.col("count")
    first_word, last_word = F.floor(F.col("at") / WORD), F.floor((end - 1) / WORD)
    word = F.explode(F.when(first_word == last_word, F.array(first_word)).otherwise(F.sequence(first_word, last_word)))
    low = F.greatest(F.col("at") - F.col("word") * WORD, F.lit(0))
    high = F.least(end - F.col("word") * WORD, F.lit(WORD))
    bits = F.expr(f"shiftleft(shiftrightunsigned(CAST(-1 AS BIGINT), CAST({WORD} - length AS INT)), CAST(low AS INT))")
    spread = (
        _ranges(messages)
        .select("*", word.alias("word"))
        .select("*", low.alias("low"), (high - low).alias("length"))
        .select("*", bits.alias("bits"))
    )

    def told(name: str, where: Column) -> list[Column]:
        return [
            F.coalesce(F.bit_or(F.when(where, F.col("bits"))), F.lit(0)).cast("bigint").alias(name),
            F.coalesce(F.sum(F.when(where, F.col("length"))), F.lit(0)).alias(f"{name}_count"),
        ]

    delivered = kind == "delivered"
    return spread.groupBy(*_PLACE, "word").agg(
        *told("published", kind == "published"),
        *told("first", delivered & (F.coalesce("attempt", F.lit(1)) == 1)),
        *told("delivered", delivered),
        *told("done", kind.isin(*_DONE)),
        *told("finished", kind.isin(*_DONE, *_REMOVED)),
        F.min("at").alias("first_offset"),
        F.max(end).alias("end_offset"),
    )


def _ranges(messages: DataFrame) -> DataFrame:
    """The ranges of offsets that events are about. Appends that have no event of their own count as published:
    a dead letter in its bin, a redriven one in its origin.
    """
    kind = F.col("kind")
    relevant = kind.isin("published", "delivered", *_DONE, *_REMOVED) & F.col("offset").isNotNull()
    here = messages.where(relevant & (F.col("count") > 0)).select(
        F.when(kind == "published", F.lit("")).otherwise(F.col("group")).alias("group"),
        *("topic", "partition", F.col("offset").alias("at"), "count", "kind", "attempt"),
    )
    there = messages.where(F.col("to_offset").isNotNull() & (F.col("count") > 0)).select(
        F.lit("").alias("group"),
        F.col("to_topic").alias("topic"),
        F.col("to_partition").alias("partition"),
        F.col("to_offset").alias("at"),
        *("count", F.lit("published").alias("kind"), F.lit(None).cast("int").alias("attempt")),
    )
    return here.union(there)


def _excused(control: DataFrame) -> DataFrame:
    """Groups whose offsets were reset, and topics where a user's action brought messages back."""
    reset = control.where(F.col("kind") == "offsets_reset").select(F.col("group").alias("who"))
    undone = control.where((F.col("kind") == "user_action") & (F.col("count") > 0)).select(F.col("topic").alias("who"))
    return F.broadcast(reset.union(undone).where("who <> ''").distinct())
