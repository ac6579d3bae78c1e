from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from statistics import median
from typing import Any

from resources.measures import MEASURES
from spark_reports.findings.finding import Finding
from spark_reports.page.document import ALL_FILES, document, moment
from spark_reports.request.parts import EVERY, IN_HISTORY, titles
from spark_reports.request.request import HISTORY
from spark_reports.rows import Row, Rows, Tables
from spark_reports.sessions.discovery import Found
from spark_reports.text import change, shown

DRAWN = ("delivered_per_s", "p50_ns", "p99_ns", "dead_lettered", "turned_away", "rebalancing_ns", "blocked_ns", "moved")
MOST_POINTS = 120
MOST_DRAWN = 10  # scenarios
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
    places = {name: place for place, name in enumerate(MEASURES)}
    known = [row for row in trends if row["measure"] in places]
    return sorted(known, key=lambda row: (row["scenario"], places[row["measure"]]))


def render_history(
    found: Found,
    tables: Tables,
    findings: Sequence[Finding],
    files: Sequence[str] = ALL_FILES,
    parts: frozenset[str] = EVERY,
) -> str:
    """The page as one HTML text; the figures of `parts` are in the tables."""
    runs = tables["runs"]
    columns = [name for name in _COLUMNS if name in runs[0]]
    return document(
        HISTORY,
        history_data(runs),
        found=found,
        runs=runs,
        trends=in_order(tables["trends"]),
        scenarios=sorted({row["scenario"] for row in runs}),
        measures=MEASURES,
        drawn=[name for name in DRAWN if any(row.get(name) for row in runs)],
        most_drawn=MOST_DRAWN,
        runs_a_point=runs_a_point(len(runs)),
        columns=columns,
        heads=[(_COLUMNS[name], 1) for name in columns],
        sections=[("trends", "Trends"), ("runs", "Runs")],
        told_parts=[] if parts >= IN_HISTORY else titles(parts & IN_HISTORY),
        findings=findings,
        shown=shown,
        change=change,
        places=[partial(moment, info.location) for info in found.infos],
        file_names=["findings", "runs", "trends"],
        files=files,
    )


def runs_a_point(runs: int) -> int:
    """How many runs, one after the other, are one point: a plot is too narrow for more than `MOST_POINTS`."""
    return max(1, -(-runs // MOST_POINTS))


def history_data(runs: Rows) -> dict[str, Any]:
    """Plots are figures, lines scenarios. A point is a run, [number, value], or more, [number, median, least, most]."""
    together = runs_a_point(len(runs))
    scenarios: dict[str, dict[int, list[Row]]] = {}
    for place, row in enumerate(runs):
        scenarios.setdefault(row["scenario"], {}).setdefault(place // together, []).append(row)
    names = [row["name"] for row in runs]
    named = [names[at : at + together] for at in range(0, len(names), together)]
    return {
        "from_s": 0,
        "to_s": 1,
        "width_s": 1,
        "buckets": 1,
        "rebalances": [],
        "markers": [],
        "names": [some[0] if len(some) == 1 else f"{some[0]} to {some[-1]}" for some in named],
        "runs_a_point": together,
        "trends": {
            name: {
                "unit": MEASURES[name].unit,
                "label": MEASURES[name].label,
                "lines": [
                    {
                        "name": scenario or "unnamed",
                        "points": [
                            _point(place, [row[name] for row in some], together) for place, some in mine.items()
                        ],
                    }
                    for scenario, mine in list(scenarios.items())[:MOST_DRAWN]
                ],
            }
            for name in DRAWN
            if any(row.get(name) for row in runs)
        },
    }


def _point(place: int, values: Sequence[float | None], together: int) -> list[float | None]:
    known = [value for value in values if value is not None]
    if together == 1:
        return [place, known[0] if known else None]
    return [place, *((median(known), min(known), max(known)) if known else (None, None, None))]
