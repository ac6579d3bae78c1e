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
from spark_reports.passes.kinds import DONE, FIRST, REPLAYED, REPLAYED_DONE
from spark_reports.scale import Scale


def latency_buckets(messages: DataFrame, replays: DataFrame | None, scale: Scale) -> DataFrame:
    """Counts per measure (first delivered, acknowledged, replayed), topic, group, time bucket of the event and duration
    bucket, without events that lack `published_ns`. What a group reads of the time before `replays` has the measures
    `REPLAYED` and `REPLAYED_DONE`. Bound: 240 time buckets x groups x their topics x 4 measures x some 300 duration
    buckets in use.
    """
    kind, born, at = F.col("kind"), F.col("published_ns"), F.col("time_ns")
    ends = (kind == DONE) | ((kind == FIRST) & (F.col("attempt") == 1))
    waits = messages.where((at >= scale.from_ns) & ends & born.isNotNull())
    measure = kind
    if replays is not None:
        waits = waits.join(F.broadcast(replays), "group", "left")
        old = (born < F.col("joined_ns") - REPLAY_GRACE_NS) | (
            (born < F.col("reset_ns") - REPLAY_GRACE_NS) & (at >= F.col("reset_ns"))
        )
        again = F.when(kind == FIRST, REPLAYED).otherwise(REPLAYED_DONE)
        measure = F.when(F.coalesce(old, F.lit(False)), again).otherwise(kind)
    duration = F.greatest(at - born, F.lit(0))
    bucket = F.floor(F.log(duration) / math.log(DURATION_GROWTH)).cast("int")
    return waits.groupBy(
        measure.alias("measure"),
        *("topic", "group"),
        scale.spark_bucket_start("time_ns").alias("start_ns"),
        F.when(duration < 1, ZERO_BUCKET).otherwise(bucket).alias("log_bucket"),
    ).agg(F.sum("count").alias("messages"), F.max(duration).alias("max_ns"))
