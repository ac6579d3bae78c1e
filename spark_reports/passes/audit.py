"""Was anything lost, delivered twice as if it were new, or finished twice? Message by message, by offset.

Offsets are bits: each place is cut into words of 64 offsets, and what happened to a range of offsets sets its bits.
A set bit is there once however often it is set, so sums less bits are duplicates, and bits that are missing are
losses: exact, in one pass, with a sixty-fourth of the rows left after it. (An exact sweep over the ends of all
ranges gave the same and cost three times the rest of the report at 10 million events.)
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from spark_reports.passes.counts import key_text
from spark_reports.tables.audit import (
    AGAIN,
    DELETED,
    FINISHED_TWICE,
    LOST,
    NEVER,
    REORDERED,
    SKIPPED,
    SUSPECTS,
    TWICE,
    WORD,
)
from spark_reports.tables.details import PLACE

_DONE = ("acknowledged", "dead_lettered")
_REMOVED = ("expired", "evicted", "purged")
_COUNTED = ("published", "first", "finished")
_SPANNED = ("published", "delivered", "finished")


def offsets(messages: DataFrame) -> DataFrame:
    """Per place how many offsets were `published`, delivered as the `first` attempt, `delivered`, `finished`, `got`
    (either), `never` delivered though done, and `late`; with `_count` how often; and the bounds of what was published,
    delivered and finished. Without markers of transactions. Bound: the places, each of a group or the log.
    """
    bits = {
        **{name: F.col(name) for name in ("published", "first", "delivered", "finished", "late")},
        "got": F.col("delivered").bitwiseOR(F.col("finished")),
        "never": F.col("done").bitwiseAND(F.bitwise_not("delivered")),
    }
    return (
        words(messages)
        .groupBy(*PLACE)
        .agg(
            *(F.sum(F.bit_count(each)).alias(name) for name, each in bits.items()),
            *(F.sum(f"{name}_count").alias(f"{name}_count") for name in _COUNTED),
            *(F.min(f"{name}_begin").alias(f"{name}_begin") for name in _SPANNED),
            *(F.max(f"{name}_end").alias(f"{name}_end") for name in _SPANNED),
        )
    )


def broken(messages: DataFrame, reach: DataFrame | None, passed: DataFrame | None = None) -> DataFrame:
    """The words that break a check: how many `messages`, which of the 64 (`bits`, if known), `lowest` and `highest`
    offset; a run of lost words is one row. `reach` has, by topic and partition, `start` and `readers` (group, begin,
    end): what each should have got; None if nothing was delivered. `passed` are ranges that nobody misses, None if
    there are none. Bound: `SUSPECTS` words of each check; the others are one row a check and place, whose word is null.
    """
    found = _judged(_expected(words(messages, passed), reach))
    order = Window.partitionBy("check").orderBy(*PLACE, "word")
    listed = F.when(F.row_number().over(order) <= SUSPECTS, F.col("word"))
    return (
        found.withColumn("listed", listed)
        .groupBy("check", *PLACE, "listed")
        .agg(
            *(F.sum("messages").alias("messages"), F.min("word").alias("word"), F.max("bits").alias("bits")),
            *(F.min("lowest").alias("lowest"), F.max("highest").alias("highest")),
        )
    )


def _expected(words: DataFrame, reach: DataFrame | None) -> DataFrame:
    """The words, each of the log also as one of every group that read there: what it could have got."""
    if reach is None:
        none = F.lit(None).cast("bigint")
        return words.select("*", *(none.alias(name) for name in ("log", "start", "begin", "end")))
    itself = F.struct(
        F.col("group"), F.lit(None).cast("bigint").alias("begin"), F.lit(None).cast("bigint").alias("end")
    )
    is_log = (F.col("group") == "") & (F.col("published") != 0)
    readers = F.when(is_log & F.col("readers").isNotNull(), F.concat(F.array(itself), F.col("readers")))
    each = words.join(F.broadcast(reach), ["topic", "partition"], "left").select(
        *words.columns, "start", F.explode(F.coalesce(readers, F.array(itself))).alias("reader")
    )
    own = F.col("reader.begin").isNull()
    facts = [name for name in words.columns if name not in (*PLACE, "word")]
    return each.groupBy(F.col("reader.group").alias("group"), "topic", "partition", "word").agg(
        *(F.max(F.when(own, F.col(name))).alias(name) for name in facts),
        F.max(F.when(~own, F.col("published").bitwiseAND(F.bitwise_not("marker")))).alias("log"),
        F.max("start").alias("start"),
        F.max("reader.begin").alias("begin"),
        F.max("reader.end").alias("end"),
    )


def _judged(words: DataFrame) -> DataFrame:
    """Broken rules in each word, one row per check, and a row for each run of words that a log lacks in between."""
    place = Window.partitionBy(*PLACE)
    placed = words.select(
        "*",
        F.min("published_begin").over(place).alias("from"),
        F.max("published_end").over(place).alias("upto"),
        F.lag("word").over(place.orderBy("word")).alias("previous"),
        F.greatest("begin", "start").alias("went_on"),
    )
    log, none = F.col("group") == "", F.lit(0).cast("bigint")
    there = log & (F.col("published") != 0)
    lost = _masked(F.bitwise_not(F.col("published").bitwiseOR(F.col("marker"))), "from", "upto")
    got = none
    for name in ("delivered", "finished", "marker"):
        got = got.bitwiseOR(F.coalesce(name, none))
    missed = F.col("log").bitwiseAND(F.bitwise_not(got))
    deleted, skipped = _between(missed, "begin", "start"), _between(missed, "went_on", "end")
    never = F.col("done").bitwiseAND(F.bitwise_not("delivered"))
    gap = (F.col("word") - F.col("previous") - 1) * WORD
    once = F.col("first_count") == F.bit_count("first")
    checks = F.array(
        _broken(LOST, there, F.bit_count(lost), bits=lost),
        _broken(LOST, there, gap, word=F.col("previous") + 1),
        _broken(TWICE, log, F.col("published_count") - F.bit_count("published")),
        _broken(AGAIN, ~log, F.col("first_count") - F.bit_count("first")),
        _broken(FINISHED_TWICE, ~log, F.col("finished_count") - F.bit_count("finished")),
        _broken(NEVER, ~log, F.bit_count(never), bits=never),
        _broken(SKIPPED, ~log, F.bit_count(skipped), bits=skipped),
        _broken(DELETED, ~log, F.bit_count(deleted), bits=deleted),
        _broken(REORDERED, ~log & once, F.bit_count("late"), bits=F.col("late")),
    )
    found = placed.select(*PLACE, F.explode(checks).alias("broken")).where("broken IS NOT NULL")
    return found.select(
        *PLACE, *(f"broken.{name}" for name in ("check", "word", "messages", "bits", "lowest", "highest"))
    )


def _broken(
    check: int, where: Column, messages: Column, bits: Column | None = None, word: Column | None = None
) -> Column:
    word, bits = F.col("word") if word is None else word, F.lit(None).cast("bigint") if bits is None else bits
    digits = F.bin(bits)
    found = F.struct(
        F.lit(check).alias("check"),
        word.cast("bigint").alias("word"),
        messages.cast("bigint").alias("messages"),
        bits.cast("bigint").alias("bits"),
        (word * WORD + F.locate("1", F.reverse(digits)) - 1).cast("bigint").alias("lowest"),
        (word * WORD + F.length(digits) - 1).cast("bigint").alias("highest"),
    )
    return F.when(where & (messages > 0), found)


def _masked(bits: Column, begin: str, end: str) -> Column:
    """`bits` of the word, those from offset `begin` up to `end` only."""
    low = F.expr(
        f"shiftleft(CAST(-1 AS BIGINT), CAST(least(greatest(`{begin}` - word * {WORD}, 0), {WORD - 1}) AS INT))"
    )
    high = F.expr(f"shiftrightunsigned(CAST(-1 AS BIGINT), CAST(greatest(word * {WORD} + {WORD} - `{end}`, 0) AS INT))")
    return bits.bitwiseAND(low).bitwiseAND(high)


def _between(bits: Column, begin: str, end: str) -> Column:
    """The same, null in words that lie outside."""
    near = (F.col("word") * WORD + WORD > F.col(begin)) & (F.col("word") * WORD < F.col(end))
    return F.when(near, _masked(bits, begin, end))


def words(messages: DataFrame, passed: DataFrame | None = None) -> DataFrame:
    """Per place and word of 64 offsets: bits and counts of what happened; group "" is the log. On the executors."""
    kind, end = F.col("kind"), F.col("at") + F.col("count")
    first_word, last_word = F.floor(F.col("at") / WORD), F.floor((end - 1) / WORD)
    word = F.explode(F.when(first_word == last_word, F.array(first_word)).otherwise(F.sequence(first_word, last_word)))
    low = F.greatest(F.col("at") - F.col("word") * WORD, F.lit(0))
    high = F.least(end - F.col("word") * WORD, F.lit(WORD))
    bits = F.expr(f"shiftleft(shiftrightunsigned(CAST(-1 AS BIGINT), CAST({WORD} - length AS INT)), CAST(low AS INT))")
    spread = (
        _ranges(messages, passed)
        .select("*", word.alias("word"))
        .select("*", low.alias("low"), (high - low).alias("length"))
        .select("*", bits.alias("bits"))
    )

    delivered, published = kind == "delivered", kind == "published"
    # What sets a bit is found out once a row: aggregates that ask for themselves cost three times as much.
    sets = {
        "published": published,
        "first": delivered & (F.col("attempt") == 1),
        "delivered": delivered,
        "done": kind.isin(*_DONE),
        "finished": kind.isin(*_DONE, *_REMOVED),
        "late": kind == "late",
        "marker": kind == "marker",
    }
    none = F.lit(0).cast("bigint")
    told = spread.select(
        *(*PLACE, "word", "at", end.alias("end")),
        *(F.when(where, F.col("bits")).alias(name) for name, where in sets.items()),
    )
    return told.groupBy(*PLACE, "word").agg(
        *(F.coalesce(F.bit_or(name), none).alias(name) for name in sets),
        *(F.coalesce(F.sum(F.bit_count(name)), none).alias(f"{name}_count") for name in _COUNTED),
        *(F.min(F.when(F.col(name).isNotNull(), F.col("at"))).alias(f"{name}_begin") for name in _SPANNED),
        *(F.max(F.when(F.col(name).isNotNull(), F.col("end"))).alias(f"{name}_end") for name in _SPANNED),
    )


def _ranges(messages: DataFrame, passed: DataFrame | None) -> DataFrame:
    """The ranges of offsets that events are about. A dead letter in its bin and a redriven message of a queue, which
    have no event of their own, count as published. What came behind a later one is also of the kind "late".
    """
    kind = F.col("kind")
    relevant = kind.isin("published", "delivered", *_DONE, *_REMOVED) & F.col("offset").isNotNull()
    here = messages.where(relevant & (F.col("count") > 0)).select(
        F.when(kind == "published", F.lit("")).otherwise(F.col("group")).alias("group"),
        *("topic", "partition", F.col("offset").alias("at"), "count", "kind", "attempt"),
    )
    no_attempt = F.lit(None).cast("int").alias("attempt")
    there = messages.where(F.col("to_offset").isNotNull() & (F.col("count") > 0) & ~published_again()).select(
        F.lit("").alias("group"),
        F.col("to_topic").alias("topic"),
        F.col("to_partition").alias("partition"),
        F.col("to_offset").alias("at"),
        *("count", F.lit("published").alias("kind"), no_attempt),
    )
    behind = _late(messages).select(*PLACE, "at", "count", F.lit("late").alias("kind"), no_attempt)
    found = here.union(there).union(behind)
    if passed is None:
        return found
    return found.union(passed.select(*PLACE, "at", "count", F.lit("marker").alias("kind"), no_attempt))


def published_again() -> Column:
    """Whether an event is the redrive of a subscription or share group, which publishes to their topic once more."""
    return (F.col("kind") == "redriven") & ~F.col("group").isin("", F.col("to_topic"))


def _late(messages: DataFrame) -> DataFrame:
    """The parts of first deliveries that came behind a later one: group, topic, partition, `at`, `count`. Sorted by a
    hash of the place, which halves the cost; a collision (once in 2^64) would look out of order. On the executors.
    """
    first = (F.col("kind") == "delivered") & (F.col("attempt") == 1)
    before = Window.partitionBy("place").orderBy("seq").rowsBetween(Window.unboundedPreceding, -1)
    end = F.col("offset") + F.col("count")
    return (
        messages.where(first & F.col("offset").isNotNull() & (F.col("count") > 0))
        .select(
            *("group", "topic", "partition", "seq", F.col("offset").alias("at"), end.alias("end")),
            F.xxhash64("group", "topic", "partition").alias("place"),
        )
        .withColumn("reached", F.max("end").over(before))
        .where("at < reached")
        .select(*("group", "topic", "partition", "at"), (F.least("end", "reached") - F.col("at")).alias("count"))
    )


MOST_HAPPENED = 200_000
_STORY = (
    *("published", "delivered", "acknowledged", "nacked", "released", "lease_expired", "dead_lettered", "expired"),
    *("evicted", "purged"),
)


def happened(messages: DataFrame, suspects: DataFrame) -> DataFrame:
    """Every event about an offset of a word in `suspects`, in the log (`own`) or in that group; `begin` and `last` are
    the word's offsets. Bound: the first `MOST_HAPPENED` events, and one that says there are more.
    """
    shared, counted = ("seq", "time_ns", "client", "key", "count"), F.col("count") > 0
    seen = messages.where(F.col("kind").isin(*_STORY) & F.col("offset").isNotNull() & counted).select(
        *(*shared, "kind", "attempt", F.col("group").alias("who"), "topic", "partition", "offset"),
        (F.col("kind") == "published").alias("own"),
    )
    appended = messages.where(F.col("to_offset").isNotNull() & counted & ~published_again()).select(
        *(*shared, F.lit("published").alias("kind"), F.lit(None).cast("int").alias("attempt"), F.lit("").alias("who")),
        *(F.col(f"to_{name}").alias(name) for name in ("topic", "partition", "offset")),
        F.lit(True).alias("own"),
    )
    last = F.col("offset") + F.col("count") - 1
    spread = seen.union(appended).withColumn(
        "word", F.explode(F.sequence(F.floor(F.col("offset") / WORD), F.floor(last / WORD)))
    )
    return (
        spread.join(F.broadcast(suspects), ["topic", "partition", "word"])
        .where(F.col("own") | (F.col("who") == F.col("group")))
        .select(
            *(*PLACE, "check"),
            F.greatest("offset", F.col("word") * WORD).alias("begin"),
            F.least(last, F.col("word") * WORD + (WORD - 1)).alias("last"),
            *("seq", "time_ns", "kind", "client", "attempt", key_text("key").alias("key"), "own"),
        )
        .orderBy("seq")
        .limit(MOST_HAPPENED + 1)
    )
