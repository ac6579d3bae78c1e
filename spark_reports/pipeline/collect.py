from __future__ import annotations

import traceback
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from spark_reports.errors import ReportError, reason
from spark_reports.pipeline.frames import PASSES, Frames, read_frames
from spark_reports.pipeline.tables import TABLES
from spark_reports.request.parts import (
    EVERY,
    KNOWN_WITHOUT_DELIVERIES,
    PARTS,
    in_order,
    made_for,
    passes_of,
    tables_of,
    titles,
)
from spark_reports.scale import Scale
from spark_reports.sessions.session import SessionInfo
from spark_reports.tables.schema import arrow

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

    from spark_reports.spark.progress import Progress

PARALLEL = 2  # while Spark plans one pass, it reads for another
#: What asks for nothing; what asks those; and so on.
_WAVES = (
    ("rollup", "hot_keys"),
    ("control",),
    ("folded", "latency_buckets", "dead_letters", "held"),
    ("published_in_pauses",),
)


@dataclass(frozen=True)
class Made:
    """The tables of one session by name, with the time scale and the parts of the report that they were made for."""

    tables: dict[str, pa.Table]
    scale: Scale
    whole: bool = True  # False for a part of the session
    parts: frozenset[str] = EVERY
    notes: tuple[str, ...] = ()  # sentences for the reader: what had to be put together
    failed: tuple[str, ...] = ()  # which parts are left out, and why

    def written(self) -> dict[str, pa.Table]:
        return {name: table for name, table in self.tables.items() if name in tables_of(self.parts)}

    def rows(self) -> dict[str, list[dict[str, Any]]]:
        return {name: table.to_pylist() for name, table in self.tables.items()}

    def shown(self) -> frozenset[str]:
        """The names of what the page is drawn from: these, and which hue everything has."""
        return frozenset(self.written()) | (self.tables.keys() & {"hues"})


def make_tables(
    spark: SparkSession,
    info: SessionInfo,
    progress: Progress,
    from_ns: int | None = None,
    to_ns: int | None = None,
    parts: frozenset[str] = EVERY,
) -> Made:
    """The tables of these parts, as far as the session knows of them. Raises `ReportError` if it knows nothing."""
    unknown = frozenset() if info.metadata.knows("deliveries") else parts - KNOWN_WITHOUT_DELIVERIES
    if parts == unknown:
        raise ReportError(f"This cannot be known from outside a cluster: {', '.join(titles(unknown))}.")
    parts = parts - unknown
    frames = read_frames(spark, info, from_ns, to_ns)
    names, wanted = made_for(parts), passes_of(parts)

    def make(name: str) -> None:
        with progress.step(name, PASSES[name]):
            spark.sparkContext.setJobGroup(name, PASSES[name])
            getattr(frames, name)

    pool = ThreadPoolExecutor(PARALLEL, "passes")
    try:
        for wave in _WAVES:
            list(pool.map(make, (name for name in wave if name in wanted)))
    finally:
        pool.shutdown(cancel_futures=True)
    with progress.step("tables", "Making the tables"):
        tables, failed = _tables(frames, names)
    lost = {part for part in parts if tables_of([part]) & failed.keys()}
    told = tuple(
        f"The part {PARTS[part].title} is left out: {failed[name]}."
        for part in in_order(lost)
        for name in sorted(tables_of([part]) & failed.keys())[:1]
    )
    whole = from_ns is None and to_ns is None
    notes = [f"Not known from outside, and left out: {', '.join(titles(unknown))}."] if unknown else []
    return Made(tables, frames.scale, whole, frozenset(parts) - lost, (*notes, *frames.notes), told)


def _tables(frames: Frames, names: Collection[str]) -> tuple[dict[str, pa.Table], dict[str, str]]:
    """The tables, and why others could not be made: an error in one costs only the parts that show it."""
    made: dict[str, pa.Table] = {}
    failed: dict[str, str] = {}
    for table in TABLES:
        if table.name in names:
            try:
                made[table.name] = arrow(table.build(frames), table.schema)
            except Exception as error:
                traceback.print_exc()  # into the report's log
                failed[table.name] = f"its table {table.name} could not be made ({reason(error)})"
    return made, failed
