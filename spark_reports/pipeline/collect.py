from __future__ import annotations

import re
import traceback
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from pyspark.sql import functions as F

from spark_reports.errors import ReportError, reason
from spark_reports.passes import per_session
from spark_reports.pipeline.frames import PASSES, Frames, read_frames
from spark_reports.pipeline.tables import TABLES
from spark_reports.request.parts import (
    EVERY,
    KNOWN_WITHOUT_DELIVERIES,
    PARTS,
    figures_of,
    in_order,
    made_for,
    passes_of,
    tables_of,
    titles,
)
from spark_reports.scale import Scale
from spark_reports.sessions.discovery import names
from spark_reports.sessions.events import no_events, read_files
from spark_reports.sessions.session import SessionInfo
from spark_reports.spark.bounds import bring, local
from spark_reports.tables import latency, runs
from spark_reports.tables.schema import arrow, rows

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from spark_reports.spark.progress import Progress

EVERY_FIGURE = figures_of(EVERY)
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

    def rows(self, name: str) -> list[dict[str, Any]]:
        """The rows of a table; none if it belongs to no part that was asked for."""
        return self.tables[name].to_pylist() if name in self.tables else []

    def shown(self) -> frozenset[str]:
        """The names of what the page is drawn from: these, and which hue everything has."""
        return frozenset(self.written()) | (self.tables.keys() & {"hues"})


def make_tables(
    spark: SparkSession,
    info: SessionInfo,
    progress: Progress,
    from_ns: int | None = None,
    to_ns: int | None = None,
    prefix: str = "",
    parts: frozenset[str] = EVERY,
) -> Made:
    """The tables of these parts, as far as the session knows of them. Raises `ReportError` if it knows nothing."""
    unknown = frozenset() if info.knows("deliveries") else parts - KNOWN_WITHOUT_DELIVERIES
    if parts == unknown:
        raise ReportError(f"This cannot be known from outside a cluster: {', '.join(titles(unknown))}.")
    parts = parts - unknown
    frames = read_frames(spark, info, from_ns, to_ns)
    names, wanted = made_for(parts), passes_of(parts)

    def make(name: str) -> None:
        with progress.step(prefix + name, PASSES[name]):
            spark.sparkContext.setJobGroup(prefix + name, PASSES[name])
            getattr(frames, name)

    pool = ThreadPoolExecutor(PARALLEL, "passes")
    try:
        for wave in _WAVES:
            list(pool.map(make, (name for name in wave if name in wanted)))
    finally:
        pool.shutdown(cancel_futures=True)
    with progress.step(prefix + "tables", "Making the tables"):
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


def make_runs(
    messages: DataFrame,
    control: DataFrame,
    about: pl.DataFrame,
    from_ns: int | None = None,
    to_ns: int | None = None,
    figures: frozenset[str] = EVERY_FIGURE,
) -> pl.DataFrame:
    """One row per session of `about` with these figures, from `from_ns` up to `to_ns`."""
    ends = runs.ends(about, from_ns, to_ns)
    parts = [bring(per_session.counted(messages)), bring(per_session.counted_control(control))]
    if not figures.isdisjoint(runs.LATENCY):
        replays = latency.replays(bring(per_session.joins(control)), "session")
        since = local(messages.sparkSession, replays) if replays.height else None
        parts.append(runs.latencies(bring(per_session.latency_buckets(messages, since))))
    if not figures.isdisjoint(runs.MOVES):
        parts.append(bring(per_session.moves(control)))
    if not figures.isdisjoint(runs.BLOCKED):
        parts.append(bring(per_session.blocked(control, local(messages.sparkSession, ends.drop("length_ns")))))
    return runs.runs(about, ends, parts, figures)


def about(infos: Sequence[SessionInfo]) -> pl.DataFrame:
    """One row a session: its number, from 0, its name and what `session.json` says of it."""
    found: list[tuple[object, ...]] = []
    for number, (info, name) in enumerate(zip(infos, names(infos), strict=True)):
        said = info.metadata
        scenario, started_at, ended = (said.get(key) or "" for key in ("scenario", "started_at", "ended"))
        seed, duration_ns, events = (said.get(key) for key in ("seed", "duration_ns", "events"))
        found.append((number, name, scenario, seed, started_at, ended, duration_ns, events))
    return rows(runs.ABOUT_SCHEMA, found)


def read_all(
    spark: SparkSession, infos: Sequence[SessionInfo], folder: str, from_ns: int | None = None, to_ns: int | None = None
) -> DataFrame:
    """The events of `folder` of all sessions, with the number of each in `session`, in one scan of all their files."""
    numbers: dict[str, int] = {}
    files: list[str] = []
    for number, info in enumerate(infos):
        mine = info.parts.get(folder, [])
        files += mine
        numbers |= {_one_slash(part): number for part in mine}
    if not files:
        return no_events(spark, session="INT")
    read = read_files(spark, files)
    # Matched once for each file: done for each event, it was half the cost of a thousand sessions.
    places: list[tuple[object, ...]] = [
        (spelled, _number(uri, numbers)) for uri in read.inputFiles() for spelled in {uri, _one_slash(uri)}
    ]
    sessions = F.broadcast(local(spark, rows("uri STRING, session INT", places)))
    events = read.select("*", F.col("_metadata.file_path").alias("uri")).join(sessions, "uri")
    if from_ns is not None:
        events = events.where(F.col("time_ns") >= from_ns)
    if to_ns is not None:
        events = events.where(F.col("time_ns") < to_ns)
    return events.drop("uri")


def _number(uri: str, numbers: Mapping[str, int]) -> int:
    path = _one_slash(unquote(uri))
    # A part is a file, or on a remote path the folder of all of them.
    number = numbers.get(path, numbers.get(path.rpartition("/")[0]))
    if number is None:
        raise ReportError(
            f"{path} is not in any of the sessions: give their folders as Spark writes them, including the host."
        )
    return number


def _one_slash(part: str) -> str:
    """file:///a and file:/a mean the same, of every scheme without a host, and Spark says either."""
    return re.sub(r"^([A-Za-z][\w+.-]*):///+", r"\1:/", part)
