"""Makes what a request asks for: looks at the sessions, starts Java, asks the questions, writes the files."""

from __future__ import annotations

import contextlib
import os
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from spark_reports.cancellation import Cancellation
from spark_reports.errors import ReportError
from spark_reports.java import find_java, home_for_executors
from spark_reports.jvm import Jvm
from spark_reports.progress import AHEAD, Progress
from spark_reports.request import HISTORY, Request
from spark_reports.session import inspect, is_remote
from spark_reports.sessions import Found, find_sessions
from spark_reports.tuning import tuning

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Making:
    """One report on its way. Made before Java starts, so that what is wrong with the sessions is said at once."""

    def __init__(self, request: Request, work: Path, log: Path, progress: Progress, cancellation: Cancellation) -> None:
        """Look at the sessions that are on this machine. Raises `ReportError`."""
        self._request = request
        self._work = work
        self._log = log
        self._progress = progress
        self._cancellation = cancellation
        remote = [is_remote(session) for session in request.sessions]
        if any(remote) and not all(remote):
            raise ReportError("Some sessions are on this machine and some are not: report on them one by one.")
        self._remote = any(remote)
        self._found: Found | None = None
        if not self._remote and request.mode == HISTORY:
            self._found = find_sessions(request.sessions)
        elif not self._remote:
            self._found = Found(tuple(map(inspect, request.sessions)))

    def fill(self, folder: Path, report: str, tables: str) -> None:
        """Write everything into `folder`: the page under the name `report`, the table files below `tables`.

        Raises `ReportError`, OSError and `Cancelled`; the log then says more.
        """
        request = self._request
        java = find_java()
        master = request.master or "local[*]"
        if not master.startswith("local["):
            os.environ["JAVA_HOME"] = str(home_for_executors(java, self._work))
        setup = tuning(_events(self._found))
        jvm = Jvm(java, self._work, self._log, master, setup.jvm_options)
        self._cancellation.kills(jvm.kill)
        try:
            with self._log.open("a", encoding="utf-8") as noise, contextlib.redirect_stderr(noise):
                self._progress.plan({"start": 8.0, "page": 1.0, AHEAD: self._ahead()})
                with self._progress.step("start", "Starting Spark"):
                    from spark_reports.spark import spark_session

                    jvm.connect()
                    spark = spark_session(master, self._work, setup.settings)
                self._make(spark, folder, report, tables)
                spark.stop()
        except Exception as error:
            self._cancellation.check()
            if isinstance(error, ReportError | OSError):
                raise
            with self._log.open("a", encoding="utf-8") as file:
                traceback.print_exception(error, file=file)
            raise ReportError(f"The report failed: {_first_line(error)}") from error
        finally:
            self._progress.close()
            jvm.close()

    def _ahead(self) -> float:
        """What the questions weigh, about: which ones there are is known when Spark is loaded."""
        return 15.0 if self._request.mode == HISTORY else 60.0 * len(self._request.sessions)

    def _make(self, spark: SparkSession, folder: Path, report: str, tables: str) -> None:
        from spark_reports.kinds import make_kind

        found = self._found or self._look(spark)
        self._progress.watch(spark.sparkContext)
        make_kind(spark, self._request, found, self._progress).write(
            folder / report, folder / tables, self._request.formats
        )

    def _look(self, spark: SparkSession) -> Found:
        from spark_reports.session import inspect_remote
        from spark_reports.sessions import find_remote_sessions

        if self._request.mode == HISTORY:
            return find_remote_sessions(spark, self._request.sessions)
        return Found(tuple(inspect_remote(spark, session) for session in self._request.sessions))


def _events(found: Found | None) -> int | None:
    """How many events there are in all; None where nobody knows."""
    counted = [info.metadata.get("events") for info in found.infos] if found else [None]
    known = [count for count in counted if isinstance(count, int)]
    return sum(known) if len(known) == len(counted) else None


def _first_line(error: Exception) -> str:
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0][:300]
