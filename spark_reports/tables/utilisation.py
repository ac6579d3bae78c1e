from __future__ import annotations

import polars as pl

from spark_reports.scale import Scale
from spark_reports.tables.details import places

TIME_SCHEMA = "`group` STRING, client STRING, start_ns BIGINT, busy_ns BIGINT, in_hand DOUBLE"
_PLACE = ("group", "client", "topic", "partition")
_CLIENT = ("group", "client")
_LONG = pl.col("to_ns") - pl.col("from_ns")
_BUSY = pl.min_horizontal(pl.col("held").ceil().cast(pl.Int64), _LONG)


def spans(slots: pl.DataFrame, detailed: pl.DataFrame, lives: pl.DataFrame, scale: Scale, slot_ns: int) -> pl.DataFrame:
    """The time of each client in spans: slots in which its hand changed, and the time between. `held` is messages in
    hand x ns. What a client had not committed leaves its hand with the partition or the member's life; a lease lasts
    until an event ends it.
    """
    per_client = _changes(slots, detailed, lives, scale, slot_ns)
    steps = per_client.with_columns(
        after=pl.col("change").cum_sum().over(_CLIENT),
        end_ns=pl.max_horizontal((pl.col("slot_ns") + slot_ns).clip(upper_bound=scale.to_ns), "slot_ns"),
        next_ns=pl.col("slot_ns").shift(-1).over(_CLIENT).fill_null(scale.to_ns),
    )
    before = pl.col("after") - pl.col("change")
    held = before * (pl.col("end_ns") - pl.col("slot_ns")) + pl.col("area")
    inside = steps.filter(pl.col("slot_ns") >= scale.from_ns).select(
        *_CLIENT,
        pl.col("slot_ns").alias("from_ns"),
        pl.col("end_ns").alias("to_ns"),
        held.clip(lower_bound=0.0).alias("held"),
    )
    between = steps.filter(pl.col("next_ns") > pl.col("end_ns")).select(
        *_CLIENT,
        pl.col("end_ns").alias("from_ns"),
        pl.col("next_ns").alias("to_ns"),
        (pl.col("after") * (pl.col("next_ns") - pl.col("end_ns"))).cast(pl.Float64).alias("held"),
    )
    return pl.concat([inside, between]).filter(_LONG > 0).with_columns(busy_ns=_BUSY)


def within(spans: pl.DataFrame, lives: pl.DataFrame, slot_ns: int) -> pl.DataFrame:
    """The parts of `spans` in which the client was there. What it held in a slot, it held while it was there."""
    whole = pl.col("ends_ns") - pl.col("began_ns")
    share = pl.when(whole > slot_ns).then(_LONG / whole).otherwise(1.0)
    return (
        spans.rename({"from_ns": "began_ns", "to_ns": "ends_ns"})
        .join(lives, on=_CLIENT)
        .with_columns(from_ns=pl.max_horizontal("began_ns", "from_ns"), to_ns=pl.min_horizontal("ends_ns", "to_ns"))
        .filter(_LONG > 0)
        .with_columns(held=pl.col("held") * share)
        .with_columns(busy_ns=_BUSY)
        .select(spans.columns)
    )


def _changes(
    slots: pl.DataFrame, detailed: pl.DataFrame, lives: pl.DataFrame, scale: Scale, slot_ns: int
) -> pl.DataFrame:
    """Per client and slot, in order: by how much its hand changed, and that summed over the rest of the slot."""
    none = pl.lit(0, pl.Int64)
    members = detailed.filter(pl.col("kind").is_in(["member_joined", "partitions_assigned"])).select("group")
    over = (
        lives.join(members, on="group", how="semi")
        .join(slots.select(_PLACE).unique(), on=_CLIENT)
        .select(*_PLACE, pl.col("to_ns").alias("time_ns"))
    )
    taken = pl.concat([places(detailed, "partitions_revoked").select(*_PLACE, "time_ns"), over]).select(
        *_PLACE,
        scale.start_of("time_ns", slot_ns).alias("slot_ns"),
        none.alias("change"),
        pl.lit(0.0).alias("area"),
        pl.lit(1, pl.Int32).alias("taken"),
    )
    came = slots.select(*_PLACE, "slot_ns", "change", "area", pl.lit(0, pl.Int32).alias("taken"))
    sofar, turn = pl.col("sofar"), (*_PLACE, "turn")
    return (
        pl.concat([came, taken])
        .sort(*_PLACE, "slot_ns", "taken")
        .with_columns(turn=pl.col("taken").cum_sum().over(_PLACE))
        .with_columns(sofar=pl.col("change").cum_sum().over(turn))
        # A commit may cover more than was delivered; a client never has less than none in flight.
        .with_columns(after=sofar - sofar.cum_min().over(turn).clip(upper_bound=0))
        .with_columns(before=pl.col("after").shift(1).over(_PLACE).fill_null(0))
        .group_by(*_CLIENT, "slot_ns")
        .agg((pl.col("after") - pl.col("before")).sum().alias("change"), pl.col("area").sum())
        .filter((pl.col("change") != 0) | (pl.col("area") != 0))
        .sort(*_CLIENT, "slot_ns")
    )


def in_hand_over_time(spans: pl.DataFrame, scale: Scale) -> pl.DataFrame:
    """Per group, client and time bucket: how long it was busy, and its mean number of messages in hand."""
    width = scale.width_ns
    last = scale.start_of("last_ns") + width
    end = pl.min_horizontal("to_ns", pl.col("start_ns") + width)
    overlap = end - pl.max_horizontal("from_ns", "start_ns")
    share = overlap / (pl.col("to_ns") - pl.col("from_ns"))
    return (
        spans.with_columns(last_ns=pl.max_horizontal(pl.col("to_ns") - 1, "from_ns"))
        .with_columns(start_ns=pl.int_ranges(scale.start_of("from_ns"), last, width))
        .explode("start_ns", empty_as_null=False, keep_nulls=False)
        .group_by(*_CLIENT, "start_ns")
        .agg(
            (pl.col("busy_ns") * share).sum().round().cast(pl.Int64).alias("busy_ns"),
            ((pl.col("held") * share).sum() / width).alias("in_hand"),
        )
        .sort(*_CLIENT, "start_ns")
    )
