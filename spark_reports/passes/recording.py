"""Completeness of the recording. Events are numbered without gaps, so missing ones can be located."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

WORD = 64
MOST = 10_000


def numbers(messages: DataFrame, control: DataFrame) -> DataFrame:
    """How many `events` there are, the `first` and `last` number, and `odd`: 0 if each number between occurs an odd
    number of times. Each event gives the hashes of its number and of the next one; with exclusive or, those of
    neighbours cancel out (wrongly once in 2^64). Bound: one row.
    """
    seq = F.col("seq")
    ends = F.xxhash64(seq).bitwiseXOR(F.xxhash64(F.try_add(seq, F.lit(1))))
    first, last = F.min(seq), F.max(seq)
    outer = F.xxhash64(first).bitwiseXOR(F.xxhash64(F.try_add(last, F.lit(1))))
    return (
        messages.select(seq)
        .union(control.select(seq))
        .agg(
            F.count("*").alias("events"),
            first.alias("first"),
            last.alias("last"),
            F.bit_xor(ends).bitwiseXOR(outer).alias("odd"),
        )
    )


def broken_numbers(messages: DataFrame, control: DataFrame) -> DataFrame:
    """The words of 64 numbers that are not whole or do not follow the word before: the numbers `there` and `expected`,
    the `last`, the `previous` word, and times. Bound: the first `MOST`, and one that says there are more.
    """
    words = _words(messages, control)
    order = Window.orderBy("word")
    expected = F.when(F.lead("word").over(order).isNull(), F.col("last") % WORD + 1).otherwise(WORD)
    return (
        words.select(
            *words.columns,
            F.coalesce(F.lag("word").over(order), F.lit(-1)).cast("bigint").alias("previous"),
            F.lag("end_ns").over(order).alias("previous_ns"),
            expected.cast("bigint").alias("expected"),
        )
        .where("word - previous > 1 OR there < expected OR events > there")
        .drop("last")
        .orderBy("word")
        .limit(MOST + 1)
    )


def _words(messages: DataFrame, control: DataFrame) -> DataFrame:
    """Per word of 64 numbers: its events, how many different numbers, the last one, and when. On the executors."""
    numbered = messages.select("seq", "time_ns").union(control.select("seq", "time_ns"))
    return numbered.groupBy(F.floor(F.col("seq") / WORD).alias("word")).agg(
        F.count("*").alias("events"),
        F.bit_count(F.bit_or(F.expr(f"shiftleft(1L, CAST(seq % {WORD} AS INT))"))).cast("bigint").alias("there"),
        F.max("seq").alias("last"),
        F.min("time_ns").alias("begin_ns"),
        F.max("time_ns").alias("end_ns"),
    )
