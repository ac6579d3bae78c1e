"""Tables as files: inert for spreadsheets, whole for programs."""

from __future__ import annotations

import csv
import tempfile
import time
from pathlib import Path

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_reports.findings import find
from spark_reports.findings.finding import INFO, Finding
from spark_reports.output import schema_document
from spark_reports.output.exports import dated, inert, write_table
from spark_reports.output.schema_document import Meaning
from spark_reports.pipeline.tables import TABLES
from spark_reports.tables.schema import columns


@pytest.mark.promise("26")
@pytest.mark.parametrize("beginning", ["=", "+", "-", "@", "\t", "\r"])
def test_what_a_spreadsheet_would_run_is_quoted(beginning: str) -> None:
    assert inert(f"{beginning}cmd|' /C calc'!A0") == f"'{beginning}cmd|' /C calc'!A0"


@pytest.mark.parametrize("plain", ["-5", "+3.25", "-1e9", "7", "hello", "a=b", ""])
def test_plain_numbers_and_words_stay_as_they_are(plain: str) -> None:
    assert inert(plain) == plain


@pytest.mark.parametrize(("value", "cell"), [(None, ""), (True, "true"), (False, "false"), (-3, "-3"), (-0.5, "-0.5")])
def test_values_are_written_plainly(value: object, cell: str) -> None:
    assert inert(value) == cell


@pytest.mark.promise("26")
@given(st.text())
def test_no_cell_begins_with_something_active_unless_it_is_a_number(text: str) -> None:
    cell = inert(text)
    if cell.startswith(("=", "+", "-", "@", "\t", "\r")):
        float(cell)
    assert cell in (text, "'" + text)


@pytest.fixture
def things(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of the report that there is not."""
    named = {name: Meaning("", f"the {name}") for name in ("name", "count", "ok")}
    monkeypatch.setattr(schema_document, "COLUMNS", schema_document.COLUMNS | named)
    monkeypatch.setattr(schema_document, "ROWS", schema_document.ROWS | {"things": "One thing."})


def test_both_files_hold_every_row(tmp_path: Path, things: None) -> None:
    table = pa.table({"name": ["=1+1", 'say "hi",\nthere', None], "count": [1, -2, None], "ok": [True, None, False]})
    write_table(table, tmp_path, "things")
    with (tmp_path / "things.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows == [["name", "count", "ok"], ["'=1+1", "1", "true"], ['say "hi",\nthere', "-2", ""], ["", "", "false"]]
    assert pq.read_table(tmp_path / "things.parquet").equals(table)


@given(st.lists(st.none() | st.text().filter(lambda text: text == inert(text))))
def test_what_is_nothing_and_what_is_empty_are_two_things(texts: list[str | None]) -> None:
    """Read back by a reader that tells them apart."""
    with tempfile.TemporaryDirectory() as folder:
        write_table(pa.table({"name": pa.array(texts, pa.string())}), Path(folder), "runs", {"csv"})
        options = pa_csv.ConvertOptions(
            column_types={"name": pa.string()},
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            null_values=[""],
        )
        parsing = pa_csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False)
        found = pa_csv.read_csv(Path(folder) / "runs.csv", parse_options=parsing, convert_options=options)
    assert found["name"].to_pylist() == texts


def test_each_moment_has_a_time_of_day_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    table = pa.table({"time_ns": [0, 80_041_000_999, None], "pause_ns": [1, 2, 3]})
    found = dated(table, "markers", "2026-11-22T10:45:46.616Z")
    assert found.column_names == ["time_ns", "time_at", "pause_ns"]
    assert [None if at is None else f"{at:%H:%M:%S.%f}" for at in found["time_at"].to_pylist()] == [
        "10:45:46.616000", "10:47:06.657000", None,
    ]  # fmt: skip
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        assert dated(table, "markers", "2026-11-22T10:45:46.616").equals(found)
    finally:
        monkeypatch.undo()
        time.tzset()
    for unknown in (None, "", "soon", "9999-12-31T23:59:59-02:00"):
        assert dated(table, "markers", unknown)["time_at"].to_pylist() == [None] * 3
    heat = pa.table({"start_ns": [0], "from_ns": [0]})
    assert dated(heat, "latency_heat", "2026-11-22").column_names == ["start_ns", "start_at", "from_ns"]


OTHERS = {"findings": find._SCHEMA.names, "assertions": ["assertion", "holds", "found"]}
EVERY = OTHERS | {table.name: [name for name, _ in columns(table.schema)] for table in TABLES}


def test_every_column_of_every_table_is_described_and_no_other() -> None:
    assert set(schema_document.ROWS) == set(EVERY)
    for table, names in EVERY.items():
        for name in names:
            unit, words = schema_document.meaning(table, name)
            assert words, (table, name)
            assert name.endswith("_ns") <= unit.startswith("ns"), (table, name)
    known = {name for names in EVERY.values() for name in names}
    assert set(schema_document.COLUMNS) <= known
    assert {at for at in schema_document.ELSEWHERE if at[1] not in EVERY[at[0]]} == set()


def test_the_document_and_the_fields_say_what_a_column_is(tmp_path: Path) -> None:
    table = dated(pa.table({"group": ["g"], "pause_ns": [5], "from_ns": [0]}), "unserved", "2026-11-22T10:00:00Z")
    told = schema_document.document({"unserved": table})
    assert "## unserved" in told and "| pause_ns | int64 | ns | how long nobody read it |" in told
    assert "| from_at | timestamp[us, tz=UTC] | time of day, UTC | when its owner could last read, on the clock" in told
    write_table(table, tmp_path, "unserved")
    field = pq.read_schema(tmp_path / "unserved.parquet").field("pause_ns")
    assert field.metadata[b"unit"] == b"ns" and field.metadata[b"meaning"] == b"how long nobody read it"


TEN_MS = 1_795_341_600_000


def test_other_programs_read_them(tmp_path: Path) -> None:
    plain = pa.table(
        {"time_ns": [0, 1_500_000_000], "group": ["g", ""], "cause": [None, "=x"], "messages_per_s": [0.5, None]}
    )
    write_table(dated(plain, "markers", "2026-11-22T10:00:00Z"), tmp_path, "markers")
    where = f"'{tmp_path}/markers"
    for source in (f"read_csv({where}.csv')", f"{where}.parquet'"):
        asked = f"SELECT time_ns, epoch_ms(time_at), messages_per_s FROM {source} ORDER BY 1"
        assert duckdb.execute(asked).fetchall() == [(0, TEN_MS, 0.5), (1_500_000_000, TEN_MS + 1_500, None)]
    frame = pl.read_csv(tmp_path / "markers.csv", try_parse_dates=True)
    assert frame["cause"].to_list() == [None, "'=x"] and frame["time_at"].dtype == pl.Datetime


def test_findings_for_other_programs_have_nothing_that_only_browsers_need() -> None:
    """A spreadsheet that reads UTF-8 as something else shows more than a space for a space that breaks no line."""
    told = Finding(INFO, "It took 3\u00a0s", "Most of \u2068shop\u2069.", "latency")
    (row,) = find.findings_table([told]).to_pylist()
    assert (row["headline"], row["detail"]) == ("It took 3 s", "Most of shop.")
