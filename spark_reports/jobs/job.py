"""The report as a process of its own: `python -m spark_reports.jobs.job SESSION --out OUT`."""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from spark_reports.errors import Cancelled, ReportError, told
from spark_reports.jobs.cancellation import Cancellation
from spark_reports.jobs.making import Making
from spark_reports.jobs.outcome import CANCELLED_CODE
from spark_reports.output.delivery import clear
from spark_reports.request.request import add_arguments, request_of
from spark_reports.spark.progress import Progress, private_stdout, silence_libraries

_WORK_PREFIX = "brokerscope-report-"


def main(argv: Sequence[str] | None = None) -> int:
    """Make one report, with a line of JSON for each step on standard output. The exit code: 0, 1 for an error in one
    sentence, 130 if cancelled, or that of `outcome`.
    """
    parser = argparse.ArgumentParser(prog="python -m spark_reports.jobs.job", description="Make a report of a session.")
    add_arguments(parser)
    arguments = parser.parse_args(argv)
    output = private_stdout()
    silence_libraries()
    cancellation = Cancellation()
    cancellation.listen_to_signals()
    cancellation.listen_to_stdin()
    progress = Progress(output, cancellation.request)
    try:
        request = request_of(arguments)
        request.check()
        with _work_folder() as (work, log):
            report, outcome = Making(request, work, log, progress, cancellation).make()
            if not outcome.failed:
                log.unlink(missing_ok=True)
    except (ReportError, OSError) as error:
        progress.end(**told(error))
        return CANCELLED_CODE if isinstance(error, Cancelled) else 1
    progress.end(report=report, **outcome.told())
    return outcome.code


@contextlib.contextmanager
def _work_folder() -> Iterator[tuple[Path, Path]]:
    """A folder for what Spark needs, gone afterwards, and a log that stays if something fails, until the next job."""
    clear(Path(tempfile.gettempdir()), _WORK_PREFIX)
    work = Path(tempfile.mkdtemp(prefix=f"{_WORK_PREFIX}{os.getpid()}-"))
    log = work.with_suffix(".log")
    try:
        yield work, log
    except ReportError as error:
        if isinstance(error, Cancelled):
            log.unlink(missing_ok=True)
        elif log.exists():
            error.log = log
        raise
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
