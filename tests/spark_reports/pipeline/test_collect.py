"""Tables that cannot be made: what they cost the report, and that it is told. No Spark needed."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from spark_reports.pipeline import collect
from spark_reports.pipeline.tables import TABLES, Table
from spark_reports.tables.schema import rows
from tests.spark_reports.page.tables_by_hand import SCALE
from tests.spark_reports.page.test_page import info
from tests.spark_reports.test_wrong import Silent


def _made(monkeypatch: pytest.MonkeyPatch, broken: str, parts: set[str]) -> collect.Made:
    """Empty tables, but for one that cannot be made."""

    def build(table: Table, _data: object) -> pl.DataFrame:
        if table.name == broken:
            raise ValueError("no such column")
        return rows(table.schema, [])

    tables = [table._replace(build=partial(build, table)) for table in TABLES]
    steps = dict.fromkeys(step.name for wave in collect.PASSES for step in wave)
    data = SimpleNamespace(scale=SCALE, notes=[], **steps)
    monkeypatch.setattr(collect, "TABLES", tables)
    monkeypatch.setattr(collect, "read_session_data", lambda *_: data)
    spark: Any = SimpleNamespace(sparkContext=SimpleNamespace(setJobGroup=lambda *_: None))
    return collect.make_tables(spark, info(), Silent(), parts=frozenset(parts))


@pytest.mark.parametrize(
    ("broken", "parts", "left", "told"),
    [
        ("lag", {"lag", "totals"}, {"totals"}, ("The part Lag is left out: its table lag",)),
        ("consumers", {"lag"}, {"lag"}, ("Findings may be missing: the table consumers",)),
        ("dead_letters", {"lag"}, {"lag"}, ()),
    ],
)
def test_a_table_that_cannot_be_made_is_told_even_where_only_findings_need_it(
    broken: str, parts: set[str], left: set[str], told: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = _made(monkeypatch, broken, parts)
    assert found.parts == left
    assert found.failed == tuple(f"{sentence} could not be made (no such column)." for sentence in told)
