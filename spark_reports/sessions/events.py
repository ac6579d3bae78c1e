from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from broker_core.recording import schema
from spark_reports.sessions.session import SessionInfo, is_remote

if TYPE_CHECKING:
    import polars as pl
    from pyspark.sql import DataFrame, SparkSession

#: Columns of the events for which a condition in SQL holds, at most so many of them.
Reader: TypeAlias = "Callable[[str, Sequence[str], int | None], pl.DataFrame]"

_SQL_TYPES = {"int64": "BIGINT", "int32": "INT", "string": "STRING", "binary": "BINARY"}

#: The columns of both tables, as Spark writes them.
EVENTS_SCHEMA = ", ".join(f"`{column.name}` {_SQL_TYPES[str(column.type)]}" for column in schema.EVENT_SCHEMA)


def read_events(spark: SparkSession, info: SessionInfo, folder: str) -> DataFrame:
    """The table of `folder` (messages or control), without the parts that are known to be damaged."""
    files = info.parts.get(folder, [])
    return read_files(spark, files) if files else no_events(spark)


def reader(events: DataFrame, files: Sequence[str] = (), condition: str = "TRUE") -> Reader:
    """Reads `events`, without Spark if all of them are in `files` of this machine: it takes ten times the CPU to hand
    over one after the other.
    """
    import polars as pl

    if any(map(is_remote, files)) or not files:

        def brought(where: str, columns: Sequence[str], most: int | None) -> pl.DataFrame:
            asked = events.where(where).select(*columns)
            found = pl.from_arrow((asked if most is None else asked.limit(most)).toArrow())
            assert isinstance(found, pl.DataFrame)
            return found

        return brought
    scan = pl.scan_parquet([file.removeprefix("file://") for file in files], glob=False).filter(pl.sql_expr(condition))

    def read(where: str, columns: Sequence[str], most: int | None) -> pl.DataFrame:
        asked = scan.filter(pl.sql_expr(where)).select(columns)
        return (asked if most is None else asked.head(most)).collect()

    return read


def no_events(spark: SparkSession, **more: str) -> DataFrame:
    """A table of events without any; `more` columns are as in SQL."""
    from pyspark.sql import functions as F

    columns = {**more, **{column.name: _SQL_TYPES[str(column.type)] for column in schema.EVENT_SCHEMA}}
    return spark.range(0).select(*(F.lit(None).cast(kind).alias(name) for name, kind in columns.items()))


def read_files(spark: SparkSession, files: Sequence[str]) -> DataFrame:
    """The events of `files`, whose names are taken as they are: a * in one is a *. A damaged page is an error."""
    reader = spark.read.schema(EVENTS_SCHEMA).option("parquet.page.verify-checksum.enabled", "true")
    return reader.parquet(*(re.sub(r"([\[\]{}*?\\])", r"\\\1", file) for file in files))
