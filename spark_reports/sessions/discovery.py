from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import unquote

from broker_core.recording import schema
from spark_reports.errors import NotFound, ReportError
from spark_reports.sessions.session import SessionInfo, inspect, parse_metadata, remote_info

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession


@dataclass(frozen=True)
class Found:
    """Sessions in the order of their recording, and sentences about folders that had to be left out."""

    infos: tuple[SessionInfo, ...]
    problems: tuple[str, ...] = ()


def names(infos: Sequence[SessionInfo]) -> list[str]:
    """A short name for each that no other has: the folder's, with the one above if that is needed."""
    paths = [PurePosixPath(Path(info.location).as_posix()) for info in infos]
    depth = 1
    found = [path.name for path in paths]
    while depth < 4 and max(Counter(found).values(), default=0) > 1:
        depth += 1
        found = ["/".join(path.parts[-depth:]) for path in paths]
    twice = Counter(found)
    return [f"{name} ({number})" if twice[name] > 1 else name for number, name in enumerate(found, 1)]


def find_sessions(locations: Sequence[str]) -> Found:
    """The sessions at or below `locations` that can be reported on. Raises `ReportError` if there is none."""
    infos, problems = [], []
    for location in locations:
        folder = Path(location)
        if not folder.is_dir():
            raise NotFound(f"There is no folder {location}: name one that contains recorded sessions.")
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
        found: list[Row] = []
        for paths in (("", "/*"), ("/*",)):  # the folder itself may be none
            with contextlib.suppress(PySparkException):
                files = spark.read.text([f"{root}{path}/{schema.SESSION_FILE}" for path in paths], wholetext=True)
                found = files.select("value", F.col("_metadata.file_path").alias("path")).collect()
                break
        for row in found:
            folder = unquote(row.path).rpartition("/")[0]  # a URI, with its spaces as %20
            try:
                infos.append(remote_info(folder, parse_metadata(folder, row.value)))
            except ReportError as error:
                problems.append(f"Left out: {error}")
    return _in_order(infos, problems, locations)


def _in_order(infos: list[SessionInfo], problems: list[str], locations: Sequence[str]) -> Found:
    if not infos:
        why = f" ({problems[0]})" if problems else ""
        raise NotFound(f"There is no session to report on in {', '.join(locations)}{why}.")
    return Found(tuple(sorted(infos, key=lambda info: str(info.metadata.get("started_at", "")))), tuple(problems))
