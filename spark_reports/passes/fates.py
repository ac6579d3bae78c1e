from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from broker_core.events import WITHDRAWN
from spark_reports.passes.counts import key_text
from spark_reports.scale import Scale
from spark_reports.tables.dead_letters import BY_CAUSE, BY_KEY, DIED_AGAIN, EACH, LISTED, RECOVERED, TOP_KEYS, WAITING

MOST_CAUSES = 1_000
WORD = 64


def dead_letters(dead: DataFrame) -> DataFrame:
    """What died, counted in three `way`s: `BY_CAUSE` and group, `BY_KEY` and group, and `EACH` message. Bound: the
    `MOST_CAUSES` of which most died, and one that says there are more; `TOP_KEYS` keys; the first `LISTED` messages.
    """
    of_message = ("time_ns", "topic", "partition", "attempt", "published_ns", "bin", "bin_offset", "redriven_ns")
    ways = F.array(
        F.struct(F.lit(BY_CAUSE).alias("way"), F.lit(-1).cast("bigint").alias("number")),
        F.struct(F.lit(BY_KEY).alias("way"), F.lit(-1).cast("bigint").alias("number")),
        F.struct(F.lit(EACH).alias("way"), F.col("seq").alias("number")),
    )
    way = F.col("way.way")
    counted = (
        dead.withColumn("way", F.explode(ways))
        .groupBy(
            way.alias("way"),
            F.col("way.number").alias("seq"),
            F.when(way == EACH, F.col("offset")).alias("offset"),
            "group",
            F.when(way == BY_CAUSE, F.col("cause")).alias("of_cause"),
            F.when(way != BY_CAUSE, F.col("key")).alias("key"),
        )
        .agg(
            F.count("*").alias("dead_lettered"),
            F.count("redriven_ns").alias("redriven"),
            *(
                F.count_if(F.col("fate") == fate).alias(name)
                for fate, name in ((RECOVERED, "recovered"), (DIED_AGAIN, "died_again"), (WAITING, "waiting"))
            ),
            F.min("time_ns").alias("first_ns"),
            F.max("time_ns").alias("last_ns"),
            F.min_by("cause", F.struct(dead["seq"], dead["offset"])).alias("cause"),
            *(F.first(name).alias(name) for name in (*of_message, "fate", "fate_ns")),
        )
    )
    most = F.when(F.col("way") == BY_CAUSE, MOST_CAUSES + 1).when(F.col("way") == BY_KEY, TOP_KEYS).otherwise(LISTED)
    first = F.when(F.col("way") == EACH, F.col("seq")).otherwise(-F.col("dead_lettered"))
    order = Window.partitionBy("way").orderBy(first, "offset", "group", F.asc_nulls_first("key"), "cause")
    return counted.withColumn("place", F.row_number().over(order)).where(F.col("place") <= most).drop("of_cause")


def dead(messages: DataFrame, scale: Scale, redriven: bool = True) -> DataFrame:
    """One row per message that died in `scale`, with the time of its first redrive and what came of it; without looking
    for that if nothing was `redriven`. Stays on the executors.
    """
    died = messages.where(
        (F.col("kind") == "dead_lettered") & (F.col("count") > 0) & (F.col("time_ns") >= scale.from_ns)
    )
    each = died.select("*", _step()).select(
        *("seq", "time_ns", "group", "topic", "partition"),
        (F.col("offset") + F.col("step")).alias("offset"),
        key_text("key").alias("key"),
        *("cause", "attempt", "published_ns"),
        F.col("to_topic").alias("bin"),
        F.coalesce("to_partition", F.lit(0)).alias("bin_partition"),
        (F.col("to_offset") + F.col("step")).alias("bin_offset"),
    )
    if not redriven:
        nothing = F.lit(None)
        return each.select(
            "*", *(nothing.cast(kind).alias(name) for name, kind in
                   (("redriven_ns", "bigint"), ("fate", "string"), ("fate_ns", "bigint")))
        )  # fmt: skip
    sent = _redriven(messages)
    back = sent.join(F.broadcast(_fates(messages, sent)), ["to_topic", "to_partition", "to_offset"], "left").select(
        *("bin", "bin_partition", "bin_offset", "redriven_ns", "fate_ns"),
        F.coalesce("fate", F.lit(WAITING)).alias("fate"),
    )
    return each.join(back, ["bin", "bin_partition", "bin_offset"], "left").select(
        *(each[name] for name in each.columns), "redriven_ns", "fate", "fate_ns"
    )


def _step() -> Column:
    return F.explode(F.sequence(F.lit(0).cast("bigint"), F.col("count") - 1)).alias("step")


def _redriven(messages: DataFrame) -> DataFrame:
    """The first redrive of each dead letter that was not undone: from its place in the bin to where it was sent."""
    each = messages.where(F.col("count") > 0).select("*", _step())
    place = ("to_topic", "to_partition", "to_offset")
    undone = each.where((F.col("kind") == "purged") & (F.col("cause") == WITHDRAWN)).select(
        F.col("topic").alias("to_topic"),
        F.coalesce("partition", F.lit(0)).alias("to_partition"),
        (F.col("offset") + F.col("step")).alias("to_offset"),
    )
    sent = each.where(F.col("kind") == "redriven").select(
        *("time_ns", "seq", "group", "to_topic", F.coalesce("to_partition", F.lit(0)).alias("to_partition")),
        (F.col("to_offset") + F.col("step")).alias("to_offset"),
        F.col("topic").alias("bin"),
        F.coalesce("partition", F.lit(0)).alias("bin_partition"),
        (F.col("offset") + F.col("step")).alias("bin_offset"),
    )
    return (
        sent.join(F.broadcast(undone), [*place], "left_anti")
        .groupBy("bin", "bin_partition", "bin_offset")
        .agg(F.min("time_ns").alias("redriven_ns"), F.min_by(F.struct(*place, "group"), "seq").alias("to"))
        .select("bin", "bin_partition", "bin_offset", "redriven_ns", "to.*")
    )


def _fates(messages: DataFrame, redriven: DataFrame) -> DataFrame:
    """How each redriven message ended in the group that had given it up. Ranges meet in words of 64 offsets."""
    first, last = F.floor(F.col("offset") / WORD), F.floor((F.col("offset") + F.col("count") - 1) / WORD)
    ends = messages.where(
        F.col("kind").isin("acknowledged", "dead_lettered") & F.col("offset").isNotNull() & (F.col("count") > 0)
    ).select(
        *("time_ns", "kind", "offset", "count", F.col("topic").alias("to_topic"), F.col("group").alias("by")),
        F.coalesce("partition", F.lit(0)).alias("to_partition"),
        F.explode(F.when(first == last, F.array(first)).otherwise(F.sequence(first, last))).alias("word"),
    )
    places = redriven.select(
        "to_topic", "to_partition", "to_offset", F.floor(F.col("to_offset") / WORD).alias("word"), "group"
    ).distinct()
    inside = (F.col("to_offset") >= F.col("offset")) & (F.col("to_offset") < F.col("offset") + F.col("count"))
    return (
        ends.join(places, ["to_topic", "to_partition", "word"])
        .where(inside & F.col("group").isin("", F.col("by")))
        .groupBy("to_topic", "to_partition", "to_offset")
        .agg(
            F.when(F.bool_or(F.col("kind") == "dead_lettered"), DIED_AGAIN).otherwise(RECOVERED).alias("fate"),
            F.max("time_ns").alias("fate_ns"),
        )
    )
