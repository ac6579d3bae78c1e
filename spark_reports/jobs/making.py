from __future__ import annotations

import contextlib
import importlib
import os
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from broker_core.recording.schema import MESSAGES
from spark_reports.errors import ReportError, reason
from spark_reports.jobs.cancellation import Cancellation
from spark_reports.jobs.outcome import Outcome
from spark_reports.output.delivery import REPORT, TABLES, deliver_remote, delivery
from spark_reports.request.parts import weights
from spark_reports.request.request import HISTORY, Request
from spark_reports.sessions.discovery import Found, find_remote_sessions, find_sessions
from spark_reports.sessions.session import SessionInfo, inspect, inspect_remote, is_remote
from spark_reports.spark.java import find_java, home_for_executors
from spark_reports.spark.jvm import Jvm, spark_session, use_libraries
from spark_reports.spark.progress import AHEAD, Progress
from spark_reports.spark.tuning import Tuning, listing, tuning

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from spark_reports.jobs.kinds import Report

    Deliver = Callable[[SparkSession], object]

#: What takes half a second to load, and is loaded while Java starts.
_AHEAD = (
    *("pyspark.sql.session", "pyspark.sql.functions", "pyarrow.compute"),
    *("spark_reports.jobs.kinds", "spark_reports.findings.find", "spark_reports.page.page"),
)


class Making:
    """A report that is being made. Created before Java starts, so that errors of the sessions come early."""

    def __init__(self, request: Request, work: Path, log: Path, progress: Progress, cancellation: Cancellation) -> None:
        """Raises `ReportError` if a session on this machine cannot be reported on."""
        self._request = request
        self._work = work
        self._log = log
        self._progress = progress
        self._cancellation = cancellation
        remote = [is_remote(session) for session in request.sessions]
        if any(remote) and not all(remote):
            raise ReportError("Some sessions are on this machine and some are not: report on them separately.")
        self._remote = any(remote)
        self._found: Found | None = None
        if not self._remote and request.mode == HISTORY:
            self._found = find_sessions(request.sessions)
        elif not self._remote:
            self._found = Found(tuple(map(inspect, request.sessions)))
            for info in self._found.infos:
                _check_part(info, request.from_ns)

    @property
    def setup(self) -> Tuning:
        return tuning(_events(self._found))

    def make(self, spark: Callable[[], SparkSession] | None = None) -> tuple[str, Outcome]:
        """Make the report in the place that the request names: its page, or else the folder, and the outcome. Without
        `spark` on a JVM of our own; what Spark raises on another, goes through. Raises `ReportError`, OSError and
        `Cancelled`; the log then says more, and nothing half-written stays.
        """
        out = str(self._request.out)
        page = f"/{REPORT}" if "html" in self._request.formats else ""
        fill = self._with_jvm if spark is None else partial(self._fill, spark)
        if is_remote(out):
            folder = self._work / "report"
            (folder / TABLES).mkdir(parents=True)
            outcome = fill(folder, lambda spark: deliver_remote(spark, folder, out))
            return f"{out.rstrip('/')}{page}", outcome
        with delivery(Path(out)) as folder:
            outcome = fill(folder, None)
            self._cancellation.check()
        return f"{Path(out).resolve()}{page}", outcome

    def _with_jvm(self, folder: Path, deliver: Deliver | None) -> Outcome:
        """Write everything into `folder`; `deliver` is called before the JVM ends."""
        java = find_java()
        master = self._request.master
        is_local = master.startswith("local[")
        if not is_local:
            os.environ["JAVA_HOME"] = str(home_for_executors(java, self._work))
        jvm = Jvm(java, self._work, self._log, master, self.setup.jvm_options)
        self._cancellation.kills(jvm.kill)
        try:
            with self._log.open("a", encoding="utf-8") as noise, contextlib.redirect_stderr(noise):
                self._progress.plan({"start": 8.0, AHEAD: self._ahead()})
                with self._progress.step("start", "Starting Spark"):
                    self._load_ahead()
                    jvm.connect()
                    spark = spark_session(master, self._work)
                with ThreadPoolExecutor(1, "libraries") as pool:
                    if is_local:
                        pool.submit(use_libraries, spark, self._files())
                    report = self._asked(spark)
                alone = deliver is None and is_local
                if alone:
                    jvm.close()  # stopping Spark takes half a second, and puts away what is in `work`
                outcome = report.write(folder, self._request.formats)
                if deliver is not None:
                    deliver(spark)
                if not alone:
                    spark.stop()
                return outcome
        except Exception as error:
            self._cancellation.check()
            if isinstance(error, ReportError | OSError):
                raise
            with self._log.open("a", encoding="utf-8") as file:
                traceback.print_exception(error, file=file)
            raise ReportError(f"The report failed: {reason(error)}.") from error
        finally:
            self._progress.close()
            jvm.close()

    def _fill(self, spark: Callable[[], SparkSession], folder: Path, deliver: Deliver | None) -> Outcome:
        running = spark()
        outcome = self._asked(running).write(folder, self._request.formats)
        if deliver is not None:
            deliver(running)
        return outcome

    def _load_ahead(self) -> None:
        for name in _AHEAD:
            importlib.import_module(name)
        if "html" in self._request.formats:
            from spark_reports.page.document import compile_templates

            compile_templates(self._request.mode)

    def _asked(self, spark: SparkSession) -> Report:
        from spark_reports.jobs.kinds import make_kind

        self._progress.plan({"page": 1.0, AHEAD: self._ahead()})
        found = self._found or self._look(spark)
        _tune(spark, found)
        self._progress.watch(spark.sparkContext)
        return make_kind(spark, self._request, found, self._progress)

    def _files(self) -> list[str]:
        return [file for info in (self._found.infos if self._found else ()) for file in info.parts.get(MESSAGES, [])]

    def _ahead(self) -> float:
        each = sum(weights(self._request.parts).values())
        return 15.0 if self._request.mode == HISTORY else each * len(self._request.sessions)

    def _look(self, spark: SparkSession) -> Found:
        if self._request.mode == HISTORY:
            return find_remote_sessions(spark, self._request.sessions)
        return Found(tuple(inspect_remote(spark, session) for session in self._request.sessions))


def _check_part(info: SessionInfo, from_ns: int | None) -> None:
    """Raises `ReportError` if the part begins behind the end of the session."""
    duration_ns = info.metadata.get("duration_ns")
    if from_ns and isinstance(duration_ns, int) and from_ns >= duration_ns:
        raise ReportError(
            f"There is nothing to report on: the session {info.location} ended at {duration_ns / 1e9:g} s, "
            f"and the part begins at {from_ns / 1e9:g} s."
        )


def _events(found: Found | None) -> int | None:
    counted = [info.events for info in found.infos] if found else [None]
    known = [count for count in counted if count is not None]
    return sum(known) if len(known) == len(counted) else None


def _tune(spark: SparkSession, found: Found) -> None:
    own = spark.sparkContext.getConf()
    remote = any(is_remote(info.location) for info in found.infos)
    for name, value in {**tuning(_events(found)).settings, **listing(remote=remote)}.items():
        if not own.contains(name):
            spark.conf.set(name, value)
