"""The messages that broke a rule of the audit, one by one, each with all that happened to it."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_reports.questions.audit import (
    AGAIN,
    CHECKS,
    FINISHED_TWICE,
    LOST,
    NEVER,
    REORDERED,
    SKIPPED,
    TWICE,
    WORD,
    broken_words,
)
from spark_reports.questions.keys import key_text

SCHEMA = (
    "check STRING, `group` STRING, topic STRING, partition INT, offset BIGINT, messages BIGINT, explained BOOLEAN, "
    "`key` STRING, published_ns BIGINT, happened_ns BIGINT, story STRING"
)
LISTED = 500
SUSPECTS = 200  # words of 64 offsets that are looked at
_PLACE = ("group", "topic", "partition")


def audit_list(
    words: DataFrame, late: DataFrame, messages: DataFrame, control: DataFrame, limit: int = LISTED
) -> DataFrame:
    """The first `limit` messages that broke a check. `story` tells in order what happened to the message in the group.

    `happened_ns` is when it broke the rule, where an event did. A run of offsets that nobody published at all
    is one row of so many `messages`.
    """
    broken = broken_words(words, late, control)
    suspects = broken.orderBy("check", *_PLACE, "word").limit(SUSPECTS)
    runs = suspects.where((F.col("check") == LOST) & (F.col("messages") > WORD))
    told = _told(messages, suspects.where(~((F.col("check") == LOST) & (F.col("messages") > WORD))))
    none = F.lit(None)
    whole_runs = runs.select(
        *("check", *_PLACE, (F.col("word") * WORD).alias("offset"), "messages", "explained"),
        *(none.cast("string").alias("key"), none.cast("bigint").alias("published_ns")),
        *(none.cast("bigint").alias("happened_ns"), F.lit("").alias("story")),
    )
    names = F.array(*(F.lit(name) for name in CHECKS))
    return (
        told.union(whole_runs)
        .orderBy("check", *_PLACE, "offset")
        .limit(limit)
        .withColumn("check", names[F.col("check")])
    )


def _told(messages: DataFrame, suspects: DataFrame) -> DataFrame:
    """Every offset of the suspected words that broke its check."""
    offset = F.explode(F.sequence(F.col("word") * WORD, F.col("word") * WORD + (WORD - 1))).alias("offset")
    each = (
        suspects.select(*_PLACE, "check", "explained", "begin", "end", offset)
        .where("begin IS NULL OR offset >= begin AND offset < end")
        .drop("begin", "end")
    )
    happened = _happened(messages, suspects)
    kind, first = F.col("kind"), F.coalesce("attempt", F.lit(1)) == 1
    finished = kind.isin("acknowledged", "dead_lettered", "expired", "evicted", "purged")
    counted = happened.groupBy(*_PLACE, "check", "offset").agg(
        F.count_if((kind == "published") & F.col("own")).alias("published"),
        F.count_if((kind == "delivered") & first).alias("first"),
        F.count_if(kind == "delivered").alias("delivered"),
        F.count_if(kind.isin("acknowledged", "dead_lettered")).alias("done"),
        F.count_if(finished).alias("finished"),
        F.min(F.when(kind == "published", F.col("time_ns"))).alias("published_ns"),
        F.max(F.when(kind != "published", F.col("time_ns"))).alias("happened_ns"),
        F.first(key_text("key"), ignorenulls=True).alias("key"),
        F.sort_array(F.collect_list(F.struct("seq", "time_ns", "kind", "client", "attempt"))).alias("events"),
    )
    step = F.transform(
        "events",
        lambda event: F.concat_ws(
            " ",
            F.replace(event.kind, F.lit("_"), F.lit(" ")),
            F.when(event.kind == "delivered", F.concat(F.lit("to "), event.client)).when(
                event.client != "", F.concat(F.lit("by "), event.client)
            ),
            F.when(event.attempt > 1, F.concat(F.lit("attempt "), event.attempt)),
            F.format_string("at %.3f s", event.time_ns / F.lit(1e9)),
        ),
    )
    zero = F.lit(0)
    joined = each.join(counted, [*_PLACE, "check", "offset"], "left")
    count = {name: F.coalesce(name, zero) for name in ("published", "first", "delivered", "done", "finished")}
    broke = (
        F.when(F.col("check") == TWICE, count["published"] > 1)
        .when(F.col("check") == AGAIN, count["first"] > 1)
        .when(F.col("check") == FINISHED_TWICE, count["finished"] > 1)
        .when(F.col("check") == NEVER, (count["done"] > 0) & (count["delivered"] == 0))
        .when(F.col("check") == REORDERED, count["first"] > 0)
        .when(F.col("check") == SKIPPED, (count["published"] > 0) & (count["delivered"] + count["finished"] == 0))
        .otherwise(count["published"] == 0)
    )
    return joined.where(broke).select(
        *("check", *_PLACE, "offset", F.lit(1).cast("bigint").alias("messages"), "explained", "key", "published_ns"),
        *("happened_ns", F.coalesce(F.array_join(step, "; "), F.lit("")).alias("story")),
    )


def _happened(messages: DataFrame, suspects: DataFrame) -> DataFrame:
    """Every event about an offset of a suspected word, in the log (`own`) or in the suspected group."""
    seen = messages.where(F.col("kind").isin(*_KINDS) & F.col("offset").isNotNull() & (F.col("count") > 0)).select(
        *("seq", "time_ns", "kind", "client", "attempt", "key", F.col("group").alias("who"), "topic", "partition"),
        *("offset", "count", (F.col("kind") == "published").alias("own")),
    )
    appended = messages.where(F.col("to_offset").isNotNull() & (F.col("count") > 0)).select(
        *(
            "seq",
            "time_ns",
            F.lit("published").alias("kind"),
            "client",
            F.lit(None).cast("int").alias("attempt"),
            "key",
        ),
        *(F.lit("").alias("who"), F.col("to_topic").alias("topic"), F.col("to_partition").alias("partition")),
        *(F.col("to_offset").alias("offset"), "count", F.lit(True).alias("own")),
    )
    last = F.col("offset") + F.col("count") - 1
    places = suspects.select(*_PLACE, "check", "word").distinct()
    spread = seen.union(appended).withColumn(
        "word", F.explode(F.sequence(F.floor(F.col("offset") / WORD), F.floor(last / WORD)))
    )
    begin, end = F.greatest("offset", F.col("word") * WORD), F.least(last, F.col("word") * WORD + (WORD - 1))
    return (
        spread.join(F.broadcast(places), ["topic", "partition", "word"])
        .where(F.col("own") | (F.col("who") == F.col("group")))
        .select(
            *(*_PLACE, "check", F.explode(F.sequence(begin, end)).alias("offset")),
            *("seq", "time_ns", "kind", "client", "attempt", "key", "own"),
        )
    )


_KINDS = (
    *("published", "delivered", "acknowledged", "nacked", "released", "lease_expired", "dead_lettered", "expired"),
    *("evicted", "purged"),
)
