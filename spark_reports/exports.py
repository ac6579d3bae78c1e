"""The tables as files for other programs: CSV whose cells no spreadsheet runs, and Parquet."""

from __future__ import annotations

import csv
import re
from collections.abc import Collection
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

_ACTIVE = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet takes for the beginning of a formula
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")


def inert(cell: object) -> str:
    """`cell` as text that a spreadsheet shows and does not run: an active beginning is quoted, "
    "plain numbers are not."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    text = str(cell)
    if text.startswith(_ACTIVE) and not _NUMBER.fullmatch(text):
        return "'" + text
    return text


def write_table(table: pa.Table, folder: Path, name: str, formats: Collection[str] = ("csv", "parquet")) -> None:
    """Write `table` as `name`.csv (UTF-8, a header row) and `name`.parquet (zstd) into `folder`. Raises OSError."""
    if "csv" in formats:
        _write_csv(table, folder / f"{name}.csv")
    if "parquet" in formats:
        pq.write_table(table, folder / f"{name}.parquet", compression="zstd")


def _write_csv(table: pa.Table, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(map(inert, table.column_names))
        for batch in table.to_batches(max_chunksize=10_000):
            columns = [column.to_pylist() for column in batch.columns]
            writer.writerows(map(inert, row) for row in zip(*columns, strict=True))
