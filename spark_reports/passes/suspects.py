from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_reports.passes.audit import published_again
from spark_reports.passes.keys import key_text
from spark_reports.tables.audit import PLACE, WORD

MOST = 200_000
_KINDS = (
    *("published", "delivered", "acknowledged", "nacked", "released", "lease_expired", "dead_lettered", "expired"),
    *("evicted", "purged"),
)


def happened(messages: DataFrame, suspects: DataFrame, most: int = MOST) -> DataFrame:
    """Every event about an offset of a word in `suspects`, in the log (`own`) or in that group; `begin` and `last` are
    the word's offsets. Bound: the first `most` events, and one that says there are more.
    """
    seen = messages.where(F.col("kind").isin(*_KINDS) & F.col("offset").isNotNull() & (F.col("count") > 0)).select(
        *("seq", "time_ns", "kind", "client", "attempt", "key", F.col("group").alias("who"), "topic", "partition"),
        *("offset", "count", (F.col("kind") == "published").alias("own")),
    )
    appended = messages.where(F.col("to_offset").isNotNull() & (F.col("count") > 0) & ~published_again()).select(
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
        .limit(most + 1)
    )
