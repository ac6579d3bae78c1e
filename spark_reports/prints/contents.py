"""What is printed of each kind of report: the findings, the plots that the page has, and its shorter tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from spark_reports.collect import Made
from spark_reports.page.charts import chart_data
from spark_reports.page.figures import key_figures
from spark_reports.page.finding import Finding
from spark_reports.prints.paper import Paper, PrintedTable, printed
from spark_reports.prints.plots import Plot, plots
from spark_reports.session import SessionInfo

Rows = Sequence[Mapping[str, Any]]

# The tables that a reader of paper looks for; all of them are in the CSV and Parquet files.
_TABLES = (
    ("totals", "Totals", ("name", "recorded", "broker", "equal")),
    ("reconciliation", "Reconciliation", ()),
    ("audit", "Delivery audit", ()),
    ("latency", "Latency", ()),
    ("rebalances", "Rebalances", ("started_ns", "group", "cause", "generation_after", "moved", "kept", "pause_ns")),
    ("consumers", "Consumers", ()),
    ("dead_letters", "Dead letters by cause", ("group", "cause", "dead_lettered", "redriven")),
    ("keys", "Hot keys", ()),
    ("refusals", "Refused by schemas", ()),
)


def session_paper(info: SessionInfo, made: Made, tables: Mapping[str, Rows], findings: Sequence[Finding]) -> Paper:
    """The report of one session."""
    rows = {name: list(found) for name, found in tables.items()}
    figures = [(figure.label, figure.value) for figure in key_figures(rows, made.scale)]
    return Paper(
        str(info.metadata.get("scenario") or info.location),
        _about(info),
        figures,
        findings,
        [_table(name, title, columns, rows[name]) for name, title, columns in _TABLES if rows.get(name)],
        _plots([("", made, rows)]),
    )


def comparison_paper(
    labels: Sequence[str], tables: Mapping[str, Any], made: Sequence[Made], findings: Sequence[Finding]
) -> Paper:
    """A comparison: the differences, and the plots of each session."""
    each = [
        (label, one, {name: table.to_pylist() for name, table in one.tables.items()})
        for label, one in zip(labels, made, strict=True)
    ]
    return Paper(
        "Comparison",
        "Side by side: " + "; ".join(labels),
        [],
        findings,
        [printed(title, tables[name].to_pylist()) for name, title in (("comparison", "Differences"), ("runs", "Runs"))],
        _plots(each),
    )


def history_paper(tables: Mapping[str, Rows], findings: Sequence[Finding]) -> Paper:
    """Trends over many sessions."""
    count = len(tables["runs"])
    return Paper(
        "History",
        f"{count:,} recorded sessions, oldest first.",
        [],
        findings,
        [printed("Trends", tables["trends"]), printed("Runs", tables["runs"])],
        [],
    )


def _about(info: SessionInfo) -> str:
    known = info.metadata
    parts = [
        f"seed {known['seed']}" if known.get("seed") is not None else "",
        f"started {known['started_at']}" if known.get("started_at") else "",
        f"recorded in {info.location}",
    ]
    return ", ".join(part for part in parts if part)


def _table(name: str, title: str, columns: Sequence[str], rows: Rows) -> PrintedTable:
    there = [column for column in columns if rows and column in rows[0]]
    return printed(title, rows, there)


def _plots(each: Sequence[tuple[str, Made, Mapping[str, Rows]]]) -> list[tuple[str, Plot]]:
    return [(heading, plot) for heading, made, rows in each for plot in plots(chart_data(rows, made.scale))]
