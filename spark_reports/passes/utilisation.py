"""Messages in flight to each client: deliveries, and their acknowledgements, refusals and releases.

Time is cut into slots, a fiftieth of a bucket, or wider if there are many partitions. In a slot the sum over time is
exact, and the order is unknown. The busy time of a client is that sum, limited to the slot: exact for a client that
takes one message at a time, and within a slot for the others.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from broker_core.events import FETCHED_AGAIN
from spark_reports.scale import Scale

PLACE = ("group", "client", "topic", "partition")
OUT = ("acknowledged", "nacked", "released", "lease_expired")


def slots(messages: DataFrame, scale: Scale, slot_ns: int) -> DataFrame:
    """Per group, client, partition and slot: the change of the number in hand, and that summed over time. Bound: places
    x slots, as many as `Scale.slot_ns_for` chooses.
    """
    in_hand = F.col("cause") == FETCHED_AGAIN  # the client had it already
    given = F.when(in_hand, 0).otherwise(F.col("count"))
    sign = F.when(F.col("kind") == "delivered", given).otherwise(-F.col("count"))
    slot = scale.start("time_ns", slot_ns)
    left = F.when(slot < scale.from_ns, F.lit(0)).otherwise(slot + slot_ns - F.col("time_ns"))
    return (
        messages.where(F.col("kind").isin("delivered", *OUT) & (F.col("group") != ""))
        .select(*PLACE, slot.alias("slot_ns"), sign.alias("change"), left.alias("left"))
        .groupBy(*PLACE, "slot_ns")
        .agg(
            F.sum("change").cast("bigint").alias("change"),
            F.sum(F.col("change").cast("double") * F.col("left")).alias("area"),
        )
    )
