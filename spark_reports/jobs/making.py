from __future__ import annotations

import contextlib
import importlib
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from broker_core.recording.schema import MESSAGES
from spark_reports.errors import Failed, ReportError, reason
from spark_reports.jobs.cancellation import Cancellation
from spark_reports.jobs.outcome import Outcome
from spark_reports.output.delivery import REPORT, delivery
from spark_reports.request.parts import weights
from spark_reports.request.request import Request
from spark_reports.sessions.session import SessionInfo, inspect
from spark_reports.spark.java import find_java
from spark_reports.spark.jvm import Jvm, spark_session, use_libraries
from spark_reports.spark.progress import Progress
from spark_reports.spark.tuning import Tuning, tuning

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: What takes half a second to load, and is loaded while Java starts.
_AHEAD = ("pyspark.sql.session", "pyspark.sql.functions", "pyarrow.compute", "spark_reports.jobs.report")


class Making:
    """A report that is being made. Created before Java starts, so that errors of the session come early."""

    def __init__(self, request: Request, work: Path, log: Path, progress: Progress, cancellation: Cancellation) -> None:
        """Raises `ReportError` if the session cannot be reported on."""
        self._request = request
        self._work = work
        self._log = log
        self._progress = progress
        self._cancellation = cancellation
        self._info = inspect(str(request.session))
        _check_part(self._info, request.from_ns)

    @property
    def setup(self) -> Tuning:
        return tuning(self._info.events)

    def make(self, spark: Callable[[], SparkSession] | None = None) -> tuple[str, Outcome]:
        """Make the report in the place that the request names: its page, or else the folder, and the outcome. Without
        `spark` on a JVM of our own. Raises `ReportError`, OSError and `Cancelled`; the log then says more, and nothing
        half-written stays.
        """
        request, progress = self._request, self._progress
        progress.plan({**weights(request.parts), "page": 1.0})
        with delivery(request.out) as folder, contextlib.ExitStack() as java, self._told():
            running = self._own_spark(java) if spark is None else spark()
            for name, value in self.setup.settings.items():
                running.conf.set(name, value)
            from spark_reports.jobs.report import Report  # what it loads is there by now

            with progress.watching(running.sparkContext):
                report = Report.of(running, request, self._info, progress)
            java.close()  # without stopping Spark, which takes half a second, and puts away what is in `work`
            with progress.step("page", "Writing the files"):
                report.write(folder, request.formats)
            self._cancellation.check()
        out, outcome = request.out.resolve(), report.outcome
        if outcome.failed:
            outcome = outcome._replace(log=str(self._log))
        return str(out / REPORT if "html" in request.formats else out), outcome

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        """Write stderr and unexpected errors to the log; the latter raise `Failed`."""
        with self._log.open("a", encoding="utf-8") as noise, contextlib.redirect_stderr(noise):
            try:
                yield
            except Exception as error:
                self._cancellation.check()
                if isinstance(error, ReportError | OSError):
                    raise
                traceback.print_exception(error)
                raise Failed(f"The report failed: {reason(error)}.") from error

    def _own_spark(self, java: contextlib.ExitStack) -> SparkSession:
        """Spark on a JVM that ends with `java`."""
        self._progress.plan({"start": 8.0})
        jvm = Jvm(find_java(), self._work, self._log, self.setup.jvm_options)
        java.callback(jvm.close)
        self._cancellation.kills(jvm.process.kill)
        with self._progress.step("start", "Starting Spark"):
            for name in _AHEAD:
                importlib.import_module(name)
            if "html" in self._request.formats:
                from spark_reports.page.document import compile_templates

                compile_templates()
            jvm.connect()
            spark = spark_session(self._work)
        libraries = java.enter_context(ThreadPoolExecutor(1, "libraries"))
        libraries.submit(use_libraries, spark, self._info.parts.get(MESSAGES, []))
        return spark


def _check_part(info: SessionInfo, from_ns: int | None) -> None:
    """Raises `ReportError` if the part begins behind the end of the session."""
    duration_ns = info.metadata.duration_ns
    if from_ns and duration_ns is not None and from_ns >= duration_ns:
        raise ReportError(
            f"There is nothing to report on: the session {info.location} ended at {duration_ns / 1e9:g} s, "
            f"and the part begins at {from_ns / 1e9:g} s."
        )
