"""Runs the questions on Spark and brings home what is drawn."""

from __future__ import annotations

from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from spark_reports.frames import KEPT, read_frames
from spark_reports.parts import EVERY, kept_of, made_for, tables_of, weights
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
    """The tables of one session by name, with the time scale and the parts of the report that they were made for."""

    tables: dict[str, pa.Table]
    scale: Scale
    whole: bool = True  # False for a part of the session
    parts: frozenset[str] = EVERY

    def written(self) -> dict[str, pa.Table]:
        """The tables that were asked for."""
        return {name: table for name, table in self.tables.items() if name in tables_of(self.parts)}


def steps(parts: Collection[str], prefix: str = "") -> dict[str, float]:
    """What each step of `make_tables` weighs; their names begin with `prefix`."""
    return {prefix + name: weight for name, weight in weights(parts).items()}


def make_tables(
    spark: SparkSession,
    info: SessionInfo,
    progress: Progress,
    from_ns: int | None = None,
    to_ns: int | None = None,
    prefix: str = "",
    parts: frozenset[str] = EVERY,
) -> Made:
    """The tables of these parts of the report, from one time to another. What Spark raises, goes through."""
    frames = read_frames(spark, info, from_ns, to_ns)
    context = spark.sparkContext
    names, kept = made_for(parts), kept_of(parts)
    wanted = [table for table in TABLES if table.name in names]

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
        if name in kept:
            keep(name, label, getattr(frames, name))
    pool = ThreadPoolExecutor(PARALLEL, "tables")
    try:
        tables = dict(pool.map(collect, (table for table in wanted if not table.after)))
    finally:
        pool.shutdown(cancel_futures=True)
    for table in wanted:
        if table.after:
            tables[table.name] = collect_later(table, tables[table.after])
    frames.release()
    whole = from_ns is None and to_ns is None
    return Made({table.name: tables[table.name] for table in wanted}, frames.scale, whole, parts)
