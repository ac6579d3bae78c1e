"""Tables as files: inert for spreadsheets, whole for programs."""

from __future__ import annotations

import csv
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_reports.exports import inert, write_table


@pytest.mark.parametrize("beginning", ["=", "+", "-", "@", "\t", "\r"])
def test_what_a_spreadsheet_would_run_is_quoted(beginning: str) -> None:
    assert inert(f"{beginning}cmd|' /C calc'!A0") == f"'{beginning}cmd|' /C calc'!A0"


@pytest.mark.parametrize("plain", ["-5", "+3.25", "-1e9", "7", "hello", "a=b", ""])
def test_plain_numbers_and_words_stay_as_they_are(plain: str) -> None:
    assert inert(plain) == plain


@pytest.mark.parametrize(("value", "cell"), [(None, ""), (True, "true"), (False, "false"), (-3, "-3"), (-0.5, "-0.5")])
def test_values_are_written_plainly(value: object, cell: str) -> None:
    assert inert(value) == cell


@given(st.text())
def test_no_cell_begins_with_something_active_unless_it_is_a_number(text: str) -> None:
    cell = inert(text)
    if cell.startswith(("=", "+", "-", "@", "\t", "\r")):
        float(cell)
    assert cell in (text, "'" + text)


def test_both_files_hold_every_row(tmp_path: Path) -> None:
    table = pa.table({"name": ["=1+1", 'say "hi",\nthere', None], "count": [1, -2, None], "ok": [True, None, False]})
    write_table(table, tmp_path, "things")
    with (tmp_path / "things.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows == [
        ["name", "count", "ok"],
        ["'=1+1", "1", "true"],
        ['say "hi",\nthere', "-2", ""],
        ["", "", "false"],
    ]
    assert pq.read_table(tmp_path / "things.parquet").equals(table)
