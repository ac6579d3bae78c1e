from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from urllib.parse import unquote

from spark_reports.bounds import local
from spark_reports.errors import ReportError
from spark_reports.session import SessionInfo, no_events, read_files
from spark_reports.sessions import names
from spark_reports.tables.runs import ABOUT_SCHEMA
from spark_reports.tables.schema import rows

if TYPE_CHECKING:
    import polars as pl
    from pyspark.sql import DataFrame, SparkSession


def about(infos: Sequence[SessionInfo]) -> pl.DataFrame:
    """One row a session: its number, from 0, its name and what `session.json` says of it."""
    found: list[tuple[object, ...]] = []
    for number, (info, name) in enumerate(zip(infos, names(infos), strict=True)):
        said = info.metadata
        scenario, started_at, ended = (said.get(key) or "" for key in ("scenario", "started_at", "ended"))
        seed, duration_ns, events = (said.get(key) for key in ("seed", "duration_ns", "events"))
        found.append((number, name, scenario, seed, started_at, ended, duration_ns, events))
    return rows(ABOUT_SCHEMA, found)


def read_all(
    spark: SparkSession,
    infos: Sequence[SessionInfo],
    folder: str,
    from_ns: int | None = None,
    to_ns: int | None = None,
) -> DataFrame:
    """The events of `folder` of all sessions, with the number of each in `session`, in one scan of all their files."""
    from pyspark.sql import functions as F

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
    """The number of the session that the file at `uri` is of. Raises `ReportError` if there is none."""
    path = _one_slash(unquote(uri))
    # A part is a file, or on a remote path the folder of all of them.
    number = numbers.get(path, numbers.get(path.rpartition("/")[0]))
    if number is None:
        raise ReportError(f"{path} is of none of the sessions: give their folders as Spark writes them, host and all.")
    return number


def _one_slash(part: str) -> str:
    """file:///a and file:/a mean the same, of every scheme without a host, and Spark says either."""
    return re.sub(r"^([A-Za-z][\w+.-]*):///+", r"\1:/", part)
