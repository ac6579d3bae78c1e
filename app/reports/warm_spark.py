"""A Spark that is kept for the next report, in a process of its own; it costs about a gigabyte while it is there: the
window's, which goes with the window, and one that commands share. Both go after a quarter of an hour without a request.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path
from typing import IO, Any

import platformdirs

import spark_reports
from broker_core.files import private
from spark_reports.request.request import Request, arguments_of

JOB_FOLDER = Path(spark_reports.__file__).resolve().parents[1]  # from which its modules are found
END_TIMEOUT_S = 10.0
START_TIMEOUT_S = 30.0
NEEDED_BYTES = 2_000_000_000  # what Spark and its Python take at most
COMMAND = [sys.executable, "-m", "spark_reports.jobs.warm"]


def memory_allows() -> bool:
    """Whether Spark may be started ahead: the machine has `NEEDED_BYTES` to spare, or eight times that in all where it
    does not say how much of it is free.
    """
    with contextlib.suppress(LookupError, OSError, ValueError):
        lines = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
        return int(lines["MemAvailable"].split()[0]) * 1024 >= NEEDED_BYTES
    with contextlib.suppress(AttributeError, OSError, ValueError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >= 8 * NEEDED_BYTES
    return False


def _reply(lines: Iterable[str]) -> Generator[str, None, bool]:
    """What a Spark writes for one report; returns whether it came to the last line, before it ended or was closed."""
    with contextlib.suppress(OSError, ValueError):
        for line in lines:
            yield line
            if '"report"' in line or '"error"' in line:
                return True
    return False


def end_process(process: subprocess.Popen[Any] | None, timeout_s: float = END_TIMEOUT_S) -> None:
    """Terminate a process, and kill it if it has not ended in time."""
    if process is None or process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(timeout_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class WarmSpark:
    """One at most. A report takes it with `take` and gives it back; other reports get none until then."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._busy = False
        self._process: subprocess.Popen[str] | None = None
        self._log: IO[str] | None = None

    def take(self) -> bool:
        """Whether it is free for a report."""
        with self._lock:
            taken, self._busy = not self._busy, True
        return taken

    def prepare(self) -> None:
        """Have it started and tried, if memory allows, so that the next report need not wait for that."""
        with self._lock:
            running = self._process is not None and self._process.poll() is None
            if self._busy or running or not memory_allows():
                return
            self._asked([])

    def give_back(self) -> None:
        with self._lock:
            self._busy = False

    def lines(self, request: Request) -> Iterator[str]:
        said = self._asked(arguments_of(request)).stdout
        assert said is not None
        if not (yield from _reply(said)):
            self.close()  # it may take a while to die: the next report must not find it still there

    def _asked(self, arguments: list[str]) -> subprocess.Popen[str]:
        """The process, started if it does not run, after a request of these arguments."""
        process = self._process
        if process is None or process.poll() is not None:
            self._log = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115 - as long as it
            self._process = process = subprocess.Popen(
                COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, text=True, cwd=JOB_FOLDER
            )
        assert process.stdin is not None
        with contextlib.suppress(OSError):
            process.stdin.write(json.dumps(arguments) + "\n")
            process.stdin.flush()
        return process

    def log(self) -> str:
        if self._log is None:
            return ""
        self._log.seek(0)
        return self._log.read()

    def close(self) -> None:
        """End the process, with the report that it makes; the next report starts it again."""
        process, self._process = self._process, None
        end_process(process)


class SharedSpark:
    """The Spark that commands share: the first starts it, and it stays a quarter of an hour for the next."""

    def __init__(self) -> None:
        self._connection: socket.socket | None = None
        self._socket = Path(platformdirs.user_cache_dir("brokerscope")) / "spark.sock"

    def take(self) -> bool:
        try:
            private.make_directory(self._socket.parent)
            self._connection = self._connected() or self._started()
        except OSError:
            return False
        return self._connection is not None

    def _connected(self) -> socket.socket | None:
        connection = socket.socket(socket.AF_UNIX)
        if connection.connect_ex(str(self._socket)) == 0:
            return connection
        connection.close()
        return None

    def _started(self) -> socket.socket | None:
        """Start the shared Spark, which outlives this command: in a process session of its own, without its files."""
        command, none = [*COMMAND, "--listen", str(self._socket)], subprocess.DEVNULL
        process = subprocess.Popen(
            command, stdin=none, stdout=none, stderr=none, cwd=JOB_FOLDER, start_new_session=True
        )
        ends = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < ends and process.poll() in (None, 0):
            if connection := self._connected():
                return connection
            time.sleep(0.05)
        return None

    def lines(self, request: Request) -> Iterator[str]:
        assert self._connection is not None
        with contextlib.suppress(OSError), self._connection.makefile("rw", encoding="utf-8") as said:
            said.write(json.dumps(arguments_of(request)) + "\n")
            said.flush()
            yield from _reply(said)

    def log(self) -> str:
        return ""

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()

    give_back = close
