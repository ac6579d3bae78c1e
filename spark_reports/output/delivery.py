from __future__ import annotations

import contextlib
import glob
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from spark_reports.errors import Busy, ReportError

REPORT = "report.html"
TABLES = "tables"
JUNIT = "junit.xml"
SCHEMA = "schema.md"
#: What a file of a report says of itself, so that a person's file of the same name is told apart.
_MARKS = {
    REPORT: b'name="generator" content="Brokerscope"',
    JUNIT: b"the recording is complete",
    SCHEMA: b"# The tables of this report",
}


@contextlib.contextmanager
def delivery(out: Path) -> Iterator[Path]:
    """The folder to write a report into, which takes the place of `out` if all went well. Raises `ReportError` if `out`
    holds something else, `Busy` if another report is being made there, and OSError.
    """
    _check(out)
    out = out.resolve()
    partial = out.with_name(f"{out.name}.partial-{os.getpid()}")
    partial.parent.mkdir(parents=True, exist_ok=True)
    clear(partial.parent, f"{out.name}.partial-")
    try:
        (partial / TABLES).mkdir(parents=True)
        _check_alone(partial, out)
        yield partial
        _publish(partial, out)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _check(out: Path) -> None:
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise ReportError(f"{out} is not a folder: choose another name for the report.")
    for path in out.rglob("*") if out.is_dir() else ():
        if not _is_of_report(path, out):
            found = path.relative_to(out)
            raise ReportError(f"{out} contains something other than a report, {found}: choose another folder.")


def _check_alone(partial: Path, out: Path) -> None:
    """`clear` has removed the folders of jobs that are gone; one that is left belongs to a job that goes on."""
    for other in out.parent.glob(f"{glob.escape(out.name)}.partial-[0-9]*"):
        if other != partial:
            raise Busy(
                f"Another report is being made in {out} (its files are in {other.name}): wait until it is finished, "
                "or choose another folder."
            )


def _is_of_report(path: Path, out: Path) -> bool:
    """Whether a report that was made in `out` has `path`: only such files go with an earlier report."""
    name = path.relative_to(out).as_posix()
    if path.is_symlink():
        return False
    if path.is_dir():
        return name == TABLES
    if name.rpartition("/")[0] == TABLES and path.suffix in (".csv", ".parquet"):
        return f"## {path.stem}\n".encode() in _content(out / SCHEMA)
    return name in _MARKS and _MARKS[name] in _content(path)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


def _publish(partial: Path, out: Path) -> None:
    """Put the finished folder in the place of `out`; an earlier report goes only when the new one is there."""
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


def clear(folder: Path, prefix: str) -> None:
    """Remove what a killed job left in `folder`: files and folders named `prefix` and the number of its process."""
    for path in folder.glob(f"{prefix}[0-9]*"):
        number = path.name.removeprefix(prefix).partition("-")[0].partition(".")[0]
        if number.isdecimal() and not _alive(int(number)):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except OSError as error:
        return not isinstance(error, ProcessLookupError)
    return True
