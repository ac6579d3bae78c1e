"""How many messages met which fate, and whether that is what the broker itself counted?"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

SCHEMA = "name STRING, recorded BIGINT"
SUMMARY_SCHEMA = "name STRING, summary BIGINT"
RECONCILIATION_SCHEMA = "name STRING, summary BIGINT, recorded BIGINT, difference BIGINT, equal BOOLEAN"

#: Kinds that the broker counts under the same name.
_SAME_NAME = (
    "published",
    "delivered",
    "acknowledged",
    "dead_lettered",
    "redriven",
    "rejected",
    "dropped",
    "expired",
    "evicted",
    "purged",
)


def totals(rollup: DataFrame, control: DataFrame) -> DataFrame:
    """One row per total, with the field names of the run's summary, plus `events`: all that were recorded.

    As the broker counts: a rebalance when it starts, and as purged only what was taken out of a queue, not out of its
    dead letters.
    """
    counted = rollup.where((F.col("kind") != "purged") | (F.col("topic") == F.col("group")))
    messages = counted.agg(
        *(F.sum(F.when(F.col("kind") == kind, F.col("messages"))).alias(kind) for kind in _SAME_NAME),
        F.sum(F.when((F.col("kind") == "delivered") & (F.col("attempt") > 1), F.col("messages"))).alias("redelivered"),
    ).crossJoin(rollup.agg(F.sum("events").alias("message_events")))
    others = control.agg(
        F.count_if(F.col("kind") == "rebalance_started").alias("rebalances"),
        F.count("*").alias("control_events"),
    )
    names = (*_SAME_NAME, "redelivered", "rebalances")
    whole = messages.crossJoin(others).select(
        *(F.coalesce(name, F.lit(0)).alias(name) for name in names),
        (F.coalesce("message_events", F.lit(0)) + F.col("control_events")).alias("events"),
    )
    return whole.unpivot([], [*names, "events"], "name", "recorded")


def reconciliation(totals: DataFrame, summary: DataFrame) -> DataFrame:
    """The recorded totals beside those that the broker counted; a name that the summary lacks is compared
    with nothing.
    """
    difference = F.col("recorded") - F.col("summary")
    return (
        totals.join(summary, "name")
        .select("name", "summary", "recorded", difference.alias("difference"), (difference == 0).alias("equal"))
        .orderBy("equal", F.desc("summary"), "name")
    )
