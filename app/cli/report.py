from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from app.cli.parser import Command, CommandError, arguments, described
from app.environment.exits import Exit
from app.reports.process import ReportNotMade, ReportProcess
from app.reports.warm_spark import SharedSpark
from spark_reports.errors import ReportError
from spark_reports.request.request import Request, add_arguments, request_of


def command() -> Command:
    parser = described("report")
    add_arguments(parser)
    arguments(parser, "report")

    def run(options: argparse.Namespace) -> int:
        try:
            request = request_of(options)
        except ReportError as error:
            raise CommandError(str(error)) from error
        return make_report(request, SharedSpark() if options.warm else None)

    return parser, run


def make_report(request: Request, warm: SharedSpark | None = None) -> int:
    """Make the report that `request` describes and print the path of its page; the exit code. `warm` is a Spark that
    is kept for the next command.
    """
    job = ReportProcess(request, warm)
    replaces = _has_files(request.out)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    progress = Progress(*columns, console=Console(stderr=True))
    bar = progress.add_task("", total=1.0)

    def show(said: dict[str, Any]) -> None:
        # Only now, so that the error of a wrong request comes without a progress bar.
        progress.start()
        progress.update(bar, completed=said["fraction"], description=said["stage"])

    try:
        try:
            page = job.run(show)
        finally:
            if progress.live.is_started:
                progress.stop()
    except KeyboardInterrupt:
        job.cancel()
        written = ", but it was already written" if job.written else "; nothing was written"
        print(f"brokerscope: the report was cancelled{written}.", file=sys.stderr)
        return Exit.INTERRUPTED
    except ReportNotMade as error:
        print(f"brokerscope: {error}", file=sys.stderr)
        if error.log:
            print(f"The log is {error.log}", file=sys.stderr)
        return error.code
    for said in job.outcome.lines():
        print(f"brokerscope: {said}", file=sys.stderr)
    if replaces:
        print(f"brokerscope: the earlier report in {request.out} was replaced.", file=sys.stderr)
    print(page)
    return job.outcome.code


def _has_files(out: Path) -> bool:
    try:
        return any(out.iterdir())
    except OSError:  # it is not there, or the job will say why it cannot be read
        return False
