"""Which messages died, of what, and what became of those that were redriven?"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from spark_reports.questions.keys import key_text
from spark_reports.scale import Scale

_RESULTS = "dead_lettered BIGINT, redriven BIGINT, recovered BIGINT, died_again BIGINT, waiting BIGINT"
SCHEMA = f"`group` STRING, cause STRING, {_RESULTS}, first_ns BIGINT, last_ns BIGINT"
KEYS_SCHEMA = f"`group` STRING, `key` STRING, {_RESULTS}, cause STRING, first_ns BIGINT"
LIST_SCHEMA = (
    "time_ns BIGINT, `group` STRING, topic STRING, partition INT, offset BIGINT, `key` STRING, cause STRING, "
    "attempt INT, published_ns BIGINT, bin STRING, bin_offset BIGINT, redriven_ns BIGINT, fate STRING, fate_ns BIGINT"
)
LISTED = 500
TOP_KEYS = 50
WORD = 64
RECOVERED, DIED_AGAIN, WAITING = "acknowledged", "died again", "waiting"


def dead_letter_list(dead: DataFrame, limit: int = LISTED) -> DataFrame:
    """The first `limit` dead letters, one row a message, in the order in which they died.

    `bin` and `bin_offset` are its place among the dead letters, `redriven_ns` when it was first sent back, if
    ever. `fate` is what became of it then: acknowledged, died again or waiting.
    """
    return dead.orderBy("seq", "offset").limit(limit).drop("seq", "bin_partition")


def dead_letters(dead: DataFrame) -> DataFrame:
    """One row per group or queue and cause."""
    return (
        dead.groupBy("group", "cause")
        .agg(*_results(), F.min("time_ns").alias("first_ns"), F.max("time_ns").alias("last_ns"))
        .orderBy(F.desc("dead_lettered"), "group", "cause")
    )


def dead_letter_keys(dead: DataFrame, top: int = TOP_KEYS) -> DataFrame:
    """The `top` keys that died most often, per group or queue; `cause` is that of the first. Messages without a key
    are one row.
    """
    return (
        dead.groupBy("group", "key")
        .agg(
            *_results(), F.min_by("cause", F.struct("seq", "offset")).alias("cause"), F.min("time_ns").alias("first_ns")
        )
        .orderBy(F.desc("dead_lettered"), "group", F.asc_nulls_first("key"))
        .limit(top)
    )


def _results() -> list[Column]:
    return [
        F.count("*").alias("dead_lettered"),
        F.count("redriven_ns").alias("redriven"),
        *(
            F.count_if(F.col("fate") == fate).alias(name)
            for fate, name in ((RECOVERED, "recovered"), (DIED_AGAIN, "died_again"), (WAITING, "waiting"))
        ),
    ]


def dead(messages: DataFrame, scale: Scale) -> DataFrame:
    """One row per message that died in `scale`, with the time of its first redrive and what came of it."""
    step = F.explode(F.sequence(F.lit(0).cast("bigint"), F.col("count") - 1)).alias("step")
    died = (
        messages.where((F.col("kind") == "dead_lettered") & (F.col("count") > 0) & (F.col("time_ns") >= scale.from_ns))
        .select("*", step)
        .select(
            *("seq", "time_ns", "group", "topic", "partition"),
            (F.col("offset") + F.col("step")).alias("offset"),
            key_text("key").alias("key"),
            *("cause", "attempt", "published_ns"),
            F.col("to_topic").alias("bin"),
            F.coalesce("to_partition", F.lit(0)).alias("bin_partition"),
            (F.col("to_offset") + F.col("step")).alias("bin_offset"),
        )
    )
    redriven = (
        messages.where((F.col("kind") == "redriven") & (F.col("count") > 0))
        .select("*", step)
        .groupBy(
            F.col("topic").alias("bin"),
            F.coalesce("partition", F.lit(0)).alias("bin_partition"),
            (F.col("offset") + F.col("step")).alias("bin_offset"),
        )
        .agg(
            F.min("time_ns").alias("redriven_ns"),
            F.min_by(
                F.struct("to_topic", "to_partition", (F.col("to_offset") + F.col("step")).alias("to_offset")), "seq"
            ).alias("to"),
        )
        .select(
            *("bin", "bin_partition", "bin_offset", "redriven_ns"),
            F.col("to.to_topic").alias("to_topic"),
            F.coalesce("to.to_partition", F.lit(0)).alias("to_partition"),
            F.col("to.to_offset").alias("to_offset"),
        )
    )
    fates = _fates(messages, redriven)
    back = redriven.join(F.broadcast(fates), ["to_topic", "to_partition", "to_offset"], "left").select(
        *("bin", "bin_partition", "bin_offset", "redriven_ns", "fate_ns"),
        F.coalesce("fate", F.lit(WAITING)).alias("fate"),
    )
    return died.join(F.broadcast(back), ["bin", "bin_partition", "bin_offset"], "left").select(
        *(died[name] for name in died.columns), "redriven_ns", "fate", "fate_ns"
    )


def _fates(messages: DataFrame, redriven: DataFrame) -> DataFrame:
    """How each redriven message ended at the place to which it was sent back. Ranges meet in words of 64 offsets."""
    first, last = F.floor(F.col("offset") / WORD), F.floor((F.col("offset") + F.col("count") - 1) / WORD)
    ends = messages.where(
        F.col("kind").isin("acknowledged", "dead_lettered") & F.col("offset").isNotNull() & (F.col("count") > 0)
    ).select(
        *("time_ns", "kind", "offset", "count", F.col("topic").alias("to_topic")),
        F.coalesce("partition", F.lit(0)).alias("to_partition"),
        F.explode(F.when(first == last, F.array(first)).otherwise(F.sequence(first, last))).alias("word"),
    )
    places = redriven.select(
        "to_topic", "to_partition", "to_offset", F.floor(F.col("to_offset") / WORD).alias("word")
    ).distinct()
    inside = (F.col("to_offset") >= F.col("offset")) & (F.col("to_offset") < F.col("offset") + F.col("count"))
    return (
        ends.join(F.broadcast(places), ["to_topic", "to_partition", "word"])
        .where(inside)
        .groupBy("to_topic", "to_partition", "to_offset")
        .agg(
            F.when(F.bool_or(F.col("kind") == "dead_lettered"), DIED_AGAIN).otherwise(RECOVERED).alias("fate"),
            F.max("time_ns").alias("fate_ns"),
        )
    )
