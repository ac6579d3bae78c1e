"""When did groups rebalance, why, what moved, and how long did nobody read?"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from spark_reports.scale import Scale

SCHEMA = (
    "`group` STRING, started_ns BIGINT, ended_ns BIGINT, pause_ns BIGINT, finished BOOLEAN, cause STRING, "
    "generation_before INT, generation_after INT, partitions INT, moved INT, kept INT, stopped INT, "
    "changed INT"
)
_DETAIL = "before ARRAY<ARRAY<STRING>>, after ARRAY<ARRAY<STRING>>, started_ns BIGINT, partitions ARRAY<ARRAY<STRING>>"


def rebalances(control: DataFrame, scale: Scale) -> DataFrame:
    """One row per rebalance; one that never finished lasts to the session's end.

    `moved` came from or went to nobody or another owner, `kept` stayed with their owner, `stopped` were taken from
    their owner for the pause. `changed` were given an owner that they did not have before; none where the group had
    none, as at its start. A partition that is given back in one rebalance and given out in the next has moved twice
    and changed its owner once.
    """
    detail = F.from_json("detail", _DETAIL)
    events = control.where(F.col("group") != "").select(
        *("seq", "time_ns", "kind", "group", "generation", "cause"), detail.alias("detail")
    )
    per_group = Window.partitionBy("group").orderBy("seq")
    steps = events.where(F.col("kind").isin("rebalance_started", "rebalance_completed")).select(
        "*",
        F.lag("kind").over(per_group).alias("previous_kind"),
        F.lag("generation").over(per_group).alias("previous_generation"),
        F.lead("kind").over(per_group).alias("next_kind"),
        F.lag("time_ns").over(per_group).alias("previous_ns"),
    )
    after_start = F.col("previous_kind") == "rebalance_started"
    whole = steps.where(F.col("kind") == "rebalance_completed").select(
        "group",
        F.coalesce("detail.started_ns", F.when(after_start, F.col("previous_ns")), "time_ns").alias("started_ns"),
        F.col("time_ns").alias("ended_ns"),
        F.lit(True).alias("finished"),
        "cause",
        F.when(after_start, F.col("previous_generation")).alias("generation_before"),
        F.col("generation").alias("generation_after"),
        F.col("detail.before").alias("before"),
        F.col("detail.after").alias("after"),
    )
    cut = steps.where((F.col("kind") == "rebalance_started") & F.col("next_kind").isNull()).select(
        "group",
        F.col("time_ns").alias("started_ns"),
        F.lit(scale.to_ns).cast("bigint").alias("ended_ns"),
        F.lit(False).alias("finished"),
        "cause",
        F.col("generation").alias("generation_before"),
        F.lit(None).cast("int").alias("generation_after"),
        F.col("detail.before").alias("before"),
        F.lit(None).cast("array<array<string>>").alias("after"),
    )
    nothing = F.array().cast("array<array<string>>")
    before, after = F.coalesce("before", nothing), F.coalesce("after", nothing)
    places = F.array_union(_places(before), _places(after))
    kept = F.size(F.array_intersect(before, after))
    known = whole.union(cut).select(
        *("group", "started_ns", "ended_ns"),
        (F.col("ended_ns") - F.col("started_ns")).alias("pause_ns"),
        *("finished", "cause", "generation_before", "generation_after"),
        F.size(places).alias("partitions"),
        F.when(F.col("finished"), F.size(places) - kept).otherwise(0).alias("moved"),
        F.when(F.col("finished"), kept).otherwise(0).alias("kept"),
        F.when(F.size(before) > 0, F.size(F.array_except(after, before))).otherwise(0).alias("changed"),
    )
    return (
        known.join(_stopped(events, known), ["group", "started_ns", "ended_ns"], "left")
        .select(
            *(name for name in known.columns if name != "changed"),
            F.coalesce("stopped", F.lit(0)).cast("int").alias("stopped"),
            "changed",
        )
        .where(F.col("ended_ns") >= scale.from_ns)
        .orderBy("started_ns", "group")
    )


def _places(owners: Column) -> Column:
    """[topic, partition] of every [topic, partition, client]."""
    return F.array_distinct(F.transform(owners, lambda owner: F.slice(owner, 1, 2)))


def _stopped(events: DataFrame, known: DataFrame) -> DataFrame:
    """How many partitions were revoked while each rebalance went on."""
    revoked = events.where(F.col("kind") == "partitions_revoked").select(
        F.col("group").alias("revoked_group"), "time_ns", F.explode("detail.partitions").alias("place")
    )
    inside = (F.col("group") == F.col("revoked_group")) & F.col("time_ns").between(
        F.col("started_ns"), F.col("ended_ns")
    )
    return (
        known.join(revoked, inside)
        .groupBy("group", "started_ns", "ended_ns")
        .agg(F.count_distinct("place").alias("stopped"))
    )
