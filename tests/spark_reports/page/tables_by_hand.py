"""All tables of a report without Spark: empty, but for the rows that a test is about."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from spark_reports.findings.find import find
from spark_reports.pipeline.collect import Made
from spark_reports.pipeline.tables import TABLES
from spark_reports.request.parts import made_for
from spark_reports.scale import Scale

S = 1_000_000_000
SCALE = Scale(0, 60 * S, S)
_ARROW = {"BIGINT": pa.int64(), "INT": pa.int32(), "STRING": pa.string(), "DOUBLE": pa.float64(), "BOOLEAN": pa.bool_()}
TOTALS = (
    "published", "delivered", "acknowledged", "dead_lettered", "redriven", "rejected", "dropped", "expired", "evicted",
    "purged", "redelivered", "fetched_again", "rebalances", "events",
)  # fmt: skip


def _schema(ddl: str) -> pa.Schema:
    columns = (part.split() for part in ddl.replace("`", "").split(", "))
    return pa.schema([(name, _ARROW[kind]) for name, kind in columns])


def made(**rows: list[dict[str, Any]]) -> Made:
    """All tables, empty but for `rows`; totals are there as they always are."""
    rows.setdefault("totals", [{"name": name, "recorded": 0} for name in TOTALS])
    tables = {table.name: pa.Table.from_pylist(rows.get(table.name, []), _schema(table.schema)) for table in TABLES}
    assert set(rows) <= set(tables)
    return Made(tables, SCALE)


def only(whole: Made, parts: frozenset[str]) -> Made:
    """What would have been made had only these parts of the report been asked for."""
    names = made_for(parts)
    tables = {name: table for name, table in whole.tables.items() if name in names}
    return Made(tables, whole.scale, whole.whole, parts)


def rows_of(one: Made) -> dict[str, list[dict[str, Any]]]:
    return {name: table.to_pylist() for name, table in one.tables.items()}


def findings(**rows: list[dict[str, Any]]) -> list[Any]:
    return find(rows_of(made(**rows)), SCALE)


def equal(name: str = "published", summary: int = 5, recorded: int = 5) -> dict[str, Any]:
    return {
        "name": name, "summary": summary, "recorded": recorded, "difference": recorded - summary,
        "equal": recorded == summary,
    }  # fmt: skip
