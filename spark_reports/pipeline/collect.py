from __future__ import annotations

import traceback
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from spark_reports.errors import ReportError, reason
from spark_reports.pipeline.session_data import SessionData, read_session_data
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


class Pass(NamedTuple):
    """A step that reads the session; `text` is for the progress bar."""

    name: str
    text: str
    make: Callable[[SessionData], object]


#: In waves: what asks for nothing; what asks those; and so on.
PASSES = (
    (
        Pass("rollup", "Reading messages", lambda data: data.rollup),
        Pass("hot_keys", "Counting keys", lambda data: data.hot_keys),
    ),
    (Pass("control", "Reading what happened", lambda data: data.control),),
    (
        Pass("folded_events", "Accounting for every message", lambda data: data.folded_events),
        Pass("latency_buckets", "Measuring latency", lambda data: data.latency_buckets),
        Pass("dead_letters", "Following dead letters", lambda data: data.dead_letters),
        Pass("held", "Following transactions", lambda data: data.held),
    ),
    (Pass("published_in_pauses", "Counting unread messages", lambda data: data.published_in_pauses),),
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
    data = read_session_data(spark, info, from_ns, to_ns)
    names, wanted = made_for(parts), passes_of(parts)

    def make(step: Pass) -> None:
        with progress.step(step.name, step.text):
            spark.sparkContext.setJobGroup(step.name, step.text)
            step.make(data)

    pool = ThreadPoolExecutor(PARALLEL, "passes")
    try:
        for wave in PASSES:
            list(pool.map(make, (step for step in wave if step.name in wanted)))
    finally:
        pool.shutdown(cancel_futures=True)
    with progress.step("tables", "Making the tables"):
        tables, failed = _tables(data, names)
    lost = {part for part in parts if tables_of([part]) & failed.keys()}
    told = tuple(
        f"The part {PARTS[part].title} is left out: {failed[name]}."
        for part in in_order(lost)
        for name in sorted(tables_of([part]) & failed.keys())[:1]
    )
    whole = from_ns is None and to_ns is None
    notes = [f"Not known from outside, and left out: {', '.join(titles(unknown))}."] if unknown else []
    return Made(tables, data.scale, whole, frozenset(parts) - lost, (*notes, *data.notes), told)


def _tables(data: SessionData, names: Collection[str]) -> tuple[dict[str, pa.Table], dict[str, str]]:
    """The tables, and why others could not be made: an error in one costs only the parts that show it."""
    made: dict[str, pa.Table] = {}
    failed: dict[str, str] = {}
    for table in TABLES:
        if table.name in names:
            try:
                made[table.name] = arrow(table.build(data), table.schema)
            except Exception as error:
                traceback.print_exc()  # into the report's log
                failed[table.name] = f"its table {table.name} could not be made ({reason(error)})"
    return made, failed
