from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from resources.measures import MEASURES
from spark_reports import text
from spark_reports.output.schema_document import COLUMNS, MOMENT
from spark_reports.request.assertions import Verdict
from spark_reports.rows import Row, Rows
from spark_reports.text import change, shown

# These are moments, all other nanoseconds are durations.
_MOMENTS = frozenset(name for name, of in COLUMNS.items() if of.unit == MOMENT)
_SHARES = frozenset({"share", "utilisation", "share_of_partition", "share_of_topic"})
_NAMES = frozenset({"seed", "partition", "offset", "generation_after", "rank"})
_HEADS = {"client": "consumer", "p999_ns": "p99.9", "max_ns": "maximum", "nacked": "refused"}


@dataclass(frozen=True)
class PrintedTable:
    """Rows of text under column names; tables too long for a page are cut, with a note."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


def printed(title: str, rows: Rows, columns: Sequence[str] = ()) -> PrintedTable:
    """A table of dictionaries; `columns` are all if none are named."""
    names = list(columns) or (list(rows[0]) if rows else [])
    return PrintedTable(
        title, [heading(name) for name in names], [[cell(name, row.get(name)) for name in names] for row in rows]
    )


def heading(name: str) -> str:
    """A column's name in words: pause for pause_ns."""
    return _HEADS.get(name, name.removesuffix("_ns").replace("_", " "))


def cell(name: str, value: object) -> str:
    """A value as people read it, by the name of its column."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return _number(name, value)
    return str(value).replace("_", " ") if name in {"name", "measure", "outcome"} else str(value)


def _number(name: str, value: float) -> str:
    if name in _MOMENTS:
        return text.clock(value)
    if name.endswith("_ns"):
        return text.duration(value)
    if name in _SHARES:
        return text.share(value)
    if name in _NAMES:
        return str(value)
    return text.count(value) if isinstance(value, int) else text.rate(value)


def cost_table(rows: Rows) -> PrintedTable:
    told = [[text.label(row["name"]), text.measured(row["value"], row["unit"])] for row in rows]
    return PrintedTable("What it cost", ["", ""], told)


def verdicts_told(verdicts: Sequence[Verdict]) -> PrintedTable:
    rows = [["holds" if one.holds else "fails", one.assertion, one.found] for one in verdicts]
    return PrintedTable("Assertions", ["", "asserted", "found"], rows)


def comparison_table(compared: Rows, labels: Sequence[str]) -> PrintedTable:
    """A figure a row; the first session, then each other one beside its difference from the first."""
    found = {(row["measure"], row["session"]): row for row in compared}
    heads = ["figure", labels[0]]
    for label in labels[1:]:
        heads += [label, "difference"]
    rows = []
    for name, measure in MEASURES.items():
        if (name, 0) not in found:
            continue
        line = [measure.label, shown(name, found[name, 0]["value"])]
        for session in range(1, len(labels)):
            row = found.get((name, session))
            line += ["-", "-"] if row is None else [shown(name, row["value"]), _difference(row)]
        rows.append(line)
    return PrintedTable("Side by side", heads, rows)


def _difference(row: Row) -> str:
    if row["verdict"] == "same":
        return "same"
    told = change(row["change"], row["difference"])
    said = {"better": ", better", "worse": ", worse", "noise": ", may be chance"}
    return told + said.get(row["verdict"], "")


def trends_table(trends: Rows) -> PrintedTable:
    rows = []
    for row in trends:
        name = row["measure"]
        if name in MEASURES:
            values = [shown(name, row[value]) for value in ("first", "median", "last")]
            told = "same" if row["verdict"] == "same" else change(row["change"], row["per_run"])
            odd = "-" if row["odd_name"] is None else f"{row['odd_name']}: {shown(name, row['odd_value'])}"
            rows.append([row["scenario"], MEASURES[name].label, text.count(row["runs"]), *values, told, odd])
    heads = ["scenario", "figure", "runs", "first", "median", "last", "change", "out of line"]
    return PrintedTable("Trends", heads, rows)


def runs_table(runs: Rows) -> PrintedTable:
    columns = (
        "name", "scenario", "seed", "started_at", "duration_ns", "published", "delivered", "p50_ns", "p99_ns",
        "dead_lettered", "turned_away", "rebalances", "ended",
    )  # fmt: skip
    known = [name for name in columns if runs and name in runs[0]]
    short = [{**row, "started_at": str(row["started_at"] or "")[:16].replace("T", " ")} for row in runs]
    return printed("Runs", short, known)
