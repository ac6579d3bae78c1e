"""How long from publishing to the first delivery, and to the acknowledgement?

Durations are counted in logarithmic buckets of 1 %: exact to 0.5 %, mergeable, so that percentiles over time,
by group and of the whole come from the same counts. Every message weighs one, whatever range its event
carried.

A group that starts after the messages, or goes back to earlier ones, reads them late through no fault of anybody:
those are
measures of their own and spoil no percentile.
"""

from __future__ import annotations

import math

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from spark_reports.scale import Scale

BUCKETS_SCHEMA = (
    "measure STRING, topic STRING, `group` STRING, start_ns BIGINT, log_bucket INT, messages BIGINT, max_ns BIGINT"
)
SCHEMA_COLUMNS = (
    "messages BIGINT, mean_ns DOUBLE, p50_ns BIGINT, p90_ns BIGINT, p99_ns BIGINT, p999_ns BIGINT, max_ns BIGINT"
)
QUANTILES = {"p50_ns": 0.5, "p90_ns": 0.9, "p99_ns": 0.99, "p999_ns": 0.999}
GROWTH = 1.01
FIRST, DONE, REPLAYED, REPLAYED_DONE = "delivered", "acknowledged", "replayed", "replayed and acknowledged"
GRACE_NS = 1_000_000_000  # a group that joins this long after a message still counts as having been there
_ZERO = -1  # the bucket of durations below 1 ns, which virtual time has


def replays(control: DataFrame, *by: str) -> DataFrame:
    """Per group (and `by`), since when it reads what it reads: its first member, and the last reset of its offsets."""
    kind = F.col("kind")
    return (
        control.where(kind.isin("member_joined", "offsets_reset"))
        .groupBy("group", *by)
        .agg(
            F.coalesce(F.min(F.when(kind == "member_joined", F.col("time_ns"))), F.lit(0)).alias("joined_ns"),
            F.coalesce(F.max(F.when(kind == "offsets_reset", F.col("time_ns"))), F.lit(0)).alias("reset_ns"),
        )
        .where((F.col("joined_ns") > GRACE_NS) | (F.col("reset_ns") > 0))
    )


def durations(messages: DataFrame, control: DataFrame, *by: str) -> DataFrame:
    """The rows of `messages` that end a wait, with its `measure`, its `duration` in ns and the `log_bucket` of that.

    Rows without `published_ns` are left out. What a group reads of the time before it was there has the measures
    `REPLAYED`
    and `REPLAYED_DONE`. `by` are further columns that tell groups apart.
    """
    first = (F.col("kind") == "delivered") & (F.coalesce("attempt", F.lit(1)) == 1)
    born = F.col("published_ns")
    duration = F.greatest(F.col("time_ns") - born, F.lit(0))
    bucket = F.when(duration < 1, _ZERO).otherwise(F.floor(F.log(duration) / math.log(GROWTH)).cast("int"))
    old = (born < F.col("joined_ns") - GRACE_NS) | (
        (born < F.col("reset_ns") - GRACE_NS) & (F.col("time_ns") >= F.col("reset_ns"))
    )
    measure = F.when(~F.coalesce(old, F.lit(False)), F.col("kind")).otherwise(
        F.when(F.col("kind") == FIRST, REPLAYED).otherwise(REPLAYED_DONE)
    )
    return (
        messages.where((first | (F.col("kind") == DONE)) & born.isNotNull())
        .join(F.broadcast(replays(control, *by)), ["group", *by], "left")
        .select(
            measure.alias("measure"), *by, "topic", "group", "time_ns", "count",
            bucket.alias("log_bucket"), duration.alias("duration"),
        )
    )  # fmt: skip


