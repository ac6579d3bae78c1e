"""What changed after each fault and each thing that a user did: rate, lag, waiting messages and latency?"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from spark_reports.questions.latency import FIRST, bucket_value_ns
from spark_reports.scale import Scale

SCHEMA = (
    "time_ns BIGINT, kind STRING, client STRING, cause STRING, scope STRING, window_ns BIGINT, "
    "published_before DOUBLE, published_after DOUBLE, delivered_before DOUBLE, delivered_after DOUBLE, "
    "p99_before_ns BIGINT, p99_after_ns BIGINT, behind_before BIGINT, behind_after BIGINT"
)
KINDS = ("fault", "user_action", "offsets_reset")
LISTED = 100
WINDOW_BUCKETS = 12  # a twentieth of a session


def effects(
    markers: DataFrame, rollup: DataFrame, latency_buckets: DataFrame, lag: DataFrame, queues: DataFrame, scale: Scale
) -> DataFrame:
    """One row per fault, user action and reset; before and after are the `window_ns` beside its time bucket.

    What a client of a group or queue suffered is told of that group (`scope`); anything else of all of them. Rates
    are messages per second; `behind` is lag and waiting messages together, at the end of the bucket before, and at
    its highest after.
    """
    w = scale.width_ns
    clients = rollup.where((F.col("kind") == "delivered") & (F.col("group") != "")).select("client", "group").distinct()
    chosen = markers.where(F.col("kind").isin(*KINDS)).limit(LISTED)
    named = chosen.withColumn("own", F.when(F.col("group") != "", F.col("group")))
    scoped = named.join(F.broadcast(clients.withColumnRenamed("group", "theirs")), "client", "left").select(
        "time_ns", "kind", "client", "cause", F.coalesce("own", "theirs", F.lit("")).alias("scope")
    )
    each = (
        scoped.distinct()
        .withColumn("bucket_ns", scale.start("time_ns"))
        .withColumn("first_ns", F.greatest(F.col("bucket_ns") - WINDOW_BUCKETS * w, F.lit(scale.from_ns)))
        .withColumn("last_ns", F.least(F.col("bucket_ns") + (WINDOW_BUCKETS + 1) * w, F.lit(scale.to_ns)))
    )
    key = ("time_ns", "kind", "client", "cause", "scope")
    start = F.col("start_ns")
    before = (start >= F.col("first_ns")) & (start < F.col("bucket_ns"))
    after = (start >= F.col("bucket_ns")) & (start < F.col("last_ns"))

    def near(frame: DataFrame, on: Column) -> DataFrame:
        return frame.join(F.broadcast(each), on & (before | after))

    def total(kind: str, side: Column) -> Column:
        return F.sum(F.when((F.col("what") == kind) & side, F.col("messages")).otherwise(0))

    rates = rollup.where(F.col("kind").isin("published", "delivered")).select(
        F.col("kind").alias("what"), F.col("group").alias("who"), "start_ns", "messages"
    )
    rated = (
        near(rates, (F.col("scope") == "") | (F.col("what") == "published") | (F.col("who") == F.col("scope")))
        .groupBy(*key)
        .agg(
            *(
                total(kind, side).alias(f"{kind}_{name}")
                for kind in ("published", "delivered")
                for name, side in (("before", before), ("after", after))
            )
        )
    )
    standing = lag.select(F.col("group").alias("who"), "start_ns", F.col("lag").alias("behind")).union(
        queues.select("queue", "start_ns", F.col("waiting"))
    )
    summed = (
        near(standing, (F.col("scope") == "") | (F.col("who") == F.col("scope")))
        .groupBy(*key, "start_ns")
        .agg(F.first("bucket_ns").alias("bucket_ns"), F.sum("behind").alias("behind"))
    )
    stood = summed.groupBy(*key).agg(
        F.max_by("behind", F.when(start < F.col("bucket_ns"), start)).alias("behind_before"),
        F.max(F.when(start >= F.col("bucket_ns"), F.col("behind"))).alias("behind_after"),
    )
    late = latency_buckets.where(F.col("measure") == FIRST).select(
        F.col("group").alias("who"), "start_ns", "log_bucket", "messages", "max_ns"
    )
    lates = near(late, (F.col("scope") == "") | (F.col("who") == F.col("scope")))
    waited = _p99(lates.where(before), key, "p99_before_ns").join(
        _p99(lates.where(after), key, "p99_after_ns"), list(key), "full"
    )
    seconds_before = (F.col("bucket_ns") - F.col("first_ns")) / 1e9
    seconds_after = (F.col("last_ns") - F.col("bucket_ns")) / 1e9

    def rate(kind: str, name: str, seconds: Column) -> Column:
        return F.when(seconds > 0, F.coalesce(f"{kind}_{name}", F.lit(0)) / seconds).alias(f"{kind}_{name}")

    return (
        each.join(rated, list(key), "left")
        .join(stood, list(key), "left")
        .join(waited, list(key), "left")
        .select(
            *key,
            F.lit(WINDOW_BUCKETS * w).cast("bigint").alias("window_ns"),
            rate("published", "before", seconds_before),
            rate("published", "after", seconds_after),
            rate("delivered", "before", seconds_before),
            rate("delivered", "after", seconds_after),
            *("p99_before_ns", "p99_after_ns"),
            F.col("behind_before").cast("bigint").alias("behind_before"),
            F.col("behind_after").cast("bigint").alias("behind_after"),
        )
        .orderBy("time_ns", "kind", "client", "cause", "scope")
    )


def _p99(buckets: DataFrame, key: tuple[str, ...], name: str) -> DataFrame:
    """The 99th percentile of the rows of each key: 99 of 100 messages are in its bucket or below."""
    counted = buckets.groupBy(*key, "log_bucket").agg(
        F.sum("messages").alias("messages"), F.max("max_ns").alias("max_ns")
    )
    whole = Window.partitionBy(*key)
    up_to = whole.orderBy("log_bucket").rowsBetween(Window.unboundedPreceding, Window.currentRow)
    ranked = counted.select(
        "*", F.sum("messages").over(up_to).alias("rank"), F.sum("messages").over(whole).alias("total")
    )
    value = F.min(F.when(F.col("rank") >= F.ceil(F.col("total") * 0.99), bucket_value_ns(F.col("log_bucket"))))
    return ranked.groupBy(*key).agg(F.least(F.round(value).cast("bigint"), F.max("max_ns")).alias(name))
