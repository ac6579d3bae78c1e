"""How busy was each consumer, and who did nothing?"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from spark_reports.scale import Scale

SCHEMA = (
    "`group` STRING, client STRING, from_ns BIGINT, to_ns BIGINT, with_partitions_ns BIGINT, delivered BIGINT, "
    "acknowledged BIGINT, busy_ns BIGINT, idle_ns BIGINT, utilisation DOUBLE, in_hand DOUBLE, longest_idle_ns BIGINT"
)
_READERS = ("consumer", "worker")
_JOINS = ("member_joined", "partitions_assigned")


def consumers(rollup: DataFrame, control: DataFrame, ownership: DataFrame, spans: DataFrame, scale: Scale) -> DataFrame:
    """One row per group or queue and client, least busy last.

    Busy is a client with a message in its hands: delivered, and not yet acknowledged, refused or given back. It is
    there from `from_ns` to `to_ns`. `with_partitions_ns` is null where nobody assigns partitions. A client that never
    read for anybody has the group "".
    """
    seen = (
        control.where(F.col("kind").isin(*_JOINS) & (F.col("client") != ""))
        .select("group", "client", F.col("time_ns").alias("seen_ns"))
        .union(rollup.where(F.col("kind") == "delivered").select("group", "client", F.col("first_ns").alias("seen_ns")))
        .groupBy("group", "client")
        .agg(F.min("seen_ns").alias("seen_ns"))
    )
    role = F.get_json_object("detail", "$.role")
    lives = (
        control.where(F.col("kind").isin("client_started", "client_stopped"))
        .groupBy("client")
        .agg(
            F.min(F.when(F.col("kind") == "client_started", F.col("time_ns"))).alias("started_ns"),
            F.max_by(F.when(F.col("kind") == "client_stopped", F.col("time_ns")), "seq").alias("stopped_ns"),
            F.max(F.when(F.col("kind") == "client_started", role)).alias("role"),
        )
    )
    idle = (
        lives.where(F.col("role").isin(*_READERS))
        .join(seen, "client", "left_anti")
        .select(F.lit("").alias("group"), "client", F.col("started_ns").alias("seen_ns"))
    )
    begin = F.greatest(F.least("seen_ns", "started_ns"), F.lit(scale.from_ns)).cast("bigint")
    end = F.coalesce("stopped_ns", F.lit(scale.to_ns)).cast("bigint")
    clients = (
        seen.union(idle)
        .join(lives, "client", "left")
        .select("group", "client", begin.alias("from_ns"), F.greatest(end, begin).alias("to_ns"))
    )
    counted = (
        rollup.where((F.col("start_ns") >= scale.from_ns) & F.col("kind").isin("delivered", "acknowledged"))
        .groupBy("group", "client")
        .agg(*(F.sum(F.when(F.col("kind") == kind, F.col("messages"))).alias(kind) for kind in _COUNTED))
    )
    hands = spans.groupBy("group", "client").agg(
        F.sum("busy_ns").alias("busy_ns"),
        F.sum("held").alias("held"),
        F.min("from_ns").alias("first_ns"),
        F.max(F.when(F.col("held") == 0, F.col("to_ns") - F.col("from_ns"))).alias("longest_ns"),
    )
    held = ownership.groupBy("group", "client").agg(
        F.max("to_ns").alias("last_ns"), F.sort_array(F.collect_list(F.struct("from_ns", "to_ns"))).alias("spans")
    )
    members = ownership.select("group").distinct().withColumn("assigned", F.lit(True))
    none = F.lit(0).cast("bigint")
    there = F.col("to_ns") - F.col("from_ns")
    busy = F.least(F.coalesce("busy_ns", none), there)
    # Before its first message a client waits too.
    waited = F.when(F.col("first_ns").isNull(), there).otherwise(F.greatest(F.col("first_ns") - F.col("from_ns"), none))
    return (
        clients.join(counted, ["group", "client"], "left")
        .join(hands, ["group", "client"], "left")
        .join(held.select("group", "client", _covered("spans").alias("covered_ns")), ["group", "client"], "left")
        .join(members, "group", "left")
        .select(
            *("group", "client", "from_ns", "to_ns"),
            F.when(F.col("assigned"), F.coalesce("covered_ns", none)).alias("with_partitions_ns"),
            *(F.coalesce(kind, none).alias(kind) for kind in _COUNTED),
            busy.alias("busy_ns"),
            (there - busy).alias("idle_ns"),
            F.when(there > 0, busy / there).otherwise(0.0).alias("utilisation"),
            F.when(there > 0, F.coalesce("held", F.lit(0.0)) / there).otherwise(0.0).alias("in_hand"),
            F.greatest(F.coalesce("longest_ns", none), waited).alias("longest_idle_ns"),
        )
        .orderBy(F.desc("utilisation"), "group", "client")
    )


_COUNTED = ("delivered", "acknowledged")


def _covered(name: str) -> Column:
    """How long at least one of the sorted spans lasted: each counts from where the ones before it ended."""
    zero = F.struct(F.lit(0).cast("bigint").alias("total"), F.lit(0).cast("bigint").alias("until"))
    return F.aggregate(
        name,
        zero,
        lambda sofar, span: F.struct(
            (sofar.total + F.greatest(span.to_ns - F.greatest(span.from_ns, sofar.until), F.lit(0))).alias("total"),
            F.greatest(span.to_ns, sofar.until).alias("until"),
        ),
        lambda sofar: sofar.total,
    )
