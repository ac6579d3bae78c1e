"""Is the recording whole? Events are numbered without gaps, so what is missing can be said, and where."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

SCHEMA = "first_seq BIGINT, last_seq BIGINT, missing BIGINT, doubled BIGINT, from_ns BIGINT, to_ns BIGINT"
WORD = 64


def recording(messages: DataFrame, control: DataFrame) -> DataFrame:
    """One row per place where the recording is not whole; none where nothing is missing.

    Between the numbers `first_seq` and `last_seq` are `missing` events that nobody wrote down, and `doubled` ones
    that share a
    number; it happened between `from_ns` and `to_ns`. What the end of a recording lost cannot be seen here.
    """
    numbered = messages.select("seq", "time_ns").union(control.select("seq", "time_ns"))
    words = numbered.groupBy(F.floor(F.col("seq") / WORD).alias("word")).agg(
        F.count("*").alias("events"),
        F.bit_count(F.bit_or(F.expr(f"shiftleft(1L, CAST(seq % {WORD} AS INT))"))).alias("there"),
        F.max("seq").alias("last"),
        F.min("time_ns").alias("begin_ns"),
        F.max("time_ns").alias("end_ns"),
    )
    order = Window.orderBy("word")
    placed = words.select(
        "*",
        F.coalesce(F.lag("word").over(order), F.lit(-1)).alias("previous"),
        F.lag("end_ns").over(order).alias("previous_ns"),
        F.when(F.lead("word").over(order).isNull(), F.col("last") % WORD + 1).otherwise(WORD).alias("expected"),
    )
    gap = F.col("word") - F.col("previous") - 1
    here = (F.col("there") < F.col("expected")) | (F.col("events") > F.col("there"))
    broken = placed.where((gap > 0) | here).select(
        *("word", "previous"),
        F.when(gap > 0, (F.col("previous") + 1) * WORD).otherwise(F.col("word") * WORD).alias("first_seq"),
        (F.col("word") * WORD + F.when(here, F.col("expected")).otherwise(0) - 1).alias("last_seq"),
        (gap * WORD + F.col("expected") - F.col("there")).alias("missing"),
        (F.col("events") - F.col("there")).alias("doubled"),
        F.when(gap > 0, F.coalesce("previous_ns", F.lit(0))).otherwise(F.col("begin_ns")).alias("from_ns"),
        F.when(here, F.col("end_ns")).otherwise(F.col("begin_ns")).alias("to_ns"),
    )
    apart = F.coalesce(F.lag("word").over(order) != F.col("previous"), F.lit(True))
    islands = broken.withColumn("apart", apart.cast("int")).withColumn("island", F.sum("apart").over(order))
    return (
        islands.groupBy("island")
        .agg(
            F.min("first_seq").cast("bigint").alias("first_seq"),
            F.max("last_seq").cast("bigint").alias("last_seq"),
            F.sum("missing").cast("bigint").alias("missing"),
            F.sum("doubled").cast("bigint").alias("doubled"),
            F.min("from_ns").cast("bigint").alias("from_ns"),
            F.max("to_ns").cast("bigint").alias("to_ns"),
        )
        .drop("island")
        .orderBy("first_seq")
    )
