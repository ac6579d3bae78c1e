"""What did each client have in its hands: delivered to it, and not yet acknowledged, refused or given back?

Time is cut into slots, a fiftieth of a bucket. In a slot the exact sum over time is known, but not the order, so
a client was busy for that sum, and at most for the whole slot: exact for who takes one message at a time, and to a slot
for the others.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from spark_reports.scale import Scale

SLOTS_SCHEMA = "`group` STRING, client STRING, topic STRING, partition INT, slot_ns BIGINT, change BIGINT, area DOUBLE"
TIME_SCHEMA = "`group` STRING, client STRING, start_ns BIGINT, busy_ns BIGINT, in_hand DOUBLE"
SPANS_SCHEMA = (
    "`group` STRING, client STRING, from_ns BIGINT, to_ns BIGINT, in_hand BIGINT, busy_ns BIGINT, held DOUBLE"
)
_PLACE = ("group", "client", "topic", "partition")
_OUT = ("acknowledged", "nacked", "released", "lease_expired")


def slots(messages: DataFrame, scale: Scale) -> DataFrame:
    """Per group, client, partition and slot: by how much the number in hand changed, and the change summed over
    time.
    """
    sign = F.when(F.col("kind") == "delivered", F.col("count")).otherwise(-F.col("count"))
    slot = scale.start("time_ns", scale.slot_ns)
    left = F.when(slot < scale.from_ns, F.lit(0)).otherwise(slot + scale.slot_ns - F.col("time_ns"))
    return (
        messages.where(F.col("kind").isin("delivered", *_OUT) & (F.col("group") != ""))
        .select(*_PLACE, slot.alias("slot_ns"), sign.alias("change"), left.alias("left"))
        .groupBy(*_PLACE, "slot_ns")
        .agg(
            F.sum("change").cast("bigint").alias("change"),
            F.sum(F.col("change").cast("double") * F.col("left")).alias("area"),
        )
    )


def spans(slots: DataFrame, control: DataFrame, scale: Scale) -> DataFrame:
    """The time of each client in spans: slots in which its hand changed, and the time between them.

    `in_hand` is the number at the end of the span, `held` the messages in hand summed over its nanoseconds. A
    partition that is taken
    from a client takes with it what the client had not committed: `control` says so.
    """
    taken = (
        control.where(F.col("kind") == "partitions_revoked")
        .select("group", "client", "time_ns", F.explode(F.from_json("detail", _PARTITIONS).partitions).alias("place"))
        .select(
            *("group", "client", F.col("place")[0].alias("topic"), F.col("place")[1].cast("int").alias("partition")),
            scale.start("time_ns", scale.slot_ns).alias("slot_ns"),
            F.lit(0).cast("bigint").alias("change"),
            F.lit(0.0).alias("area"),
            F.lit(1).alias("taken"),
        )
    )
    per_place = Window.partitionBy(*_PLACE).orderBy("slot_ns", "taken")
    turn = F.sum("taken").over(per_place.rowsBetween(Window.unboundedPreceding, Window.currentRow))
    turns = slots.withColumn("taken", F.lit(0)).union(taken).withColumn("turn", turn)
    in_turn = Window.partitionBy(*_PLACE, "turn").orderBy("slot_ns", "taken")
    # A commit may cover more than was delivered; nobody has less than nothing, and what is too much is forgotten.
    summed = turns.withColumn("sum", F.sum("change").over(in_turn))
    after = F.col("sum") - F.least(F.min("sum").over(in_turn), F.lit(0))
    known = summed.withColumn("after", after).withColumn(
        "before", F.coalesce(F.lag("after").over(per_place), F.lit(0)).cast("bigint")
    )
    per_client = (
        known.groupBy("group", "client", "slot_ns")
        .agg(F.sum(F.col("after") - F.col("before")).cast("bigint").alias("change"), F.sum("area").alias("area"))
        .where("change <> 0 OR area <> 0")
    )
    order = Window.partitionBy("group", "client").orderBy("slot_ns")
    end = F.least(F.col("slot_ns") + scale.slot_ns, F.lit(scale.to_ns))
    steps = per_client.select(
        *("group", "client", "slot_ns", "area", "change"),
        F.sum("change").over(order).alias("after"),
        F.greatest(end, F.col("slot_ns")).alias("end_ns"),
        F.coalesce(F.lead("slot_ns").over(order), F.lit(scale.to_ns)).alias("next_ns"),
    ).withColumn("before", F.col("after") - F.col("change"))
    held = F.greatest(F.col("before") * (F.col("end_ns") - F.col("slot_ns")) + F.col("area"), F.lit(0.0))
    inside = steps.where(F.col("slot_ns") >= scale.from_ns).select(
        "group",
        "client",
        F.col("slot_ns").alias("from_ns"),
        F.col("end_ns").alias("to_ns"),
        "after",
        held.alias("held"),
    )
    between = steps.where(F.col("next_ns") > F.col("end_ns")).select(
        *("group", "client", F.col("end_ns").alias("from_ns"), F.col("next_ns").alias("to_ns"), "after"),
        (F.col("after") * (F.col("next_ns") - F.col("end_ns"))).cast("double").alias("held"),
    )
    long = F.col("to_ns") - F.col("from_ns")
    return (
        inside.union(between)
        .select(
            *("group", "client", "from_ns", "to_ns", F.col("after").alias("in_hand")),
            F.least(F.ceil("held"), long).cast("bigint").alias("busy_ns"),
            "held",
        )
        .where(F.col("to_ns") > F.col("from_ns"))
    )


_PARTITIONS = "partitions ARRAY<ARRAY<STRING>>"


def hands_over_time(spans: DataFrame, scale: Scale) -> DataFrame:
    """Per group, client and time bucket: how long the client was busy, and how many messages it had in hand on
    average.
    """
    width = F.lit(scale.width_ns).cast("bigint")
    last = F.greatest(F.col("to_ns") - 1, F.col("from_ns"))
    pieces = spans.select(
        "*", F.explode(F.sequence(scale.start("from_ns"), scale.start(last), width)).alias("start_ns")
    )
    overlap = F.least("to_ns", F.col("start_ns") + scale.width_ns) - F.greatest("from_ns", "start_ns")
    share = overlap / (F.col("to_ns") - F.col("from_ns"))
    return (
        pieces.groupBy("group", "client", "start_ns")
        .agg(
            F.round(F.sum(F.col("busy_ns") * share)).cast("bigint").alias("busy_ns"),
            (F.sum(F.col("held") * share) / scale.width_ns).alias("in_hand"),
        )
        .orderBy("group", "client", "start_ns")
    )
