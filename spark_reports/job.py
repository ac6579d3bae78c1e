"""The report of one session as a process of its own: `python -m spark_reports.job SESSION --out OUT`."""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import sys
import tempfile
import traceback
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TextIO

from spark_reports.cancellation import Cancellation
from spark_reports.errors import Cancelled, ReportError
from spark_reports.java import find_java, home_for_executors
from spark_reports.jvm import Jvm
from spark_reports.leftovers import clear
from spark_reports.progress import Progress, private_stdout
from spark_reports.session import SessionInfo, inspect, inspect_remote, is_remote
from spark_reports.tuning import tuning

REPORT = "report.html"
TABLES = "tables"
_WORK = "brokerscope-report-"
CANCELLED_CODE = 130  # as a shell says it of a program that was interrupted

#: What each step weighs on the way to the end; every table weighs one.
_WEIGHTS = {"start": 8.0, "rollup": 8.0, "latency_buckets": 4.0, "page": 1.0}


def main(argv: Sequence[str] | None = None) -> int:
    """Make one report. The exit code: 0, 1 for an error that is said in one sentence, 130 where it "
    "was cancelled."""
    arguments = _parser().parse_args(argv)
    output = private_stdout()
    cancellation = Cancellation()
    cancellation.listen_to_signals()
    as_json = arguments.progress == "json"
    if as_json:
        cancellation.listen_to_stdin()
    progress = Progress(output, as_json, dict(_WEIGHTS), cancellation.request)
    try:
        with _work_folder() as (work, log):
            report = _run(arguments.session, Path(arguments.out), arguments.master, work, log, progress, cancellation)
    except Cancelled as error:
        return _say_error(progress, output, as_json, error, CANCELLED_CODE)
    except (ReportError, OSError) as error:
        return _say_error(progress, output, as_json, error, 1)
    if as_json:
        progress.end(report=str(report))
    else:
        progress.end()
        print(report, file=output, flush=True)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m spark_reports.job", description="Make the report of a session.")
    parser.add_argument("session", help="a session folder, on any path that Spark reads")
    parser.add_argument("--out", required=True, help="the folder to make: report.html and tables/")
    parser.add_argument("--master", default="local[*]", help="a Spark master (default: %(default)s)")
    parser.add_argument("--progress", choices=("text", "json"), default="text", help="json: a line per step on stdout")
    return parser


def _say_error(progress: Progress, output: TextIO, as_json: bool, error: Exception, code: int) -> int:
    sentence = str(error)
    if isinstance(error, OSError):
        sentence = f"The report cannot be written: {error.strerror or error} ({error.filename or 'no file'})."
    log = getattr(error, "log", None)
    if as_json:
        progress.end(error=sentence, **({"log": str(log)} if log else {}))
    else:
        progress.end()
        print(*([sentence, f"The log is {log}."] if log else [sentence]), file=sys.__stderr__, flush=True)
    return code


@contextlib.contextmanager
def _work_folder() -> Iterator[tuple[Path, Path]]:
    """A folder for what Spark needs, gone afterwards, and a log that stays only where something "
    "failed, until the next job."""
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


def _run(
    session: str, out: Path, master: str, work: Path, log: Path, progress: Progress, cancellation: Cancellation
) -> Path:
    """From the session to the finished folder. Raises `ReportError` and OSError; nothing "
    "half-written stays."""
    info = None if is_remote(session) else inspect(session)
    _check_target(out)
    out = out.resolve()
    partial = out.with_name(f"{out.name}.partial-{os.getpid()}")
    partial.parent.mkdir(parents=True, exist_ok=True)
    clear(partial.parent, f"{out.name}.partial-")
    (partial / TABLES).mkdir(parents=True)
    try:
        _fill(partial, session, info, master, work, log, progress, cancellation)
        cancellation.check()
        _publish(partial, out)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return out / REPORT


def _fill(
    folder: Path,
    session: str,
    info: SessionInfo | None,
    master: str,
    work: Path,
    log: Path,
    progress: Progress,
    cancellation: Cancellation,
) -> None:
    java = find_java()
    if not master.startswith("local["):
        os.environ["JAVA_HOME"] = str(home_for_executors(java, work))
    setup = tuning(info.metadata.get("events") if info else None)
    jvm = Jvm(java, work, log, master, setup.jvm_options)
    cancellation.kills(jvm.kill)
    try:
        with log.open("a", encoding="utf-8") as noise, contextlib.redirect_stderr(noise):
            _work(folder, session, info, master, work, jvm, setup.settings, progress)
    except Exception as error:
        cancellation.check()
        if isinstance(error, ReportError | OSError):
            raise
        with log.open("a", encoding="utf-8") as file:
            traceback.print_exception(error, file=file)
        raise ReportError(f"The report failed: {_first_line(error)}") from error
    finally:
        progress.close()
        jvm.close()


def _work(
    folder: Path,
    session: str,
    info: SessionInfo | None,
    master: str,
    work: Path,
    jvm: Jvm,
    settings: Mapping[str, str],
    progress: Progress,
) -> None:
    from spark_reports.exports import write_table
    from spark_reports.tables import TABLES as PLAN

    progress.plan({table.name: 1.0 for table in PLAN})
    with progress.step("start", "Starting Spark"):
        from spark_reports.collect import make_tables
        from spark_reports.page.findings import findings_table
        from spark_reports.page.page import render
        from spark_reports.spark import spark_session

        jvm.connect()
        spark = spark_session(master, work, settings)
    if info is None:
        info = inspect_remote(spark, session)
    progress.watch(spark.sparkContext)
    made = make_tables(spark, info, progress)
    progress.close()
    with progress.step("page", "Writing the page"):
        findings = findings_table(made.tables, made.duration_ns)
        for name, table in {**made.tables, "findings": findings}.items():
            write_table(table, folder / TABLES, name)
        (folder / REPORT).write_text(render(info, made), encoding="utf-8")
    spark.stop()


def _first_line(error: Exception) -> str:
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0][:300]


def _check_target(out: Path) -> None:
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise ReportError(f"{out} is not a folder: choose another name for the report.")
    if out.is_dir() and any(out.iterdir()) and not (out / REPORT).exists():
        raise ReportError(f"{out} holds something else than a report: choose another folder.")


def _publish(partial: Path, out: Path) -> None:
    """Put the finished folder in the place of `out`; an earlier report goes only when the new one "
    "is there."""
    if not out.exists():
        partial.rename(out)
        return
    old = out.with_name(f"{out.name}.old-{os.getpid()}")
    out.rename(old)
    try:
        partial.rename(out)
    except OSError:
        old.rename(out)
        raise
    shutil.rmtree(old, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
