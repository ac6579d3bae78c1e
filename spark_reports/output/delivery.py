from __future__ import annotations

import contextlib
import fcntl
import glob
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

from spark_reports.errors import Busy, ReportError

REPORT = "report.html"
TABLES = "tables"
JUNIT = "junit.xml"
SCHEMA = "schema.md"
_EARLIER = "-earlier"  # ends the name of a report that is about to be replaced
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
    prefix = f"{out.name}.partial-"
    # In another container another job may have the same number.
    partial = out.with_name(f"{prefix}{os.getpid()}-{secrets.token_hex(4)}")
    partial.parent.mkdir(parents=True, exist_ok=True)
    for left in _left(partial.parent, prefix):
        if left.name.endswith(_EARLIER) and not out.exists():
            left.rename(out)
    clear(partial.parent, prefix)
    (partial / TABLES).mkdir(parents=True)
    held = os.open(partial, os.O_DIRECTORY)
    try:
        with contextlib.suppress(OSError):  # some network disks have no locks
            fcntl.flock(held, fcntl.LOCK_EX)
        _check_alone(partial, out)
        yield partial
        _publish(partial, out)
    finally:
        os.close(held)
        shutil.rmtree(partial, ignore_errors=True)


def _check(out: Path) -> None:
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise ReportError(f"{out} is not a folder: choose another name for the report.")
    if os.path.ismount(out):
        raise ReportError(f"{out} is a mounted disk, which a report cannot replace: choose a folder in it.")
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
    old = partial.with_name(partial.name + _EARLIER)
    out.rename(old)
    try:
        partial.rename(out)
    except OSError:
        old.rename(out)
        raise
    shutil.rmtree(old, ignore_errors=True)


def clear(folder: Path, prefix: str) -> None:
    """Remove what a killed job left in `folder`: files and folders named `prefix` and the number of its process."""
    for path in _left(folder, prefix):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            with contextlib.suppress(OSError):  # in /tmp it may be another user's
                path.unlink()


def _left(folder: Path, prefix: str) -> Iterator[Path]:
    for path in folder.glob(f"{glob.escape(prefix)}[0-9]*"):
        number = path.name.removeprefix(prefix).partition("-")[0].partition(".")[0]
        if number.isdecimal() and not _alive(int(number)) and not _locked(path):
            yield path


def _alive(process: int) -> bool:
    """Whether another process has that number; in a container a killed job had the number that this one has."""
    try:
        os.kill(process, 0)
    except OSError as error:
        return not isinstance(error, ProcessLookupError)
    return process != os.getpid()


def _locked(path: Path) -> bool:
    """Whether it is the folder of a report that is being made, in this container or another."""
    with contextlib.ExitStack() as opened:
        try:
            held = os.open(path, os.O_DIRECTORY)
            opened.callback(os.close, held)
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            return isinstance(error, BlockingIOError)
    return False
