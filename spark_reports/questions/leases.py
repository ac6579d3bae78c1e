"""How were the messages of queues leased, for how long, and how did the leases end?"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_reports.scale import Scale

SCHEMA = (
    "queue STRING, client STRING, leased BIGINT, acknowledged BIGINT, nacked BIGINT, released BIGINT, expired BIGINT, "
    "extended BIGINT, held_ns DOUBLE, mean_held_ns DOUBLE, in_flight DOUBLE"
)
_KINDS = {
    "delivered": "leased",
    "acknowledged": "acknowledged",
    "nacked": "nacked",
    "released": "released",
    "lease_expired": "expired",
    "lease_extended": "extended",
}


def leases(rollup: DataFrame, control: DataFrame, spans: DataFrame, scale: Scale) -> DataFrame:
    """One row per queue and holder. `extended` counts extensions, not leases.

    `held_ns` sums the time of all its leases; `in_flight` is how many it had at once on average. The groups of
    consumers lease nothing.
    """
    grouped = control.where(F.col("kind").isin("member_joined", "partitions_assigned")).select("group").distinct()
    count = (
        F.sum(F.when(F.col("kind") == kind, F.col("messages")).otherwise(0)).alias(name)
        for kind, name in _KINDS.items()
    )
    counted = (
        rollup.where(F.col("kind").isin(*_KINDS))
        .join(F.broadcast(grouped), "group", "left_anti")
        .groupBy("group", "client")
        .agg(*count)
    )
    held = spans.groupBy("group", "client").agg(F.sum("held").alias("held_ns"))
    return (
        counted.join(held, ["group", "client"], "left")
        .select(
            F.col("group").alias("queue"),
            "client",
            *_KINDS.values(),
            F.coalesce("held_ns", F.lit(0.0)).alias("held_ns"),
            (F.col("held_ns") / F.when(F.col("leased") > 0, F.col("leased"))).alias("mean_held_ns"),
            (F.coalesce("held_ns", F.lit(0.0)) / scale.duration_ns).alias("in_flight"),
        )
        .orderBy("queue", F.desc("leased"), "client")
    )
