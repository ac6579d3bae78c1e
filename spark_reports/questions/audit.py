"""Was anything lost, delivered twice as if it were new, or finished twice? Message by message, by offset.

Offsets are bits: each place is cut into words of 64 offsets, and what happened to a range of offsets sets its bits.
A set bit is there once however often it is set, so sums less bits are duplicates, and bits that are missing are
losses: exact, in one pass, with a sixty-fourth of the rows left after it. (An exact sweep over the ends of all
ranges gave the same and cost three times the rest of the report at 10 million events.)
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from spark_reports.questions import order

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
_DONE = ("acknowledged", "dead_lettered")
_REMOVED = ("expired", "evicted", "purged")
_PLACE = ("group", "topic", "partition")
WORD = 64


def audit(words: DataFrame, late: DataFrame, control: DataFrame) -> DataFrame:
    """One row per check of `CHECKS`: how many messages broke it, and the first place where. `late` is `order.late`.

    `near_offset` begins the 64 offsets in which the first of them is. `explained` are those of groups whose offsets
    were reset, of topics where a user took something back, and skipped ones of topics that were trimmed or compacted.
    """
    worst = (
        broken_words(words, late, control)
        .groupBy("check")
        .agg(
            F.sum("messages").alias("messages"),
            F.sum(F.when(F.col("explained"), F.col("messages"))).alias("explained"),
            F.min(F.struct(*_PLACE, (F.col("word") * WORD).alias("near_offset"))).alias("place"),
        )
    )
    checks = words.sparkSession.createDataFrame(list(enumerate(CHECKS)), "number INT, name STRING")
    none = F.lit(0).cast("bigint")
    return (
        checks.join(F.broadcast(worst), F.col("number") == F.col("check"), "left")
        .orderBy("number")
        .select(
            F.col("name").alias("check"),
            F.coalesce("messages", none).alias("messages"),
            F.coalesce("explained", none).alias("explained"),
            (F.coalesce("messages", none) == F.coalesce("explained", none)).alias("ok"),
            *(F.col(f"place.{name}").alias(name) for name in (*_PLACE, "near_offset")),
        )
    )


def broken_words(words: DataFrame, late: DataFrame, control: DataFrame) -> DataFrame:
    """The words in which a check is broken: check (a number), messages, explained, place, word, and where given the
    offsets from `begin` up to `end` that the check is about.

    Where whole words of offsets are lost, one row stands for all of them.
    """
    own = F.col("group") == ""
    broken = F.array(
        _broken(TWICE, own, F.col("published_count") - F.bit_count("published")),
        _broken(AGAIN, ~own, F.col("first_count") - F.bit_count("first")),
        _broken(FINISHED_TWICE, ~own, F.col("finished_count") - F.bit_count("finished")),
        _broken(NEVER, ~own, F.bit_count(F.col("done").bitwiseAND(F.bitwise_not("delivered")))),
    )
    found = words.select(*_PLACE, "word", F.explode(broken).alias("broken"))
    anywhere = (F.lit(None).cast("bigint").alias("begin"), F.lit(None).cast("bigint").alias("end"))
    found = found.where("broken IS NOT NULL").select(*_PLACE, "word", "broken.check", "broken.messages", *anywhere)
    lost = _lost(words).select(*_PLACE, "word", F.lit(LOST).alias("check"), "messages", "begin", "end")
    skipped = _skipped(words).select(*_PLACE, "word", F.lit(SKIPPED).alias("check"), "messages", "begin", "end")
    behind = _reordered(words, late).select(
        *_PLACE, "word", F.lit(REORDERED).alias("check"), "messages", "begin", "end"
    )
    reset, trimmed = _excused(control)
    return (
        found.union(lost)
        .union(skipped)
        .union(behind)
        .join(reset, (F.col("group") == F.col("who")) | (F.col("topic") == F.col("who")), "left")
        .join(trimmed, (F.col("topic") == F.col("trimmed")) & (F.col("check") == SKIPPED), "left")
        .withColumn("explained", F.col("who").isNotNull() | F.col("trimmed").isNotNull())
        .drop("who", "trimmed")
    )


def _broken(check: int, where: Column, messages: Column) -> Column:
    found = F.struct(F.lit(check).alias("check"), messages.cast("bigint").alias("messages"))
    return F.when(where & (messages > 0), found)


def _masked(bits: Column, begin: str, end: str) -> Column:
    """`bits` of the word, those from offset `begin` up to `end` only."""
    low = F.expr(f"shiftleft(CAST(-1 AS BIGINT), CAST(least(greatest({begin} - word * {WORD}, 0), {WORD - 1}) AS INT))")
    high = F.expr(f"shiftrightunsigned(CAST(-1 AS BIGINT), CAST(greatest(word * {WORD} + {WORD} - {end}, 0) AS INT))")
    return bits.bitwiseAND(low).bitwiseAND(high)


def _lost(words: DataFrame) -> DataFrame:
    """Offsets between the first and the last one of a partition that were never published, by word."""
    place = Window.partitionBy(*_PLACE)
    placed = words.where((F.col("group") == "") & (F.col("published") != 0)).select(
        *_PLACE,
        "word",
        "published",
        F.min("first_offset").over(place).alias("begin"),
        F.max("end_offset").over(place).alias("end"),
        F.lag("word").over(place.orderBy("word")).alias("previous"),
    )
    inside = placed.select(
        *(*_PLACE, "word", "begin", "end"),
        F.bit_count(_masked(F.bitwise_not("published"), "begin", "end")).cast("bigint").alias("messages"),
    )
    between = placed.where(F.col("word") - F.col("previous") > 1).select(
        *(*_PLACE, (F.col("previous") + 1).alias("word"), "begin", "end"),
        ((F.col("word") - F.col("previous") - 1) * WORD).alias("messages"),
    )
    return inside.union(between).where(F.col("messages") > 0)


def _skipped(words: DataFrame) -> DataFrame:
    """Published offsets that a group never got, though it got others before and behind them, by word."""
    log = words.where((F.col("group") == "") & (F.col("published") != 0)).select(
        "topic", "partition", "word", "published"
    )
    theirs = words.where(F.col("group") != "")
    reach = (
        theirs.where("first_delivered IS NOT NULL")
        .groupBy(*_PLACE)
        .agg(F.min("first_delivered").alias("begin"), F.max("end_delivered").alias("end"))
    )
    got = theirs.select(*_PLACE, "word", F.col("delivered").bitwiseOR(F.col("finished")).alias("got"))
    missed = F.col("published").bitwiseAND(F.bitwise_not(F.coalesce("got", F.lit(0).cast("bigint"))))
    return (
        log.join(F.broadcast(reach), ["topic", "partition"])
        .where(f"word * {WORD} + {WORD} > begin AND word * {WORD} < end")
        .join(got, [*_PLACE, "word"], "left")
        .select(
            *(*_PLACE, "word", "begin", "end"),
            F.bit_count(_masked(missed, "begin", "end")).cast("bigint").alias("messages"),
        )
        .where(F.col("messages") > 0)
    )


def _reordered(words: DataFrame, late: DataFrame) -> DataFrame:
    """First deliveries behind a later one, by word. Where the same word has one that came twice as the first,
    that is what is wrong, and told.
    """
    word = F.explode(F.sequence(F.floor(F.col("begin") / WORD), F.floor((F.col("end") - 1) / WORD)))
    once = words.where("first_count > 0 AND first_count = bit_count(first)").select(*_PLACE, "word", order.place())
    length = F.least("end", (F.col("word") + 1) * WORD) - F.greatest("begin", F.col("word") * WORD)
    return (
        late.select("*", word.alias("word"))
        .join(once, ["place", "word"])
        .select(*_PLACE, "word", "begin", "end", length.cast("bigint").alias("messages"))
    )


def words(messages: DataFrame) -> DataFrame:
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

    def told(name: str, where: Column) -> Column:
        return F.coalesce(F.bit_or(F.when(where, F.col("bits"))), F.lit(0)).cast("bigint").alias(name)

    def counted(name: str, where: Column) -> Column:
        return F.coalesce(F.sum(F.when(where, F.col("length"))), F.lit(0)).alias(f"{name}_count")

    delivered = kind == "delivered"
    first = delivered & (F.coalesce("attempt", F.lit(1)) == 1)
    return spread.groupBy(*_PLACE, "word").agg(
        *(make("published", kind == "published") for make in (told, counted)),
        *(make("first", first) for make in (told, counted)),
        told("delivered", delivered),
        told("done", kind.isin(*_DONE)),
        *(make("finished", kind.isin(*_DONE, *_REMOVED)) for make in (told, counted)),
        F.min("at").alias("first_offset"),
        F.max(end).alias("end_offset"),
        F.min(F.when(delivered, F.col("at"))).alias("first_delivered"),
        F.max(F.when(delivered, end)).alias("end_delivered"),
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


def _excused(control: DataFrame) -> tuple[DataFrame, DataFrame]:
    """Groups whose offsets were reset and topics where a user's action brought messages back; topics that were
    trimmed.
    """
    reset = control.where(F.col("kind") == "offsets_reset").select(F.col("group").alias("who"))
    undone = control.where((F.col("kind") == "user_action") & (F.col("count") > 0)).select(F.col("topic").alias("who"))
    compacted = F.col("kind").isin("topic_created", "user_action") & F.col("detail").contains('"compact"')
    trimmed = control.where(F.col("kind").isin("records_deleted", "damage") | compacted).select(
        F.col("topic").alias("trimmed")
    )
    return (
        F.broadcast(reset.union(undone).where("who <> ''").distinct()),
        F.broadcast(trimmed.where("trimmed <> ''").distinct()),
    )
