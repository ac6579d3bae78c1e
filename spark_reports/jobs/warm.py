"""A Spark that stays for the next report: `python -m spark_reports.jobs.warm` makes one for each line of its input.

A line is a JSON list, the arguments of `jobs.job`; what it writes for each is what the job writes, the last line with
"report" or "error". An empty list asks it to be ready: it starts Spark, makes the tables of a tiny session
once, and says nothing. A line "cancel", or the end of its input, ends it with whatever it does; so does a quarter of
an hour without a request. It runs with low priority.

With `--listen SOCKET` the lines come over connections to that Unix socket, one connection after the other. Then it ends
only where a connection ends before its report does, or after a quarter of an hour without one.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import queue
import shutil
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from spark_reports.errors import Cancelled, Failed, ReportError, told
from spark_reports.jobs.cancellation import Cancellation, lines_of
from spark_reports.jobs.making import Making
from spark_reports.jobs.outcome import CANCELLED_CODE
from spark_reports.jobs.tiny_session import tiny_session
from spark_reports.pipeline.collect import make_tables
from spark_reports.request.request import Request, add_arguments, request_of
from spark_reports.spark.java import find_java
from spark_reports.spark.jvm import Jvm, spark_session
from spark_reports.spark.progress import Progress, private_stdout, silence_libraries
from spark_reports.spark.tuning import SMALL, Tuning, serves

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_WORK_PREFIX = "brokerscope-warm-"
READY = "[]"
IDLE_S = 900.0
POLL_S = 0.5  # so that a signal is seen
NICENESS = 10


class SparkServer:
    """One JVM, started with the first report, and gone with this process."""

    def __init__(self, work: Path, cancellation: Cancellation) -> None:
        self._work, self._cancellation = work, cancellation
        self.is_reporting = False  # up to its last line, after which whoever asked may go
        self._log = work / "spark.log"
        self._jvm: Jvm | None = None
        self._spark: SparkSession | None = None
        self._setup = SMALL

    def be_ready(self) -> None:
        """Start Spark and let it load and compile what a report needs. What goes wrong, the next report tells."""
        progress = Progress(io.StringIO(), self._cancellation.request)
        noise = self._log.open("a", encoding="utf-8")
        with noise, contextlib.redirect_stderr(noise), contextlib.suppress(Exception):
            make_tables(self._session(progress, SMALL), tiny_session(self._work), progress)
        self._cancellation.check()

    def make(self, line: str, output: TextIO) -> None:
        progress = Progress(output, self._cancellation.request)
        self.is_reporting = True
        try:
            making = Making(_request(line), self._work, self._log, progress, self._cancellation)
            report, found = making.make(lambda: self._session(progress, making.setup))
            outcome: dict[str, object] = {"report": report, **found.told()}
        except (ReportError, OSError) as error:
            if isinstance(error, Failed):
                self.close()  # the state of Spark is unknown: the next report gets a new one
            if isinstance(error, ReportError) and self._log.exists():
                error.log = self._log
            outcome = told(error)
        self._cancellation.check()
        self.is_reporting = False
        progress.end(**outcome)

    def _session(self, progress: Progress, setup: Tuning) -> SparkSession:
        alive = self._jvm is not None and self._jvm.process.poll() is None
        if self._spark is not None and alive and serves(self._setup, setup):
            return self._spark
        self.close()
        progress.plan({"start": 8.0})
        with progress.step("start", "Starting Spark"):
            self._jvm = Jvm(find_java(), self._work, self._log, setup.jvm_options)
            self._setup = setup
            self._cancellation.kills(self._jvm.process.kill)
            self._jvm.connect()
            self._spark = spark_session(self._work)
        return self._spark

    def close(self) -> None:
        spark, jvm, self._spark, self._jvm = self._spark, self._jvm, None, None
        if spark is not None and not self._cancellation.requested:
            with contextlib.suppress(Exception):
                spark.stop()
            spark.sparkContext.stop()  # where Java has ended, the first attempt comes no further than that
        if jvm is not None:
            jvm.close()


def _request(line: str) -> Request:
    """Raises `ReportError` for anything that is no request for a report."""
    parser = argparse.ArgumentParser(prog="report", exit_on_error=False)
    add_arguments(parser)
    try:
        words = json.loads(line)
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise ValueError("it is not a list of words")
        request = request_of(parser.parse_args(words))
    except (ValueError, argparse.ArgumentError, SystemExit) as error:
        raise ReportError(f"This is not a request for a report: {error}.") from error
    request.check()
    return request


class Requests:
    """Lines of a file descriptor. Its end, and a line "cancel", cancel what is being made, or end the lines."""

    def __init__(self, source: int, cancellation: Cancellation, *, ends_all: bool) -> None:
        """With `ends_all`, the end of the input cancels even if no report is being made."""
        self._source, self._cancellation, self._ends_all = source, cancellation, ends_all
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._server: SparkServer | None = None
        threading.Thread(target=self._read, name="requests", daemon=True).start()

    def serve(self, server: SparkServer, output: TextIO) -> bool:
        """Make what they ask for, up to their end; False after a signal, or a quarter of an hour without a line."""
        self._server = server
        ends = time.monotonic() + IDLE_S
        while not self._cancellation.requested and time.monotonic() < ends:
            try:
                line = self._lines.get(timeout=POLL_S)
            except queue.Empty:
                continue
            if line is None:
                return True
            if line.strip() == READY:
                server.be_ready()
            else:
                server.make(line, output)
            ends = time.monotonic() + IDLE_S
        return False

    def _read(self) -> None:
        for line in lines_of(self._source):
            if line.strip() == b"cancel":
                break
            if line.strip():
                self._lines.put(line.decode(errors="replace"))
        if self._ends_all or (self._server is not None and self._server.is_reporting):
            self._cancellation.request()
        self._lines.put(None)


def _bound(path: Path) -> socket.socket | None:
    """A socket at `path`, which only its user may open; None if another process serves it already."""
    listener = socket.socket(socket.AF_UNIX)
    try:
        listener.bind(str(path))
    except OSError:
        with socket.socket(socket.AF_UNIX) as other:
            if other.connect_ex(str(path)) == 0:
                return None
        path.unlink(missing_ok=True)  # of a process that was killed
        listener.bind(str(path))
    path.chmod(0o600)
    listener.listen()
    listener.settimeout(POLL_S)
    return listener


def _serve_connections(path: Path, server: SparkServer, cancellation: Cancellation) -> None:
    """Until nobody has asked for a quarter of an hour."""
    listener = _bound(path)
    if listener is None:
        return
    ends = time.monotonic() + IDLE_S
    try:
        while not cancellation.requested and time.monotonic() < ends:
            try:
                connection, _ = listener.accept()
            except TimeoutError:
                continue
            with connection, connection.makefile("w", encoding="utf-8") as output:
                if not Requests(connection.fileno(), cancellation, ends_all=False).serve(server, output):
                    return  # it still reads from this connection
            ends = time.monotonic() + IDLE_S
    finally:
        path.unlink(missing_ok=True)


def main(argv: Sequence[str] | None = None) -> int:
    """Make reports until nobody asks for any; the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m spark_reports.jobs.warm", description="Keep Spark running for reports."
    )
    parser.add_argument("--listen", type=Path, metavar="SOCKET", help="requests come over this Unix socket")
    listen = parser.parse_args(argv).listen
    output = private_stdout()
    silence_libraries()
    os.nice(NICENESS)  # Java gets it from us
    cancellation = Cancellation()
    cancellation.listen_to_signals()
    work = Path(tempfile.mkdtemp(prefix=f"{_WORK_PREFIX}{os.getpid()}-"))
    server = SparkServer(work, cancellation)
    try:
        if listen is not None:
            _serve_connections(listen, server, cancellation)
        else:
            Requests(0, cancellation, ends_all=True).serve(server, output)
    except Cancelled:
        return CANCELLED_CODE
    finally:
        server.close()
        shutil.rmtree(work, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
