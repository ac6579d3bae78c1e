from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar

import polars as pl

from spark_reports.errors import TooMany

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MOST_ROWS = 1_000_000  # of one pass: some hundred MB
MOST_CLIENTS = 200
MOST_GROUPS = 100
OTHERS = "(others)"
F = TypeVar("F", pl.DataFrame, pl.LazyFrame)


def bring(frame: DataFrame, most: int = MOST_ROWS) -> pl.DataFrame:
    """The rows of `frame`, by Arrow. Raises `TooMany` if there are more than `most`."""
    found = pl.from_arrow(frame.limit(most + 1).toArrow())
    assert isinstance(found, pl.DataFrame)
    return bounded(found, most)


def bounded(found: pl.DataFrame, most: int = MOST_ROWS) -> pl.DataFrame:
    if found.height > most:
        raise TooMany(
            f"The session has more than {most:,} series of figures: too many clients, groups, topics and partitions. "
            "Report on only part of it with --from and --to, or with --parts."
        )
    return found


def local(spark: SparkSession, frame: pl.DataFrame) -> DataFrame:
    """`frame` for the executors: by Arrow, for a list of rows would start Python there."""
    import pyarrow as pa

    table = frame.to_arrow()
    return spark.createDataFrame(table.cast(pa.schema([(field.name, _plain(field.type)) for field in table.schema])))


def _plain(kind: object) -> object:
    import pyarrow as pa

    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pa.string()
    return pa.int64() if pa.types.is_uint32(kind) else kind


class Names(NamedTuple):
    """The clients and groups with rows of their own if there are too many: those with the most events."""

    clients: tuple[str, ...]
    groups: tuple[str, ...]
    notes: tuple[str, ...]

    @classmethod
    def of(cls, messages: pl.LazyFrame) -> Names:
        clients, groups = _most(messages, "client", MOST_CLIENTS), _most(messages, "group", MOST_GROUPS)
        said = (("client", clients, MOST_CLIENTS), ("group", groups, MOST_GROUPS))
        notes = tuple(
            f"There are too many {name}s to tell apart: all but the {most} with the most events are "
            f"counted together as {OTHERS}."
            for name, found, most in said
            if len(found) > most
        )
        return cls(clients[:MOST_CLIENTS], groups[:MOST_GROUPS], notes)


def _most(messages: pl.LazyFrame, column: str, most: int) -> tuple[str, ...]:
    counted = messages.filter(pl.col(column) != "").group_by(column).len()
    return tuple(counted.sort("len", column, descending=[True, False]).head(most + 1).collect()[column])


def named(events: F, names: Names) -> F:
    """`events` with client and group names replaced as by `capped`, for Polars."""
    client, group = pl.col("client"), pl.col("group")
    known = group.is_in([*names.groups, ""]) | (group == pl.col("topic"))
    return events.with_columns(
        client=pl.when(client.is_in([*names.clients, ""])).then(client).otherwise(pl.lit(OTHERS)),
        group=pl.when(known).then(group).otherwise(pl.lit(OTHERS)),
    )


def capped(events: DataFrame, names: Names) -> DataFrame:
    """`events` in which all other names are `OTHERS`; a queue keeps its own."""
    from pyspark.sql import functions as F

    client, group = F.col("client"), F.col("group")
    known = group.isin(*names.groups, "") | (group == F.col("topic"))
    return events.withColumns(
        {
            "client": F.when(client.isin(*names.clients, ""), client).otherwise(OTHERS),
            "group": F.when(known, group).otherwise(OTHERS),
        }
    )
