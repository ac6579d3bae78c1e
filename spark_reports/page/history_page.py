"""The page of a history: what became better or worse from run to run, and which run was out of line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from resources.measures import MEASURES
from spark_reports.findings.finding import Finding, Row, Rows
from spark_reports.page.document import ALL_FILES, document
from spark_reports.page.measures import change, shown
from spark_reports.page.moments import Moments
from spark_reports.parts import EVERY, IN_HISTORY, titles
from spark_reports.sessions import Found

DRAWN = ("delivered_per_s", "p50_ns", "p99_ns", "dead_lettered", "turned_away", "rebalancing_ns", "blocked_ns", "moved")
_COLUMNS = {
    "published": "Published",
    "delivered_per_s": "Delivered/s",
    "p50_ns": "p50",
    "p99_ns": "p99",
    "dead_lettered": "Died",
    "turned_away": "Turned away",
    "rebalances": "Rebalances",
}


def in_order(trends: Rows) -> list[Row]:
    """The trends of each scenario in the order in which figures are told everywhere."""
    places = {name: place for place, name in enumerate(MEASURES)}
    known = [row for row in trends if row["measure"] in places]
    return sorted(known, key=lambda row: (row["scenario"], places[row["measure"]]))


def render_history(
    found: Found,
    tables: Mapping[str, Rows],
    findings: Sequence[Finding],
    files: Sequence[str] = ALL_FILES,
    parts: frozenset[str] = EVERY,
) -> str:
    """The page as one HTML text; the figures of `parts` are in the tables."""
    runs = tables["runs"]
    columns = [name for name in _COLUMNS if name in runs[0]]
    return document(
        "history.html.j2",
        "history.js",
        history_data(runs),
        found=found,
        runs=runs,
        trends=in_order(tables["trends"]),
        scenarios=sorted({row["scenario"] for row in runs}),
        measures=MEASURES,
        drawn=[name for name in DRAWN if any(row.get(name) for row in runs)],
        columns=columns,
        heads=[(_COLUMNS[name], 1) for name in columns],
        sections=[("trends", "Trends"), ("runs", "Runs")],
        told_parts=[] if parts >= IN_HISTORY else titles(parts & IN_HISTORY),
        findings=findings,
        shown=shown,
        change=change,
        places=[Moments(info.location).at for info in found.infos],
        file_names=["findings", "runs", "trends"],
        files=files,
    )


def history_data(runs: Rows) -> dict[str, Any]:
    """What is drawn: a plot a figure, one line a scenario, a point a run."""
    scenarios: dict[str, list[Any]] = {}
    for row in runs:
        scenarios.setdefault(row["scenario"], []).append(row)
    return {
        "from_s": 0,
        "to_s": 1,
        "width_s": 1,
        "buckets": 1,
        "rebalances": [],
        "markers": [],
        "names": [row["name"] for row in runs],
        "trends": {
            name: {
                "unit": MEASURES[name].unit,
                "label": MEASURES[name].label,
                "lines": [
                    {"name": scenario or "unnamed", "points": [[row["session"], row[name]] for row in mine]}
                    for scenario, mine in list(scenarios.items())[:10]
                ],
            }
            for name in DRAWN
            if any(row.get(name) for row in runs)
        },
    }
