"""Runs the questions on Spark and brings home what is drawn."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from spark_reports.frames import KEPT, read_frames
from spark_reports.scale import Scale
from spark_reports.tables import TABLES, Table

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from spark_reports.progress import Progress
    from spark_reports.session import SessionInfo

PARALLEL = 3  # small jobs wait for planning more than for the processors


@dataclass(frozen=True)
class Made:
    """The tables of one session by name, with the time scale they were made for."""

    tables: dict[str, pa.Table]
    scale: Scale
    whole: bool = True  # False for a part of the session


def steps(prefix: str = "") -> dict[str, float]:
    """What each step of `make_tables` weighs; their names begin with `prefix`."""
    weights = {"rollup": 8.0, "latency_buckets": 4.0, "slots": 4.0, "words": 8.0, "late": 4.0, "dead": 2.0}
    return {prefix + name: weights.get(name, 1.0) for name in (*KEPT, *(table.name for table in TABLES))}


def make_tables(
    spark: SparkSession,
    info: SessionInfo,
    progress: Progress,
    from_ns: int | None = None,
    to_ns: int | None = None,
    prefix: str = "",
) -> Made:
    """Every table of the session, or of its part. What Spark raises, goes through."""
    frames = read_frames(spark, info, from_ns, to_ns)
    context = spark.sparkContext

    def keep(name: str, label: str, frame: DataFrame) -> None:
        with progress.step(prefix + name, label):
            context.setJobGroup(prefix + name, label)
            frame.count()

    def collect(table: Table) -> tuple[str, pa.Table]:
        with progress.step(prefix + table.name, table.label):
            context.setJobGroup(prefix + table.name, table.label)
            return table.name, table.build(frames).toArrow()

    def collect_later(table: Table, first: pa.Table) -> pa.Table:
        """What depends on `first` is looked for only where that found something."""
        if any(not ok for ok in first.column("ok").to_pylist()):
            return collect(table)[1]
        with progress.step(prefix + table.name, table.label):
            return spark.createDataFrame([], table.schema).toArrow()

    for name, label in KEPT.items():
        keep(name, label, getattr(frames, name))
    pool = ThreadPoolExecutor(PARALLEL, "tables")
    try:
        tables = dict(pool.map(collect, (table for table in TABLES if not table.after)))
    finally:
        pool.shutdown(cancel_futures=True)
    for table in TABLES:
        if table.after:
            tables[table.name] = collect_later(table, tables[table.after])
    frames.release()
    return Made(
        {table.name: tables[table.name] for table in TABLES}, frames.scale, whole=from_ns is None and to_ns is None
    )
