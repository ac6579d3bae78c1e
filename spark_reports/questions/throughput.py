"""How many messages and bytes per second, by topic, partition, producer and consumer?"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from spark_reports.scale import Scale

SCHEMA = (
    "dimension STRING, topic STRING, name STRING, start_ns BIGINT, messages BIGINT, bytes BIGINT, "
    "messages_per_s DOUBLE, bytes_per_s DOUBLE"
)
SERIES_SCHEMA = (
    "dimension STRING, topic STRING, name STRING, messages BIGINT, bytes BIGINT, messages_per_s DOUBLE, "
    "bytes_per_s DOUBLE, peak_messages_per_s DOUBLE"
)


def throughput(rollup: DataFrame, scale: Scale) -> DataFrame:
    """One row per dimension (topic, partition, producer, consumer), series and time bucket that saw messages.

    Topics, partitions and producers count what was published, consumers what was delivered to them.
    """
    published = F.col("kind") == "published"
    series = F.array(
        _series("topic", F.col("topic"), published),
        _series("partition", F.col("partition").cast("string"), published),
        _series("producer", F.col("client"), published),
        _series("consumer", F.col("client"), F.col("kind") == "delivered"),
    )
    counted = rollup.where(F.col("kind").isin("published", "delivered"))
    exploded = counted.select(F.explode(series).alias("series"), "topic", "start_ns", "messages", "bytes")
    seconds = _seconds(scale, scale.width_ns)
    return (
        exploded.where("series IS NOT NULL")
        .groupBy("series.dimension", "topic", "series.name", "start_ns")
        .agg(F.sum("messages").alias("messages"), F.sum("bytes").alias("bytes"))
        .select(
            *("dimension", "topic", "name", "start_ns", "messages", "bytes"),
            (F.col("messages") / seconds).alias("messages_per_s"),
            (F.col("bytes") / seconds).alias("bytes_per_s"),
        )
        .orderBy("dimension", "topic", "name", "start_ns")
    )


def _seconds(scale: Scale, length_ns: int) -> Column:
    """What sums are divided by; null where no time passes."""
    return F.lit(None if scale.is_moment else length_ns / 1e9).cast("double")


def _series(dimension: str, name: Column, where: Column) -> Column:
    return F.when(where, F.struct(F.lit(dimension).alias("dimension"), name.alias("name")))


def throughput_series(throughput: DataFrame, scale: Scale) -> DataFrame:
    """One row per series: its sums, its mean over the session and its busiest bucket."""
    seconds = _seconds(scale, scale.duration_ns)
    return (
        throughput.groupBy("dimension", "topic", "name")
        .agg(
            F.sum("messages").alias("messages"),
            F.sum("bytes").alias("bytes"),
            F.max("messages_per_s").alias("peak_messages_per_s"),
        )
        .select(
            *("dimension", "topic", "name", "messages", "bytes"),
            (F.col("messages") / seconds).alias("messages_per_s"),
            (F.col("bytes") / seconds).alias("bytes_per_s"),
            "peak_messages_per_s",
        )
        .orderBy("dimension", F.desc("messages"), "topic", "name")
    )
