from __future__ import annotations

import re
from typing import TYPE_CHECKING

from broker_core.recording import schema
from spark_reports.sessions.session import SessionInfo
from spark_reports.spark.bounds import local

if TYPE_CHECKING:
    import polars as pl
    from pyspark.sql import DataFrame, SparkSession

_SQL_TYPES = {"int64": "BIGINT", "int32": "INT", "string": "STRING", "binary": "BINARY"}

#: The columns of both tables, as Spark writes them.
EVENTS_SCHEMA = ", ".join(f"`{column.name}` {_SQL_TYPES[str(column.type)]}" for column in schema.EVENT_SCHEMA)


def scan_events(info: SessionInfo, folder: str) -> pl.LazyFrame:
    """The table of `folder` (messages or control) without the parts that are known to be damaged, read by Polars: Spark
    takes ten times the CPU to hand over one event after the other.
    """
    import polars as pl

    files = [file.removeprefix("file://") for file in info.parts.get(folder, [])]
    if files:
        return pl.scan_parquet(files, glob=False)
    nothing = pl.from_arrow(schema.EVENT_SCHEMA.empty_table())
    assert isinstance(nothing, pl.DataFrame)
    return nothing.lazy()


def read_events(spark: SparkSession, info: SessionInfo, folder: str) -> DataFrame:
    """The same table, read by Spark: names of files are taken as they are, a * is a *. A damaged page is an error."""
    files = [re.sub(r"([\[\]{}*?\\])", r"\\\1", file) for file in info.parts.get(folder, [])]
    if not files:
        return local(spark, scan_events(info, folder).collect())
    return spark.read.schema(EVENTS_SCHEMA).option("parquet.page.verify-checksum.enabled", "true").parquet(*files)
