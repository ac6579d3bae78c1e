"""Arrivals from a file of real events: JSON Lines or CSV, plain or gzip."""

from __future__ import annotations

import csv
import datetime
import gzip
import io
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, AnyStr, Generic, cast

import msgspec

import resources
from broker_core.clock import NS_PER_S
from broker_core.errors import ArrivalError, ScenarioError
from broker_core.limits import MAX_MESSAGE_BYTES
from broker_core.messages import Message
from broker_core.settings import NotNegative, PositiveNumber

Arrival = tuple[int, Message]
_Row = tuple[int, bytes, dict[str, Any]]

_DAY_S = 86_400


class FileArrivals(msgspec.Struct, frozen=True, kw_only=True, tag="file", tag_field="kind", forbid_unknown_fields=True):
    """Events from a file, in their real order and with their real gaps: CSV by its name, else JSON Lines.

    `time` names the column with Unix seconds or an ISO 8601 time; `seconds_per_day` is how much session time one
    day of it takes. `key`, `value` and `priority` name columns; without `key` messages have none, without `value`
    the whole row is sent. `headers` names the column of each header. `where` keeps only rows whose columns have
    these values. `skip` leaves out that many of the kept rows, and nothing comes after `limit` of them.
    """

    file: str
    time: str = "time"
    key: str = ""
    value: str = ""
    headers: dict[str, str] = {}
    priority: str = ""
    seconds_per_day: PositiveNumber = 1.0
    where: dict[str, str | int] = {}
    skip: NotNegative = 0
    limit: NotNegative | None = None


def from_file(spec: FileArrivals, path: Path) -> Iterator[Arrival]:
    """(session time in ns, message) of each row that is kept. Raises `ArrivalError` at the first bad one."""
    is_csv = ".csv" in path.suffixes
    first_s: float | None = None
    kept = last_ns = 0
    for line_number, line, row in _rows(path, is_csv):
        try:
            if not all(
                str(row[key]) == str(wanted) if is_csv else row[key] == wanted for key, wanted in spec.where.items()
            ):
                continue
            at_s = _seconds(row[spec.time])
            message = _message(spec, row, line)
            kept += 1
            if kept <= spec.skip:
                continue
            if spec.limit is not None and kept > spec.skip + spec.limit:
                return
            first_s = at_s if first_s is None else first_s
            # A clock that went backwards in the source must not reorder the stream.
            last_ns = max(last_ns, round((at_s - first_s) / _DAY_S * spec.seconds_per_day * NS_PER_S))
        except KeyError as error:
            raise _bad(path, line_number, f"there is no column {error}") from error
        except _ColumnError as error:
            raise _bad(path, line_number, str(error)) from error
        except (TypeError, ValueError, OverflowError) as error:
            raise _bad(path, line_number, f"'{spec.time}' is not a time in seconds") from error
        yield last_ns, message


def _bad(path: Path, line_number: int, why: str) -> ArrivalError:
    return ArrivalError(f"{path.name}, line {line_number}: {why}.")


class _ColumnError(Exception):
    """A column has not what its use needs."""


def _seconds(found: Any) -> float:
    try:
        seconds = float(found)
    except ValueError:
        moment = datetime.datetime.fromisoformat(found)
        seconds = (moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)).timestamp()
    if not abs(seconds) < float("inf"):
        raise ValueError("no time")
    return seconds


def _message(spec: FileArrivals, row: dict[str, Any], line: bytes) -> Message:
    key = _bytes(row, spec.key) if spec.key else None
    value = _bytes(row, spec.value) if spec.value else line
    headers = tuple((name, _bytes(row, column) or b"") for name, column in spec.headers.items())
    priority = 0
    if spec.priority:
        try:
            priority = int(row[spec.priority])
        except (TypeError, ValueError, OverflowError) as error:
            raise _ColumnError(f"'{spec.priority}' is not a whole number") from error
    return Message(value, key, headers, priority=priority)


def _bytes(row: dict[str, Any], column: str) -> bytes | None:
    found = row[column]
    if found is None:
        return None
    try:
        return (found if isinstance(found, str) else json.dumps(found, separators=(",", ":"))).encode()
    except UnicodeEncodeError as error:
        raise _ColumnError(f"'{column}' has a lone surrogate, which UTF-8 cannot hold") from error


def _rows(path: Path, is_csv: bool) -> Iterator[_Row]:
    line_number = 0
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as lines:
            for line_number, line, row in (_csv_rows if is_csv else _json_rows)(path, cast(IO[bytes], lines)):
                yield line_number, line, row
    except (UnicodeDecodeError, csv.Error) as error:
        raise _bad(path, line_number + 1, f"this is not CSV ({error})") from error
    except (OSError, EOFError, zlib.error) as error:
        raise ArrivalError(f"The file {path} cannot be read: {error}.") from error


class _Lines(Generic[AnyStr]):
    """The lines of a file. Who has read a row sets `row_bytes` to 0: no row, in CSV with the blank lines before it, is
    longer than what a topic takes, so that a compressed file cannot fill the memory with one.
    """

    def __init__(self, path: Path, file: IO[AnyStr]) -> None:
        self._path = path
        self._file: IO[AnyStr] = file
        self.row_bytes = 0

    def __iter__(self) -> Iterator[AnyStr]:
        line_number = 0
        while line := self._file.readline(MAX_MESSAGE_BYTES + 1):
            line_number += 1
            self.row_bytes += len(line if isinstance(line, bytes) else line.encode())
            if self.row_bytes > MAX_MESSAGE_BYTES:
                raise _bad(self._path, line_number, f"more than {MAX_MESSAGE_BYTES} bytes in a row")
            yield line


def _json_rows(path: Path, file: IO[bytes]) -> Iterator[_Row]:
    lines = _Lines(path, file)
    for line_number, raw in enumerate(lines, 1):
        lines.row_bytes = 0
        line = raw.strip()
        try:
            row = json.loads(line) if line else None
        except (ValueError, RecursionError) as error:
            raise _bad(path, line_number, "this is not JSON") from error
        if isinstance(row, dict):
            yield line_number, line, row
        elif line:
            raise _bad(path, line_number, "a row must be a JSON object")


def _csv_rows(path: Path, file: IO[bytes]) -> Iterator[_Row]:
    lines = _Lines(path, io.TextIOWrapper(file, encoding="utf-8-sig", newline=""))
    reader = csv.DictReader(lines, strict=True)
    for row in reader:
        lines.row_bytes = 0
        if None in row or None in row.values():
            columns = len(reader.fieldnames or ())
            raise _bad(path, reader.line_num, f"the row must have {columns} columns, like the first line")
        yield reader.line_num, json.dumps(row, separators=(",", ":")).encode(), row


class DataFiles:
    """Finds the files that a scenario names: beside the scenario first, then among the shipped sample data."""

    def __init__(self, scenario: Path) -> None:
        self._folder = scenario.resolve().parent

    def __call__(self, name: str) -> Path:
        """The path of `name`. Raises `ScenarioError`."""
        candidates = [self._folder / name]
        if Path(name).name == name:
            candidates.append(resources.path("sample_data") / name)
        for candidate in candidates:
            if candidate.is_file():
                return candidate
        raise ScenarioError(f"The scenario reads {name}, which is neither in {self._folder} nor among the sample data.")
