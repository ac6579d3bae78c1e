from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from app.environment.exits import Exit, exit_of
from app.environment.extras import why_missing
from app.environment.paths import logs_folder
from app.reports.warm_spark import JOB_FOLDER, SharedSpark, WarmSpark, end_process
from broker_core.errors import BrokerError
from broker_core.recording.reader import seal
from spark_reports.errors import ReportError
from spark_reports.jobs.outcome import Outcome
from spark_reports.request.request import Request, arguments_of

Progress = Callable[[dict[str, Any]], object]
LOGS_KEPT = 10


class ReportNotMade(Exception):
    """The report was not made; one sentence says why. `log` is a file that says more, "" for none. `code` is how a
    command ends that was to make it.
    """

    def __init__(self, sentence: str, log: str = "", code: Exit = Exit.USAGE) -> None:
        super().__init__(sentence)
        self.log = log
        self.code = code


class ReportProcess:
    """One run of the job. `run` blocks until it ends; `cancel` may come from any thread."""

    def __init__(self, request: Request, warm: WarmSpark | SharedSpark | None = None) -> None:
        """With `warm`, that Spark makes the report if it is free; otherwise a new process does."""
        self._offered = warm
        self._warm: WarmSpark | SharedSpark | None = None  # while it makes the report
        self._arguments = [*(sys.executable, "-m", "spark_reports.jobs.job"), *arguments_of(request)]
        self._ends = threading.Lock()  # what was given back makes the report of another, and is not to be closed
        self._request = request
        self._process: subprocess.Popen[str] | None = None
        self.cancelled = False
        self.written = False  # the page is in its place
        self.outcome = Outcome()

    def run(self, progress: Progress) -> Path:
        """The path of the finished page; `outcome` holds its remarks. Raises `ReportNotMade`, before
        anything is started where it is asked wrongly.

        A session whose program was killed is sealed first.
        """
        if missing := why_missing("report"):
            raise ReportNotMade(missing)
        try:
            self._request.check()
            seal(self._request.session)
        except ReportError as error:
            raise ReportNotMade(str(error)) from error
        except BrokerError as error:
            raise ReportNotMade(str(error), code=exit_of(error)) from error
        if (warm := self._offered) is not None and warm.take():
            self._warm = warm
            try:
                last = {} if self.cancelled else self._follow(warm.lines(self._request), progress)
                return self._page(last, None, warm.log())
            finally:
                with self._ends:
                    self._warm = None
                    warm.give_back()
        # The job's standard error goes to a file: a pipe without a reader would stop it.
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as log:
            self._process = process = subprocess.Popen(
                self._arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, cwd=JOB_FOLDER
            )
            if self.cancelled:
                self.cancel()
            assert process.stdout is not None
            last = self._follow(process.stdout, progress)
            code = process.wait()
            log.seek(0)
            whole = log.read()
        return self._page(last, code, whole)

    def _page(self, last: dict[str, Any], code: int | None, whole: str) -> Path:
        if self.written:
            self.outcome = Outcome.of(last)
            if log := _keep(_read(self.outcome.log)):
                self.outcome = self.outcome._replace(failed=(*self.outcome.failed, f"The log is {log}."), log=log)
        if self.written and (self.cancelled or code in (None, self.outcome.code)):
            return Path(last["report"])  # in its place, even if it was cancelled after that
        if self.cancelled:
            raise ReportNotMade("The report was cancelled; nothing was written.")
        if "error" in last:
            ended = Exit.NOT_FOUND if last.get("not_found") else Exit.REFUSED if last.get("refused") else Exit.USAGE
            raise ReportNotMade(str(last["error"]), _keep(_read(last["log"]) if last.get("log") else whole), ended)
        end = "the kept Spark has ended; ask again, and a new one is started" if code is None else f"exit code {code}"
        *_, reason = end, *whole.strip().splitlines()
        raise ReportNotMade(f"The report job ended before it was done: {reason}", _keep(whole))

    def _follow(self, lines: Iterable[str], progress: Progress) -> dict[str, Any]:
        last: dict[str, Any] = {}
        for line in lines:
            if self.cancelled:
                self.cancel()  # before a kept Spark had a process to end
            try:
                said = json.loads(line)
            except json.JSONDecodeError:
                continue
            if isinstance(said, dict):
                last = said
                self.written = "report" in said
                if "fraction" in said:
                    progress(said)
        return last

    def cancel(self) -> None:
        self.cancelled = True
        with self._ends:
            if self._warm is not None:
                self._warm.close()
        end_process(self._process)


def _keep(log: str) -> str:
    """The path of the job's log; "" if it is empty, or cannot be written."""
    if not log.strip():
        return ""
    folder = logs_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for old in sorted(folder.glob("report-*.log"))[: 1 - LOGS_KEPT]:
            old.unlink(missing_ok=True)
        now_ns = time.time_ns()
        stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(now_ns // 10**9))
        path = folder / f"report-{stamp}-{now_ns % 10**9:09}.log"
        path.write_text(log, encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return str(path)


def _read(log: str) -> str:
    """The job's own log, which the next job overwrites; "" if it cannot be read."""
    try:
        return Path(log).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