def latency_buckets(messages: DataFrame, control: DataFrame, scale: Scale) -> DataFrame:
    """Counts per measure (delivered: the first delivery to a group; acknowledged; replayed), place, time and duration
    bucket.

    The time bucket is that of the delivery or acknowledgement.
    """
    return (
        durations(messages.where(F.col("time_ns") >= scale.from_ns), control)
        .withColumn("start_ns", scale.start("time_ns"))
        .groupBy("measure", "topic", "group", "start_ns", "log_bucket")
        .agg(F.sum("count").alias("messages"), F.max("duration").alias("max_ns"))
    )


def bucket_value_ns(bucket: Column) -> Column:
    """The middle of a duration bucket."""
    return F.when(bucket == _ZERO, F.lit(0.0)).otherwise(F.pow(F.lit(GROWTH), bucket + 0.5))


def latency(buckets: DataFrame, *by: str) -> DataFrame:
    """Percentiles per `measure` and `by`: columns of `SCHEMA_COLUMNS` after the keys. A percentile never
    exceeds the maximum.
    """
    keys = ("measure", *by)
    counted = buckets.groupBy(*keys, "log_bucket").agg(
        F.sum("messages").alias("messages"), F.max("max_ns").alias("max_ns")
    )
    window = Window.partitionBy(*keys)
    up_to = window.orderBy("log_bucket").rowsBetween(Window.unboundedPreceding, Window.currentRow)
    ranked = counted.select(
        "*", F.sum("messages").over(up_to).alias("rank"), F.sum("messages").over(window).alias("total")
    )
    value = bucket_value_ns(F.col("log_bucket"))
    quantiles = (
        F.least(
            F.round(F.min(F.when(F.col("rank") >= F.ceil(F.col("total") * quantile), value))).cast("bigint"),
            F.max("max_ns"),
        ).alias(name)
        for name, quantile in QUANTILES.items()
    )
    return (
        ranked.groupBy(*keys)
        .agg(
            F.sum("messages").alias("messages"),
            (F.sum(F.least(value, F.col("max_ns")) * F.col("messages")) / F.sum("messages")).alias("mean_ns"),
            *quantiles,
            F.max("max_ns").alias("max_ns"),
        )
        .orderBy(*keys)
    )


def latency_curve(buckets: DataFrame) -> DataFrame:
    """The percentile plot: per measure and duration, the share of messages that were at most that late."""
    counted = buckets.groupBy("measure", "log_bucket").agg(
        F.sum("messages").alias("messages"), F.max("max_ns").alias("max_ns")
    )
    window = Window.partitionBy("measure")
    up_to = window.orderBy("log_bucket").rowsBetween(Window.unboundedPreceding, Window.currentRow)
    return counted.select(
        "measure",
        F.round(F.least(bucket_value_ns(F.col("log_bucket")), F.col("max_ns"))).cast("bigint").alias("duration_ns"),
        "messages",
        (F.sum("messages").over(up_to) / F.sum("messages").over(window)).alias("share"),
    ).orderBy("measure", "duration_ns")


CURVE_SCHEMA = "measure STRING, duration_ns BIGINT, messages BIGINT, share DOUBLE"

HEAT_STEPS_PER_DECADE = 8


def latency_heat(buckets: DataFrame) -> DataFrame:
    """The heat map: messages per measure, time bucket and duration, eight rows a decade. `from_ns` begins the
    row.
    """
    decade = F.log10(F.greatest(bucket_value_ns(F.col("log_bucket")), F.lit(1.0)))
    row = F.floor(decade * HEAT_STEPS_PER_DECADE)
    return (
        buckets.groupBy("measure", "start_ns", row.cast("int").alias("row"))
        .agg(F.sum("messages").alias("messages"))
        .select(
            *("measure", "start_ns", "row"),
            F.round(F.pow(F.lit(10.0), F.col("row") / HEAT_STEPS_PER_DECADE)).cast("bigint").alias("from_ns"),
            "messages",
        )
        .orderBy("measure", "start_ns", "row")
    )


HEAT_SCHEMA = "measure STRING, start_ns BIGINT, `row` INT, from_ns BIGINT, messages BIGINT"
