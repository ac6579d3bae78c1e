from __future__ import annotations

import re
from pathlib import Path

_FILE = re.compile(r"(?:Encountered error|Error) while reading file (?:file:(?://)?)?(\S+)")
_WRAPPED = r'^(?:Caused by: |Exception in thread "[^"]*" |: )?(?:[\w$]+\.)+'
_CAUSE = re.compile(_WRAPPED + r"(\w*(?:Exception|Error)\w*)(?:: (.+))?$", re.MULTILINE)
MOST_CHARS = 300


class ReportError(Exception):
    """`str(error)` says what happened, to what, and what to do; `log` is where the details are, if anywhere."""

    log: Path | None = None


class NotFound(ReportError):
    """The session or part to be reported on does not exist."""


class Busy(ReportError):
    """Another report is being made where this one was to be put."""


class Cancelled(ReportError):
    """The job was cancelled, or the reader of its progress has gone."""

    def __init__(self) -> None:
        super().__init__("The report was cancelled.")


class Failed(ReportError):
    """Spark, or the program, failed."""


class TooMany(ReportError):
    """A pass would collect more rows than are allowed."""


def told(error: Exception) -> dict[str, object]:
    """The last line of a job that `error` has ended: {"error": sentence}, with its "log" if it has one, "not_found" if
    what it names is not there, and "refused" if the disk, or another report, is in its way.
    """
    sentence = str(error)
    if isinstance(error, OSError):
        where = f" ({error.filename})" if error.filename else ""
        sentence = f"The report cannot be written: {error.strerror or error}{where}."
    found: dict[str, object] = {"error": sentence}
    if log := getattr(error, "log", None):
        found["log"] = str(log)
    if isinstance(error, NotFound):
        found["not_found"] = True
    elif isinstance(error, OSError | Busy):
        found["refused"] = True
    return found


def reason(error: Exception) -> str:
    """The root cause of an error from Spark, which wraps it several times. Call this while Java is still running."""
    said = str(error).strip() or type(error).__name__
    if file := _FILE.search(said):
        return f"{file[1].rstrip('.')} cannot be read; it is damaged or was written by another program"
    return (java_cause(said) or said.splitlines()[0])[:MOST_CHARS].rstrip(".")


def java_cause(trace: str) -> str:
    """The root cause in what Java says of an error, which wraps it several times; "" if it names none."""
    name, words = next(reversed(_CAUSE.findall(trace)), ("", ""))
    return f"{name}: {words}" if name in _TELLING and words else words.strip() or name


_OF_FILES = {"AccessDeniedException", "NoSuchFileException"}
_TELLING = _OF_FILES | {"OutOfMemoryError", "UnknownHostException", "ClassNotFoundException", "StackOverflowError"}
