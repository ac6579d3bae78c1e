"""Several sessions as one dataset: found, named, and read with the number of each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import unquote

from broker_core.recording import schema
from spark_reports.bounds import local
from spark_reports.errors import NotFound, ReportError
from spark_reports.session import (
    SessionInfo,
    inspect,
    no_events,
    parse_metadata,
    read_files,
    remote_info,
)
from spark_reports.tables.runs import ABOUT_SCHEMA
from spark_reports.tables.schema import rows

if TYPE_CHECKING:
    import polars as pl
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class Found:
    """Sessions in the order of their recording, and sentences about folders that had to be left out."""

    infos: tuple[SessionInfo, ...]
    problems: tuple[str, ...] = ()


def _one_slash(part: str) -> str:
    """file:///a and file:/a mean the same, of every scheme without a host, and Spark says either."""
    return re.sub(r"^([A-Za-z][\w+.-]*):///+", r"\1:/", part)


def names(infos: Sequence[SessionInfo]) -> list[str]:
    """A short name for each that no other has: the folder's, with the one above where that is needed."""
    paths = [PurePosixPath(Path(info.location).as_posix()) for info in infos]
    depth = 1
    found = [path.name for path in paths]
    while depth < 4 and max(Counter(found).values(), default=0) > 1:
        depth += 1
        found = ["/".join(path.parts[-depth:]) for path in paths]
    twice = Counter(found)
    return [f"{name} ({number})" if twice[name] > 1 else name for number, name in enumerate(found, 1)]


def find_sessions(locations: Sequence[str]) -> Found:
    """The sessions at or below `locations`, folders of this machine; one that cannot be reported on is left out and
    said.

    Raises `ReportError` where there is none.
    """
    infos, problems = [], []
    for location in locations:
        folder = Path(location)
        if not folder.is_dir():
            raise NotFound(f"There is no folder {location}: name one that holds recorded sessions.")
        inside = sorted(path.parent for path in folder.glob(f"*/{schema.SESSION_FILE}"))
        for path in [folder] if (folder / schema.SESSION_FILE).exists() else inside:
            try:
                infos.append(inspect(str(path)))
            except ReportError as error:
                problems.append(f"Left out: {error}")
    return _in_order(infos, problems, locations)


def find_remote_sessions(spark: SparkSession, locations: Sequence[str]) -> Found:
    """The same on any path that Spark reads."""
    from pyspark.errors import PySparkException
    from pyspark.sql import functions as F

    infos, problems = [], []
    for location in locations:
        root = location.rstrip("/")
        try:
            rows = (
                spark.read.text([f"{root}/{schema.SESSION_FILE}", f"{root}/*/{schema.SESSION_FILE}"], wholetext=True)
                .select("value", F.col("_metadata.file_path").alias("path"))
                .collect()
            )
        except PySparkException:
            try:
                rows = (
                    spark.read.text(f"{root}/*/{schema.SESSION_FILE}", wholetext=True)
                    .select("value", F.col("_metadata.file_path").alias("path"))
                    .collect()
                )
            except PySparkException:
                rows = []
        for row in rows:
            found = unquote(row.path).rpartition("/")[0]  # a URI, with its spaces as %20
            try:
                metadata = parse_metadata(found, row.value)
            except ReportError as error:
                problems.append(f"Left out: {error}")
                continue
            infos.append(remote_info(found, metadata))
    return _in_order(infos, problems, locations)


def _in_order(infos: list[SessionInfo], problems: list[str], locations: Sequence[str]) -> Found:
    if not infos:
        why = f" ({problems[0]})" if problems else ""
        raise NotFound(f"There is no session to report on in {', '.join(locations)}{why}.")
    return Found(tuple(sorted(infos, key=lambda info: str(info.metadata.get("started_at", "")))), tuple(problems))


def about(infos: Sequence[SessionInfo]) -> pl.DataFrame:
    """One row a session: its number, from 0, its name and what `session.json` says of it."""
    found: list[tuple[object, ...]] = []
    for number, (info, name) in enumerate(zip(infos, names(infos), strict=True)):
        said = info.metadata
        words = (str(said.get(key) or "") for key in ("scenario", "started_at", "ended"))
        scenario, started_at, ended = words
        numbers = (_whole(said.get(key)) for key in ("seed", "duration_ns", "events"))
        seed, duration_ns, events = numbers
        found.append((number, name, scenario, seed, started_at, ended, duration_ns, events))
    return rows(ABOUT_SCHEMA, found)


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63 else None


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
    """The number of the session that the file at `uri` is of. Raises `ReportError` where there is none."""
    path = _one_slash(unquote(uri))
    # A part is a file, or on a remote path the folder of all of them.
    number = numbers.get(path, numbers.get(path.rpartition("/")[0]))
    if number is None:
        raise ReportError(f"{path} is of none of the sessions: give their folders as Spark writes them, host and all.")
    return number
