from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from resources.measures import MEASURES
from spark_reports.findings.finding import Finding
from spark_reports.page.document import ALL_FILES, document, moment
from spark_reports.pipeline.collect import Made
from spark_reports.request.parts import EVERY, titles
from spark_reports.request.request import COMPARE
from spark_reports.rows import Rows, grouped
from spark_reports.sessions.discovery import Found
from spark_reports.text import change, shown

#: Sections with their titles, and the parts of a report of which one must be there; what was compared always is.
_SECTIONS: tuple[tuple[str, str, frozenset[str]], ...] = (
    ("figures", "Figures", frozenset()),
    ("throughput", "Throughput", frozenset({"throughput"})),
    ("latency", "Latency", frozenset({"latency"})),
    ("lag", "Backlog", frozenset({"lag", "queues"})),
    ("groups", "Groups", frozenset({"consumers"})),
    ("sessions", "Sessions", frozenset()),
)
_BACKLOG = {"lag": ("lag", "Lag of groups"), "waiting": ("queues", "Waiting in queues")}


def render_comparison(
    found: Found,
    labels: Sequence[str],
    tables: Mapping[str, Any],
    made: Sequence[Made],
    findings: Sequence[Finding],
    files: Sequence[str] = ALL_FILES,
) -> str:
    compared = tables["comparison"].to_pylist()
    by_measure = {measure: rows for (measure,), rows in grouped(compared, "measure").items()}
    groups = [{"session": label, **row} for one, label in zip(made, labels, strict=True) for row in one.rows("groups")]
    parts = made[0].parts
    sections = [(name, title) for name, title, of in _SECTIONS if not of or parts & of]
    return document(
        COMPARE,
        comparison_data(made, labels),
        sections=sections,
        parts=parts,
        told_parts=[] if parts == EVERY else titles(parts),
        backlog=[(key, words) for key, (part, words) in _BACKLOG.items() if part in parts],
        found=found,
        labels=labels,
        runs=tables["runs"].to_pylist(),
        measures=MEASURES,
        rows=[(name, by_measure[name]) for name in MEASURES if name in by_measure],
        differing=[name for name, rows in by_measure.items() if any(row["verdict"] != "same" for row in rows[1:])],
        groups=sorted(groups, key=lambda row: (row["group"], row["session"])),
        places=[partial(moment, info.location) for info in found.infos],
        made=made,
        findings=findings,
        shown=shown,
        change=change,
        file_names=sorted([*tables, *made[0].written(), "findings"]),
        part=not made[0].whole,
        scale=made[0].scale,
        same_width=len({one.scale.width_ns for one in made}) == 1,
        files=files,
    )


def comparison_data(made: Sequence[Made], labels: Sequence[str]) -> dict[str, Any]:
    scales = [one.scale for one in made]
    return {
        "from_s": min(scale.from_ns for scale in scales) / 1e9,
        "to_s": max(scale.to_ns for scale in scales) / 1e9,
        "width_s": max(scale.width_ns for scale in scales) / 1e9,
        "buckets": max(scale.buckets for scale in scales),
        "backlog": next((key for key, (part, _words) in _BACKLOG.items() if part in made[0].parts), ""),
        "sessions": [{"name": label, **_lines(one)} for one, label in zip(made, labels, strict=True)],
        "rebalances": [],
        "markers": [],
    }


def _lines(one: Made) -> dict[str, list[list[float | None]]]:
    """[second, value] of each bucket, None if it is not known; of `curve` as in `charts`."""
    scale = one.scale

    def over_time(values: Mapping[int, float], nothing: float | None) -> list[list[float | None]]:
        starts = (scale.from_ns + number * scale.width_ns for number in range(scale.buckets))
        return [[round((at + scale.width_ns / 2) / 1e9, 4), values.get(at, nothing)] for at in starts]

    def summed(rows: Rows, value: str, nothing: float | None = None) -> list[list[float | None]]:
        totals: dict[int, float] = {}
        for row in rows:
            totals[row["start_ns"]] = round(totals.get(row["start_ns"], 0) + (row[value] or 0), 3)
        return over_time(totals, nothing) if rows else []

    throughput = grouped(one.rows("throughput"), "dimension")
    late, curve = (
        [row for row in one.rows(name) if row["measure"] == "delivered"]
        for name in ("latency_over_time", "latency_curve")
    )
    rarest = 0.5 / (sum(row["messages"] for row in curve) or 1)
    return {
        "published": summed(throughput.get(("topic",), ()), "messages_per_s", 0),
        "delivered": summed(throughput.get(("consumer",), ()), "messages_per_s", 0),
        "lag": summed(one.rows("lag"), "lag"),
        "waiting": summed(one.rows("queues"), "waiting"),
        **{
            name: over_time({row["start_ns"]: row[f"{name}_ns"] / 1e6 for row in late}, None) if late else []
            for name in ("p50", "p99")
        },
        "curve": [[round(1 / max(1 - row["share"], rarest), 4), row["duration_ns"] / 1e6] for row in curve],
    }
