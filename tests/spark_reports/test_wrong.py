"""Sessions made wrong on purpose: the report says what is wrong, where and when."""

from __future__ import annotations

import io
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from broker_core.recording import schema
from spark_reports.findings.find import find
from spark_reports.page.page import render
from spark_reports.pipeline.collect import make_tables
from spark_reports.pipeline.session_data import read_session_data
from spark_reports.pipeline.tables import TABLES
from spark_reports.sessions.session import inspect
from spark_reports.spark.progress import Progress
from spark_reports.tables.schema import arrow
from spark_reports.tables.schema import rows as rows_of
from tests.spark_reports.conftest import record

pytestmark = pytest.mark.spark

SAMPLES = Path(__file__).parents[1] / "broker_core" / "recording" / "samples"


class Silent(Progress):
    """Progress that nobody watches."""

    def __init__(self) -> None:
        super().__init__(io.StringIO(), lambda: None)


def _change(session: Path, how: object) -> None:
    """Write the messages of `session` anew, as `how` makes them of what they are."""
    path = session / "messages" / "part-00000.parquet"
    table = how(pq.read_table(path))  # type: ignore[operator]
    with schema.parquet_writer(path) as writer:
        writer.write_table(table.cast(schema.EVENT_SCHEMA))


def _of(table: pa.Table, kind: str, group: str = "billing", partition: int = 2) -> pa.Table:
    chosen = pc.and_(pc.equal(table["kind"], kind), pc.equal(table["group"], group))
    return table.filter(pc.and_(chosen, pc.equal(table["partition"], partition)))


def test_a_lost_message_a_duplicate_and_a_gap_are_named_one_by_one(spark: SparkSession, tmp_path: Path) -> None:
    session = tmp_path / "session"
    record(session, seconds=6)
    lost: dict[str, int] = {}
    twice: dict[str, int] = {}

    def spoil(table: pa.Table) -> pa.Table:
        some = _of(table, "delivered").to_pylist()
        gone, again = some[len(some) // 2], some[3]
        lost.update(offset=gone["offset"], count=gone["count"])
        twice.update(offset=again["offset"], count=again["count"], time_ns=again["time_ns"])
        about = pc.and_(pc.equal(table["offset"], gone["offset"]), pc.equal(table["group"], "billing"))
        left = table.filter(pc.invert(pc.fill_null(pc.and_(about, pc.equal(table["partition"], 2)), False)))
        double = pa.Table.from_pylist([again | {"client": "worker-3"}], table.schema)
        return pa.concat_tables([left, double]).sort_by("seq")

    _change(session, spoil)
    info = inspect(str(session))
    made = make_tables(spark, info, Silent())
    assert set(made.tables) == {table.name for table in TABLES}
    for table in TABLES:
        # Every table has the columns that it says, in this order.
        expected = arrow(rows_of(table.schema, []), table.schema).schema
        assert made.tables[table.name].schema.names == expected.names, table.name
        assert made.tables[table.name].schema.types == expected.types, table.name
    rows = {name: table.to_pylist() for name, table in made.tables.items()}
    assert [row["holds"] for row in rows["verdicts"]] == [None] * 5, "nothing is judged by the rest"
    assert all(row["ok"] for row in rows["audit"])
    # Two events are gone, the delivery and the acknowledgement, and one is there twice.
    assert sum(row["missing"] for row in rows["recording"]) == 2
    assert sum(row["doubled"] for row in rows["recording"]) == 1
    assert all(0 <= row["from_ns"] <= row["to_ns"] <= made.scale.to_ns for row in rows["recording"])
    findings = find(rows, made.scale)
    said = [(one.level, one.headline) for one in findings]
    assert ("bad", "2 events are missing from the recording") in said
    assert ("bad", "1 event is recorded twice") in said
    page = render(info, made, rows, findings)
    assert "Not known" in page and "This recording does not add up" in page


def test_the_sample_of_the_format_has_its_report(spark: SparkSession) -> None:
    info = inspect(str(SAMPLES / "version-2"))
    assert info.problems == ()
    data = read_session_data(spark, info)
    tables = {table.name: table for table in TABLES}
    found = tables["reconciliation"].build(data)
    assert found.height > 10 and found["equal"].all()
    assert tables["audit"].build(data)["ok"].all()
    assert tables["recording"].build(data).height == 0
