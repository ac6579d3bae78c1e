"""Events with what matters, what the passes would make of them, and the comparison of a table with its rows.

What the passes do on Spark is done here anew with Polars, so that tables are tested in milliseconds;
`tests.spark_reports.passes.test_passes` holds the two to the same figures.
"""

from __future__ import annotations

import math
from types import SimpleNamespace

import polars as pl

from broker_core.recording import schema
from broker_core.recording.ownership import Ownership
from resources.measures import DURATION_GROWTH
from spark_reports.passes import counts
from spark_reports.scale import Scale
from spark_reports.tables import ownership
from spark_reports.tables.latency import replays
from spark_reports.tables.schema import arrow, rows

S = 1_000_000_000
MS = 1_000_000
_TYPES = {"int64": pl.Int64(), "int32": pl.Int32(), "string": pl.String(), "binary": pl.Binary()}
EVENT = {column.name: _TYPES[str(column.type)] for column in schema.EVENT_SCHEMA}
_EMPTY = dict.fromkeys(EVENT) | dict.fromkeys(("topic", "client", "group", "cause", "to_topic", "member"), "")
_TOLD = ("rejected", "dropped", "evicted", "dead_lettered")


def check(answer: pl.DataFrame, schema: str, rows: list[tuple]) -> None:
    """`answer` has exactly these columns, types and rows, in this order."""
    assert [tuple(row.values()) for row in arrow(answer, schema).to_pylist()] == rows


def told(answer: pl.DataFrame, schema: str) -> list[SimpleNamespace]:
    """The rows of a table with these columns."""
    return [SimpleNamespace(**row) for row in arrow(answer, schema).to_pylist()]


def events(*rows: dict) -> pl.DataFrame:
    """Events, one a dict: only the fields that matter; `seq` is the place in the list where it is not given."""
    empty = _EMPTY | {"count": 0, "size_bytes": 0, "time_ns": 0}
    return pl.DataFrame([{**empty, "seq": number, **row} for number, row in enumerate(rows)], EVENT, orient="row")


def happened(*rows: dict) -> pl.DataFrame:
    """Control events as their pass brings them."""
    return events(*rows).select(counts.CONTROL_COLUMNS)


def reduced(control: pl.DataFrame) -> Ownership:
    """Owners and gaps as the reducer has them where no delivery tells anything."""
    return ownership.reduced(ownership.told(control), rows(ownership.READ_ON_SCHEMA, []))


def owned(control: pl.DataFrame, scale: Scale) -> pl.DataFrame:
    """Who owned which partition."""
    return ownership.ownership(reduced(control), ownership.told(control), scale)


def rolled(table: pl.DataFrame, scale: Scale) -> pl.DataFrame:
    """What `passes.rollup` makes of events."""
    after = pl.col("offset") + pl.col("count")
    told = pl.when(pl.col("kind").is_in(_TOLD)).then("cause").otherwise(pl.lit(""))
    return (
        table.with_columns(start_ns=scale.start_of("time_ns"), cause=told)
        .group_by("start_ns", *counts.KEYS)
        .agg(
            pl.len().cast(pl.Int64).alias("events"),
            pl.col("count").sum().alias("messages"),
            pl.col("size_bytes").sum().alias("bytes"),
            after.sort_by("seq").last().alias("end_offset"),
            (pl.col("to_offset") + pl.col("count")).max().alias("to_end_offset"),
            pl.col("time_ns").min().alias("first_ns"),
            pl.col("time_ns").max().alias("last_ns"),
            pl.col("seq").max().alias("last_seq"),
            pl.col("offset").min().alias("first_offset"),
            after.max().alias("reached_offset"),
        )
        .select(counts.COLUMNS)
    )


def slots(table: pl.DataFrame, scale: Scale) -> pl.DataFrame:
    """What `passes.utilisation` makes of events."""
    width = scale.slot_ns()
    came = pl.col("kind") == "delivered"
    left = pl.when(pl.col("slot_ns") < scale.from_ns).then(0).otherwise(pl.col("slot_ns") + width - pl.col("time_ns"))
    return (
        table.filter(
            pl.col("kind").is_in(["delivered", "acknowledged", "nacked", "released", "lease_expired"])
            & (pl.col("group") != "")
        )
        .with_columns(
            slot_ns=scale.start_of("time_ns", width), change=pl.when(came).then("count").otherwise(-pl.col("count"))
        )
        .group_by("group", "client", "topic", "partition", "slot_ns")
        .agg(pl.col("change").sum(), (pl.col("change") * left).sum().cast(pl.Float64).alias("area"))
    )


def late(table: pl.DataFrame, scale: Scale, control: pl.DataFrame | None = None) -> pl.DataFrame:
    """What `passes.latency` makes of events."""
    found = table.filter(
        (((pl.col("kind") == "delivered") & (pl.col("attempt").fill_null(1) == 1)) | (pl.col("kind") == "acknowledged"))
        & pl.col("published_ns").is_not_null()
    ).with_columns(duration=(pl.col("time_ns") - pl.col("published_ns")).clip(lower_bound=0))
    grace, born, at = S, pl.col("published_ns"), pl.col("time_ns")
    found = found.join(replays(happened() if control is None else control), on="group", how="left")
    old = (born < pl.col("joined_ns") - grace) | ((born < pl.col("reset_ns") - grace) & (at >= pl.col("reset_ns")))
    again = {"delivered": "replayed", "acknowledged": "replayed and acknowledged"}
    bucket = (pl.col("duration").log() / math.log(DURATION_GROWTH)).floor().cast(pl.Int32, strict=False)
    return (
        found.with_columns(
            measure=pl.when(old.fill_null(False))
            .then(pl.col("kind").replace_strict(again, default=""))
            .otherwise("kind"),
            start_ns=scale.start_of("time_ns"),
            log_bucket=pl.when(pl.col("duration") < 1).then(-1).otherwise(bucket),
        )
        .group_by("measure", "topic", "group", "start_ns", "log_bucket")
        .agg(pl.col("count").sum().alias("messages"), pl.col("duration").max().alias("max_ns"))
    )


def published(at: int, partition: int, offset: int, count: int = 1, **more: object) -> dict:
    return {
        "kind": "published", "time_ns": at, "topic": "t", "partition": partition, "offset": offset, "count": count,
        "size_bytes": 10 * count, "client": "p", **more,
    }  # fmt: skip


def committed(at: int, partition: int, offset: int, count: int = 1, **more: object) -> dict:
    return {
        "kind": "acknowledged", "time_ns": at, "topic": "t", "partition": partition, "offset": offset, "count": count,
        "client": "c", "group": "g", **more,
    }  # fmt: skip


def delivered(at: int, partition: int, offset: int, count: int = 1, attempt: int = 1) -> dict:
    return committed(at, partition, offset, count, kind="delivered", attempt=attempt)


def leased(kind: str, at: int, offset: int, count: int = 1, **more: object) -> dict:
    return {
        "kind": kind, "time_ns": at, "topic": "q", "partition": 0, "offset": offset, "count": count, "group": "q",
        "client": "w", "attempt": 1, **more,
    }  # fmt: skip
