"""The report as a process of its own: `python -m spark_reports.jobs.job SESSION... --out OUT`."""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TextIO

from spark_reports.errors import Cancelled, ReportError, told
from spark_reports.jobs.cancellation import Cancellation
from spark_reports.jobs.making import Making
from spark_reports.output.delivery import clear
from spark_reports.request.request import add_arguments, request_of
from spark_reports.spark.progress import Progress, private_stdout, silence_libraries

_WORK = "brokerscope-report-"
CANCELLED_CODE = 130  # as a shell says it of a program that was interrupted


def main(argv: Sequence[str] | None = None) -> int:
    """Make one report. The exit code: 0, 1 for an error in one sentence, 130 if cancelled, or that of `outcome`."""
    parser = argparse.ArgumentParser(
        prog="python -m spark_reports.jobs.job", description="Make a report of one session or several."
    )
    add_arguments(parser)
    parser.add_argument("--progress", choices=("text", "json"), default="text", help="json: a line per step on stdout")
    arguments = parser.parse_args(argv)
    output = private_stdout()
    silence_libraries()
    cancellation = Cancellation()
    cancellation.listen_to_signals()
    as_json = arguments.progress == "json"
    if as_json:
        cancellation.listen_to_stdin()
    progress = Progress(output, as_json, {}, cancellation.request)
    try:
        request = request_of(arguments)
        request.check()
        with _work_folder() as (work, log):
            report, outcome = Making(request, work, log, progress, cancellation).make()
    except Cancelled as error:
        return _say_error(progress, output, as_json, error, CANCELLED_CODE)
    except (ReportError, OSError) as error:
        return _say_error(progress, output, as_json, error, 1)
    if as_json:
        progress.end(report=report, **outcome.told())
    else:
        progress.end()
        print(*outcome.lines(), sep="\n", end="\n" if outcome.lines() else "", file=sys.__stderr__, flush=True)
        print(report, file=output, flush=True)
    return outcome.code


def _say_error(progress: Progress, output: TextIO, as_json: bool, error: Exception, code: int) -> int:
    last = told(error)
    log = getattr(error, "log", None)
    if as_json:
        progress.end(**last, **({"log": str(log)} if log else {}))
    else:
        progress.end()
        print(last["error"], *([f"The log is {log}."] if log else []), file=sys.__stderr__, flush=True)
    return code


@contextlib.contextmanager
def _work_folder() -> Iterator[tuple[Path, Path]]:
    """A folder for what Spark needs, gone afterwards, and a log that stays if something failed, until the next job."""
    clear(Path(tempfile.gettempdir()), _WORK)
    work = Path(tempfile.mkdtemp(prefix=f"{_WORK}{os.getpid()}-"))
    log = work.with_suffix(".log")
    try:
        yield work, log
    except Cancelled:
        log.unlink(missing_ok=True)
        raise
    except ReportError as error:
        if log.exists():
            error.log = log
        raise
    else:
        log.unlink(missing_ok=True)
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
