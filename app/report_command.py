"""`brokerscope report`: the report job with its progress on a terminal."""

from __future__ import annotations

import sys
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from app.report_process import ReportError, ReportProcess


def make_report(session: Path, out: Path, master: str) -> int:
    """Make the report of `session` in `out` and print the path of its page; the exit code."""
    job = ReportProcess(session.resolve(), out.resolve(), master=master)
    try:
        with Progress(
            TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), console=Console(stderr=True)
        ) as progress:
            bar = progress.add_task("Starting Spark", total=1.0)
            page = job.run(lambda said: progress.update(bar, completed=said["fraction"], description=said["stage"]))
    except KeyboardInterrupt:
        job.cancel()
        print("brokerscope: the report was cancelled; nothing was written.", file=sys.stderr)
        return 130
    except ReportError as error:
        print(f"brokerscope: {error}", file=sys.stderr)
        return 2
    print(page)
    return 0
