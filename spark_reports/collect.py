"""Runs the questions on Spark and brings home what is drawn."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from spark_reports.tables import TABLES, Frames, Table

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
    duration_ns: int
    width_ns: int


def make_tables(spark: SparkSession, info: SessionInfo, progress: Progress) -> Made:
    """Every table of the session. What Spark raises, goes through."""
    frames = Frames(spark, info)
    context = spark.sparkContext

    def keep(name: str, label: str, frame: DataFrame) -> None:
        with progress.step(name, label):
            context.setJobGroup(name, label)
            frame.count()

    def collect(table: Table) -> tuple[str, pa.Table]:
        with progress.step(table.name, table.label):
            context.setJobGroup(table.name, table.label)
            return table.name, table.build(frames).toArrow()

    keep("rollup", "Reading messages", frames.rollup)
    keep("latency_buckets", "Measuring latency", frames.latency_buckets)
    pool = ThreadPoolExecutor(PARALLEL, "tables")
    try:
        tables = dict(pool.map(collect, TABLES))
    finally:
        pool.shutdown(cancel_futures=True)
    return Made(tables, frames.duration_ns, frames.width_ns)
