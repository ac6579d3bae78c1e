"""How many messages waited in each queue, and how many were in flight, over time?"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from spark_reports.questions.rollup import grid
from spark_reports.scale import Scale

SCHEMA = "queue STRING, start_ns BIGINT, waiting BIGINT, in_flight BIGINT"


def queues(rollup: DataFrame, control: DataFrame, scale: Scale) -> DataFrame:
    """One row per queue and time bucket, at the bucket's end. A queue is a topic that is read with leases: group =
    topic.

    A user's action that counts messages of a queue has brought them back; damage has lost them. What a full queue
    dropped was never in it.
    """
    kind, messages = F.col("kind"), F.col("messages")
    names = (
        rollup.where((F.col("group") == F.col("topic")) & (F.col("group") != ""))
        .select(F.col("group").alias("queue"))
        .distinct()
    )
    here = F.col("topic") == F.col("queue")
    others = control.where(F.col("kind").isin("user_action", "damage") & (F.col("count") > 0)).select(
        scale.start("time_ns").alias("start_ns"), "kind", "topic", "to_topic", F.col("count").alias("messages")
    )
    stored = (
        F.when((kind == "redriven") & (F.col("to_topic") == F.col("queue")), messages)
        .when(here & kind.isin("published", "user_action"), messages)
        .when(here & kind.isin("acknowledged", "dead_lettered", "expired", "evicted", "purged", "damage"), -messages)
        .otherwise(0)
    )
    held = (
        F.when(here & (kind == "delivered"), messages)
        .when(here & kind.isin("acknowledged", "nacked", "released", "lease_expired"), -messages)
        .otherwise(0)
    )
    changes = (
        rollup.select("start_ns", "kind", "topic", "to_topic", "messages")
        .union(others)
        .join(F.broadcast(names), here | (F.col("to_topic") == F.col("queue")))
        .groupBy("queue", "start_ns")
        .agg(F.sum(stored).alias("stored"), F.sum(held).alias("held"))
    )
    so_far = Window.partitionBy("queue").orderBy("start_ns")
    in_flight = F.coalesce(F.sum("held").over(so_far), F.lit(0))
    depth = F.coalesce(F.sum("stored").over(so_far), F.lit(0))
    return (
        grid(names, scale)
        .join(changes, ["queue", "start_ns"], "left")
        .select("queue", "start_ns", (depth - in_flight).alias("waiting"), in_flight.alias("in_flight"))
        .where(F.col("start_ns") >= scale.from_ns)
        .orderBy("queue", "start_ns")
    )
