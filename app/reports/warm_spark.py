"""A Spark that is kept for the next report, in a process of its own; it costs about a gigabyte while it is there."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import spark_reports
from spark_reports.request import LOCAL, Request, arguments_of
from spark_reports.session import is_remote

JOB_FOLDER = Path(spark_reports.__file__).resolve().parents[1]  # from which its modules are found
END_TIMEOUT_S = 10.0
NEEDED_BYTES = 2_000_000_000  # what Spark and its Python take at most
COMMAND = [sys.executable, "-m", "spark_reports.warm"]


def memory_allows() -> bool:
    """Whether Spark may be started ahead: the machine has `NEEDED_BYTES` to spare, or eight times that in all where it
    does not say how much of it is free.
    """
    with contextlib.suppress(OSError, ValueError):
        lines = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
        return int(lines["MemAvailable"].split()[0]) * 1024 >= NEEDED_BYTES
    with contextlib.suppress(AttributeError, OSError, ValueError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >= 8 * NEEDED_BYTES
    return False


class WarmSpark:
    """One at most. A report takes it with `take` and gives it back; other reports get none until then."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._busy = False
        self._process: subprocess.Popen[str] | None = None
        self._log: IO[str] | None = None

    def take(self, request: Request) -> bool:
        """Whether this report can use it: it is free, and the report runs on this machine."""
        places = (*request.sessions, str(request.out))
        if request.master != LOCAL or any(map(is_remote, places)):
            return False
        with self._lock:
            taken, self._busy = not self._busy, True
        return taken

    def prepare(self) -> None:
        """Have it started and tried, where memory allows, so that the next report need not wait for that."""
        with self._lock:
            running = self._process is not None and self._process.poll() is None
            if self._busy or running or not memory_allows():
                return
            process = self._running()
            assert process.stdin is not None
            with contextlib.suppress(OSError):
                process.stdin.write("[]\n")
                process.stdin.flush()

    def give_back(self) -> None:
        """The report has ended."""
        with self._lock:
            self._busy = False

    def lines(self, request: Request) -> Iterator[str]:
        """What the process says about `request`, up to its last line; ends early where the process dies."""
        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(OSError):
            process.stdin.write(json.dumps(arguments_of(request)) + "\n")
            process.stdin.flush()
            for line in process.stdout:
                yield line
                if '"report"' in line or '"error"' in line:
                    return
        # It says nothing more, but may take a while to die: the next report must not find it still there.
        self.close()

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None or self._process.poll() is not None:
            self._log = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115 - as long as it
            self._process = subprocess.Popen(
                COMMAND,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                text=True,
                cwd=JOB_FOLDER,
            )
        return self._process

    def log(self) -> str:
        """What the process had to say besides."""
        if self._log is None:
            return ""
        self._log.seek(0)
        return self._log.read()

    def close(self) -> None:
        """End the process, with the report that it makes; the next report starts it again."""
        process, self._process = self._process, None
        if process is None or process.poll() is not None:
            return
        process.terminate()
        try:
            process.wait(END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
