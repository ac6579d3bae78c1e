from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from broker_core.recording.metadata import CLUSTER
from spark_reports.findings.finding import Finding
from spark_reports.findings.scenario import ScenarioSettings
from spark_reports.findings.verdict import verdict
from spark_reports.page.charts import chart_data
from spark_reports.page.document import ALL_FORMATS, document, moment
from spark_reports.page.figures import first_figures, key_figures
from spark_reports.passes.kinds import MEASURES
from spark_reports.pipeline.collect import Made
from spark_reports.request.assertions import AssertionVerdict
from spark_reports.request.parts import EVERY, PARTS, in_order, titles
from spark_reports.rows import Rows, Tables
from spark_reports.sessions.session import SessionInfo

MOST_OPEN = 3  # findings that the page begins with, with what to do about them
OVER_TIME = ("throughput", "latency", "lag", "queues", "backpressure")


def render(
    info: SessionInfo,
    made: Made,
    tables: Tables,
    findings: Sequence[Finding],
    formats: Sequence[str] = ALL_FORMATS,
    verdicts: Sequence[AssertionVerdict] = (),
) -> str:
    """The page as one HTML text. `tables` are the rows of `made`, `formats` what they are written as beside it."""
    scale = made.scale
    tables = {name: rows for name, rows in tables.items() if name in made.shown()}
    cluster = _cluster(info)
    parts = [name for name in in_order(made.parts) if name != "cluster" or cluster or tables.get(name)]
    over_time = [name for name in parts if name in OVER_TIME]
    data = chart_data(tables, scale)
    return document(
        data,
        most_open=MOST_OPEN,
        overview=not scale.is_moment and any(data["overview"].values()),
        info=info,
        tables={**tables, "latency_all": _latencies(tables) if "latency" in parts else []},
        parts=parts,
        headings={name: part.heading for name, part in PARTS.items()},
        sections=[
            *((name, PARTS[name].title) for name in parts),
            *([("scenario", "Scenario")] if info.scenario else []),
        ],
        told_parts=[] if made.parts == EVERY else titles(parts),
        cluster=cluster,
        over_time=over_time,
        # The first plot over time tells what its bands are.
        banded=over_time[0] if over_time and "rebalances" in parts else "",
        scale=scale,
        whole=made.whole,
        duration_ns=0 if scale.is_moment else scale.duration_ns,
        findings=findings,
        verdicts=verdicts,
        settings=ScenarioSettings(info.scenario),
        at=partial(moment, info.location),
        verdict=verdict(findings, verdicts, info.problems, made.parts),
        figures=first_figures(key_figures(tables, scale)),
        wrong=[row for row in tables.get("reconciliation", ()) if not row["equal"]],
        file_names=sorted([*made.written(), "findings", *(["assertions"] if verdicts else [])]),
        formats=formats,
    )


def _cluster(info: SessionInfo) -> dict[str, Any]:
    """A cluster as the recorder has noted it from the events: see `ClusterTally.summary`; {} for none."""
    noted = info.metadata.extra.get(CLUSTER)
    return noted if isinstance(noted, dict) and isinstance(noted.get("nodes"), dict) else {}


def _latencies(tables: Tables) -> Rows:
    rows = [*tables["latency"], *tables["latency_by_group"]]
    return sorted(rows, key=lambda row: MEASURES.index(row["measure"]))
