from __future__ import annotations

import traceback
from collections.abc import Collection
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
    """A step that reads the session for the field `name` of its data; `text` is for the progress bar."""

    name: str
    text: str


#: In waves: what asks for nothing; what asks those; and so on.
PASSES = (
    (Pass("rollup", "Reading messages"), Pass("hot_keys", "Counting keys")),
    (Pass("control", "Reading what happened"),),
    (
        Pass("folded_events", "Accounting for every message"),
        Pass("latency_buckets", "Measuring latency"),
        Pass("dead_letters", "Following dead letters"),
        Pass("held", "Following transactions"),
    ),
    (Pass("published_in_pauses", "Counting unread messages"),),
)


@dataclass(frozen=True)
class Made:
    """The tables of one session by name, with the time scale and the parts of the report that they were made for."""

    tables: dict[str, pa.Table]
    scale: Scale
    whole: bool = True  # False for a part of the session
    parts: frozenset[str] = EVERY
    notes: tuple[str, ...] = ()  # sentences for the reader: what had to be put together
    failed: tuple[str, ...] = ()  # what is left out, and why

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
            getattr(data, step.name)  # makes it

    pool = ThreadPoolExecutor(PARALLEL, "passes")
    try:
        for wave in PASSES:
            list(pool.map(make, (step for step in wave if step.name in wanted)))
    finally:
        pool.shutdown(cancel_futures=True)
    with progress.step("tables", "Making the tables"):
        tables, failures = _tables(data, names)
    lost = {part for part in parts if tables_of([part]) & failures.keys()}
    failed = [
        f"The part {PARTS[part].title} is left out: its {failures[min(tables_of([part]) & failures.keys())]}."
        for part in in_order(lost)
    ]
    only_for_findings = sorted(failures.keys() - tables_of(parts))
    failed += [f"Findings may be missing: the {failures[name]}." for name in only_for_findings]
    whole = from_ns is None and to_ns is None
    notes = [f"Not known from outside, and left out: {', '.join(titles(unknown))}."] if unknown else []
    return Made(tables, data.scale, whole, frozenset(parts) - lost, (*notes, *data.notes), tuple(failed))


def _tables(data: SessionData, names: Collection[str]) -> tuple[dict[str, pa.Table], dict[str, str]]:
    """The tables, and why others could not be made: an error in one costs only the parts that show it."""
    made: dict[str, pa.Table] = {}
    failures: dict[str, str] = {}
    for table in TABLES:
        if table.name in names:
            try:
                made[table.name] = arrow(table.build(data), table.schema)
            except Exception as error:
                traceback.print_exc()  # into the report's log
                failures[table.name] = f"table {table.name} could not be made ({reason(error)})"
    return made, failures
