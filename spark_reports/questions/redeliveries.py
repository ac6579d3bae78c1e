"""How often was a message handed over again, and on which attempt did it end?"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

SCHEMA = (
    "`group` STRING, topic STRING, attempt INT, delivered BIGINT, acknowledged BIGINT, nacked "
    "BIGINT, released BIGINT, "
    "lease_expired BIGINT, dead_lettered BIGINT"
)
_OUTCOMES = ("delivered", "acknowledged", "nacked", "released", "lease_expired", "dead_lettered")


def redeliveries(rollup: DataFrame) -> DataFrame:
    """The ladder: per group or queue and attempt, how many were delivered and what became of them.

    Where an event does not say its attempt (a group's commit), it is counted as the first.
    """
    return (
        rollup.where(F.col("kind").isin(*_OUTCOMES))
        .groupBy("group", "topic", F.coalesce("attempt", F.lit(1)).alias("attempt"))
        .agg(*(F.sum(F.when(F.col("kind") == kind, F.col("messages")).otherwise(0)).alias(kind) for kind in _OUTCOMES))
        .orderBy("group", "topic", "attempt")
    )
