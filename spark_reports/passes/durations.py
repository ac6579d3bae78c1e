"""Latency from publishing to the first delivery and to the acknowledgement.

Durations are counted in logarithmic buckets of 1 %: exact to 0.5 %, mergeable, so that percentiles over time, by group
and of the whole come from the same counts. Every message weighs one, whatever range its event carried.

A group that starts after the messages, or goes back to earlier ones, reads them late through no fault of anybody: those
are measures of their own and spoil no percentile.
"""

from __future__ import annotations

import math

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from resources.measures import DURATION_GROWTH, REPLAY_GRACE_NS, ZERO_BUCKET
from spark_reports.scale import Scale
from spark_reports.tables.latency import DONE, FIRST, REPLAYED, REPLAYED_DONE


def durations(messages: DataFrame, replays: DataFrame | None, *by: str) -> DataFrame:
    """The rows of `messages` that end a wait, with `measure`, `duration` in ns and `log_bucket`; without those that
    lack `published_ns`. What a group reads of the time before `replays` has the measures `REPLAYED` and
    `REPLAYED_DONE`.
    """
    first = (F.col("kind") == "delivered") & (F.col("attempt") == 1)
    born = F.col("published_ns")
    duration = F.greatest(F.col("time_ns") - born, F.lit(0))
    bucket = F.when(duration < 1, ZERO_BUCKET).otherwise(
        F.floor(F.log(duration) / math.log(DURATION_GROWTH)).cast("int")
    )
    waits = messages.where((first | (F.col("kind") == DONE)) & born.isNotNull())
    places = [*by, "topic", "group", "time_ns", "count"]
    found = [*map(F.col, places), bucket.alias("log_bucket"), duration.alias("duration")]
    if replays is None:
        return waits.select(F.col("kind").alias("measure"), *found)
    old = (born < F.col("joined_ns") - REPLAY_GRACE_NS) | (
        (born < F.col("reset_ns") - REPLAY_GRACE_NS) & (F.col("time_ns") >= F.col("reset_ns"))
    )
    measure = F.when(~F.coalesce(old, F.lit(False)), F.col("kind")).otherwise(
        F.when(F.col("kind") == FIRST, REPLAYED).otherwise(REPLAYED_DONE)
    )
    return waits.join(F.broadcast(replays), ["group", *by], "left").select(measure.alias("measure"), *found)


def latency_buckets(messages: DataFrame, replays: DataFrame | None, scale: Scale) -> DataFrame:
    """Counts per measure (first delivered, acknowledged, replayed), topic, group, time bucket of the event and duration
    bucket. Bound: 240 time buckets x groups x their topics x 4 measures x some 300 duration buckets in use.
    """
    return (
        durations(messages.where(F.col("time_ns") >= scale.from_ns), replays)
        .withColumn("start_ns", scale.start("time_ns"))
        .groupBy("measure", "topic", "group", "start_ns", "log_bucket")
        .agg(F.sum("count").alias("messages"), F.max("duration").alias("max_ns"))
    )
