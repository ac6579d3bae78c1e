"""Events with what matters, what the passes would make of them, and the comparison of a table with its rows.

What the passes do on Spark is done here anew with Polars, so that tables are tested in milliseconds;
`tests.spark_reports.passes.test_passes` holds the two to the same figures.
"""

from __future__ import annotations

import math
from types import SimpleNamespace

import polars as pl

from broker_core.events import FETCHED_AGAIN
from broker_core.recording import schema
from broker_core.recording.ownership import Ownership
from resources.measures import DURATION_GROWTH
from spark_reports.passes import counts, fold
from spark_reports.passes.kinds import ENDS_IN_FLIGHT, WORKED
from spark_reports.pipeline.session_data import CONTROL_COLUMNS
from spark_reports.scale import Scale
from spark_reports.tables import consumers, ownership
from spark_reports.tables.latency import replays
from spark_reports.tables.schema import arrow

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
    return events(*rows).select(CONTROL_COLUMNS)


def reduced(control: pl.DataFrame) -> Ownership:
    """Owners and gaps as the reducer has them where no delivery tells anything."""
    owners = Ownership(keeps_all=True)
    whole = pl.concat([events(), control], how="diagonal").with_columns(
        pl.col(pl.String).exclude("detail").fill_null("")
    )
    for event in fold.events(whole.with_columns(pl.col("count").fill_null(0), size_bytes=0).select(list(EVENT))):
        owners(event)
    return owners


def owned(control: pl.DataFrame, scale: Scale) -> pl.DataFrame:
    """Who owned which partition."""
    return ownership.ownership(reduced(control), scale)


def rolled(table: pl.DataFrame, scale: Scale) -> pl.DataFrame:
    """What `passes.rollup` makes of events."""
    after = pl.col("offset") + pl.col("count")
    told = pl.when(pl.col("kind").is_in(_TOLD)).then("cause").otherwise(pl.lit(""))
    return (
        table.with_columns(start_ns=scale.polars_bucket_start("time_ns"), cause=told)
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
    )


def in_flight_time(table: pl.DataFrame, lost: pl.DataFrame, scale: Scale) -> pl.DataFrame:
    """What `passes.in_flight_time` makes of events."""
    place, count, out = (*consumers.CLIENT, "topic", "partition"), pl.col("count"), pl.col("kind").is_in(ENDS_IN_FLIGHT)
    given = pl.when(pl.col("cause") == FETCHED_AGAIN).then(0).otherwise(count)
    came = table.filter(((pl.col("kind") == "delivered") | out) & (pl.col("group") != "")).select(
        *(*place, "seq", "time_ns"),
        change=pl.when(out).then(-count).otherwise(given),
        out=pl.when(out).then(count).otherwise(0),
        done=pl.when(pl.col("kind").is_in(WORKED)).then(count).otherwise(0),
        loses_all=pl.lit(0),
    )
    gone = lost.select(*place, "seq", "time_ns", *(pl.lit(0, pl.Int64).alias(n) for n in ("change", "out", "done")),
                        loses_all=pl.lit(1))  # fmt: skip
    steps = pl.concat([came, gone], how="vertical_relaxed").sort("seq").with_columns(lease=pl.col("change"))
    sofar, turn = pl.col("sofar"), (*place, "turn")
    steps = steps.with_columns(
        sofar=pl.col("change").cum_sum().over(place), turn=pl.col("loses_all").cum_sum().over(place)
    )
    least = pl.when(pl.col("turn") == 0).then(sofar.cum_min().over(turn).clip(upper_bound=0))
    hand = sofar - least.otherwise(sofar.cum_min().over(turn))
    steps = steps.with_columns(hand=hand)
    steps = steps.with_columns(change=pl.col("hand") - pl.col("hand").shift(1, fill_value=0).over(place))
    by, at, hand = consumers.CLIENT, pl.col("time_ns"), pl.col("hand")
    each = (
        steps.group_by(*by, "time_ns")
        .agg(pl.col("change", "lease", "out", "done").sum())
        .sort(*by, "time_ns")
        .with_columns(
            hand=pl.col("change").cum_sum().over(by).clip(lower_bound=0),
            lease=pl.col("lease").cum_sum().over(by).clip(lower_bound=0),
            next_ns=at.shift(-1).over(by).fill_null(scale.to_ns),
        )
        .with_columns(began=pl.when((hand > 0) & (hand.shift(1, fill_value=0).over(by) <= 0)).then(at))
        .with_columns(
            since=pl.max_horizontal(
                pl.col("began").shift(1).over(by).forward_fill().over(by),
                pl.when(pl.col("out") > 0).then(at).shift(1).over(by).forward_fill().over(by),
            )
        )
        .with_columns(each=pl.when(pl.col("done") > 0).then((at - pl.col("since")) / pl.col("done")))
    )
    width = scale.width_ns
    pieces = (
        each.with_columns(began=pl.max_horizontal("time_ns", pl.lit(scale.from_ns)), ends=pl.col("next_ns"))
        .filter(pl.col("ends") >= pl.col("began"))
        .with_columns(last=pl.max_horizontal(pl.col("ends") - 1, "began"))
        .with_columns(
            start_ns=pl.int_ranges(scale.polars_bucket_start("began"), scale.polars_bucket_start("last") + 1, width)
        )
        .explode("start_ns", empty_as_null=False, keep_nulls=False)
        .with_columns(
            until=pl.when(pl.col("start_ns") >= scale.last_ns).then("ends").otherwise(pl.col("start_ns") + width),
            own=(pl.col("start_ns") == scale.polars_bucket_start("began"))
            & (at >= scale.from_ns)
            & pl.col("each").is_not_null(),
        )
        .with_columns(long=pl.min_horizontal("ends", "until") - pl.max_horizontal("began", "start_ns"))
        .with_columns(
            busy_ns=pl.when(hand > 0).then("long").otherwise(0),
            in_flight_message_ns=hand.cast(pl.Float64) * pl.col("long"),
            leased_message_ns=pl.col("lease").cast(pl.Float64) * pl.col("long"),
            done=pl.when("own").then("done").otherwise(0),
            worked_ns=pl.when("own").then(pl.col("each") * pl.col("done")).otherwise(0.0),
            log_bucket=pl.when("own").then(
                pl.when(pl.col("each") < 1)
                .then(-1)
                .otherwise((pl.col("each").log() / math.log(DURATION_GROWTH)).floor().cast(pl.Int32, strict=False))
            ),
        )
    )
    names = ("busy_ns", "in_flight_message_ns", "leased_message_ns", "done", "worked_ns")
    summed = (pieces.group_by(*by, name).agg(pl.col(names).sum()) for name in ("start_ns", "log_bucket"))
    return pl.concat(list(summed), how="diagonal").filter(
        pl.col("start_ns").is_not_null() | pl.col("log_bucket").is_not_null()
    )


def late(table: pl.DataFrame, scale: Scale, control: pl.DataFrame | None = None) -> pl.DataFrame:
    """What `passes.durations` makes of events."""
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
            start_ns=scale.polars_bucket_start("time_ns"),
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
