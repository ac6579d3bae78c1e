"""What did the schemas refuse, and where in the message?"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

SCHEMA = (
    "topic STRING, subject STRING, place STRING, outcome STRING, messages BIGINT, producers BIGINT, first_ns BIGINT, "
    "last_ns BIGINT"
)
#: How the broker says it: "schema orders refused /amount", or "... refused the value".
_CAUSE = r"^schema (\S+) refused (.*)$"


def refusals(rollup: DataFrame) -> DataFrame:
    """One row per topic, subject, place in the message and outcome (refused or dead-lettered), most often first."""
    kind = F.col("kind")
    return (
        rollup.where(kind.isin("rejected", "dead_lettered") & F.col("cause").rlike(_CAUSE))
        .groupBy(
            "topic",
            F.regexp_extract("cause", _CAUSE, 1).alias("subject"),
            F.regexp_extract("cause", _CAUSE, 2).alias("place"),
            F.when(kind == "rejected", "refused").otherwise("dead-lettered").alias("outcome"),
        )
        .agg(
            F.sum("messages").alias("messages"),
            F.count_distinct("client").alias("producers"),
            F.min("first_ns").alias("first_ns"),
            F.max("last_ns").alias("last_ns"),
        )
        .orderBy(F.desc("messages"), "topic", "subject", "place", "outcome")
    )
