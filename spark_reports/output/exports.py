"""The tables as files for other programs: CSV whose cells no spreadsheet runs, and Parquet."""

from __future__ import annotations

import re
from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from spark_reports.output.schema_document import AT, described, moments

_ACTIVE = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet takes for the beginning of a formula
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")
_QUOTED = re.compile('[",\r\n]')
_TIME = pa.timestamp("us", "UTC")


def inert(cell: object) -> str:
    """`cell` as text that a spreadsheet shows and does not run: an active beginning is quoted, but of a number."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, datetime):
        return cell.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")  # spreadsheets know no zones
    text = str(cell)
    if text.startswith(_ACTIVE) and not _NUMBER.fullmatch(text):
        return "'" + text
    return text


def dated(table: pa.Table, name: str, started_at: object) -> pa.Table:
    """`name` with NAME_at, a time of day, behind each moment NAME_ns; null unless `started_at` is an ISO 8601 time."""
    try:
        began = datetime.fromisoformat(str(started_at))
        began = began.astimezone(UTC) if began.tzinfo else began.replace(tzinfo=UTC)  # not this machine's zone
    except (ValueError, OverflowError):
        began = None
    for column in moments(name, table.column_names):
        index = table.column_names.index(column)
        after_us = pc.divide(table.column(index), 1_000).cast(pa.duration("us"))
        times = pc.add(pa.scalar(began, _TIME), after_us)
        table = table.add_column(index + 1, pa.field(column.removesuffix("_ns") + AT, _TIME), times)
    return table


def write_table(table: pa.Table, folder: Path, name: str, formats: Collection[str] = ("csv", "parquet")) -> None:
    """Write `name`.csv (UTF-8, with a header) and `name`.parquet (zstd, fields explained). Raises OSError."""
    if "csv" in formats:
        _write_csv(table, folder / f"{name}.csv")
    if "parquet" in formats:
        pq.write_table(described(table, name), folder / f"{name}.parquet", compression="zstd")


def _write_csv(table: pa.Table, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(",".join(map(_field, table.column_names)) + "\r\n")
        for batch in table.to_batches(max_chunksize=10_000):
            columns = [_fields(column.to_pylist()) for column in batch.columns]
            file.writelines(",".join(row) + "\r\n" for row in zip(*columns, strict=True))


def _fields(values: list[object]) -> list[str]:
    """Each of `values` is made a field once: most names, and many numbers, are there again and again."""
    fields = {value: _field(value) for value in set(values)}
    return [fields[value] for value in values]


def _field(value: object) -> str:
    """A CSV field by RFC 4180; null is nothing at all, and an empty text is two quotes."""
    text = inert(value)
    if value is not None and (not text or _QUOTED.search(text)):
        return '"' + text.replace('"', '""') + '"'
    return text
