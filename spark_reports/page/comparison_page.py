"""The page of a comparison: sessions side by side, with the size of every difference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from spark_reports.collect import Made
from spark_reports.page import text
from spark_reports.page.document import ALL_FILES, document
from spark_reports.page.finding import BAD, GOOD, INFO, ORDER, WARN, Finding, Row, Rows
from spark_reports.page.measures import MEASURES, change, shown
from spark_reports.page.moments import Moments
from spark_reports.parts import EVERY, titles
from spark_reports.questions.comparison import AS_LONG
from spark_reports.sessions import Found

#: What is worth a sentence of its own, most telling first.
_TOLD = (
    "p99_ns", "p50_ns", "rebalancing_ns", "moved", "dead_lettered", "turned_away", "redelivered", "blocked_ns",
    "delivered_per_s",
)  # fmt: skip
WORTH_TELLING = 0.1
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


def comparison_findings(runs: Rows, compared: Rows, made: Sequence[Made], labels: Sequence[str]) -> list[Finding]:
    """The sentences of the comparison, worst first."""
    found = [*_wrong(made, labels), *_unlike(runs), *_differences(compared), *_groups(made, labels)]
    return sorted(found, key=lambda finding: ORDER.index(finding.level))


def _wrong(made: Sequence[Made], labels: Sequence[str]) -> Iterator[Finding]:
    """A session that is not whole or broke a rule is no fair comparison; told as far as somebody looked."""
    for one, label in zip(made, labels, strict=True):
        broken = [row["check"] for row in _rows(one, "audit") if not row["ok"]]
        unequal = [row["name"] for row in _rows(one, "reconciliation") if not row["equal"]]
        missing = sum(row["missing"] for row in _rows(one, "recording"))
        parts = [f"messages were {check.split(':')[0]}" for check in broken]
        parts += [f"{text.plural(len(unequal), 'total differs', 'totals differ')} from the broker's"] if unequal else []
        parts += [f"{text.plural(missing, 'event is', 'events are')} missing from the recording"] if missing else []
        if parts:
            yield Finding(BAD, f"{label} is not sound", f"{text.listed(parts, 4)}.".capitalize(), "sessions")


def _rows(made: Made, name: str) -> list[Row]:
    """The rows of a table; none where it belongs to no part that was asked for."""
    return made.tables[name].to_pylist() if name in made.tables else []


def _unlike(runs: Rows) -> Iterator[Finding]:
    scenarios = sorted({row["scenario"] for row in runs})
    if len(scenarios) > 1:
        yield Finding(
            WARN, "These are different scenarios", f"{text.listed(scenarios)}: differences need not mean anything.",
            "sessions",
        )  # fmt: skip
    seconds = [row["length_ns"] for row in runs if row["length_ns"]]
    if seconds and max(seconds) > min(seconds) * (1 + AS_LONG):
        yield Finding(
            INFO, "They lasted differently long", f"From {text.duration(min(seconds))} to "
            f"{text.duration(max(seconds))}: rates and percentiles can be compared, sums cannot, and "
            "are not judged.", "sessions",
        )  # fmt: skip


def _differences(compared: Rows) -> Iterator[Finding]:
    names = {row["session"]: row["name"] for row in compared}
    same = any(row["measure"] in _TOLD for row in compared)
    for measure in _TOLD:
        rows = [row for row in compared if row["measure"] == measure and row["session"] > 0]
        worth = [row for row in rows if _is_worth(row)]
        for row in worth:
            same = False
            better = row["verdict"] == "better"
            first, label = names[0], MEASURES[measure].label
            yield Finding(
                GOOD if better else WARN,
                f"{label}: {shown(measure, row['value'])} in {row['name']}, {shown(measure, row['base'])} in {first}",
                f"That is {'better' if better else 'worse'}: {change(row['change'], row['difference'])}.",
                "figures",
            )
    if same and len(names) > 1:
        yield Finding(GOOD, "No figure differs by more than a tenth", "The sessions did the same.", "figures")


def _is_worth(row: Row) -> bool:
    if row["verdict"] not in ("better", "worse"):
        return False
    return row["change"] is None or abs(row["change"]) >= WORTH_TELLING


def _groups(made: Sequence[Made], labels: Sequence[str]) -> Iterator[Finding]:
    """Which group did best at rebalancing, over all sessions: that is what assignors are compared for."""
    rows = [
        (row["unserved_ns"], row["changed"], row["group"], label)
        for one, label in zip(made, labels, strict=True)
        for row in _rows(one, "groups")
        if row["rebalances"] > 1
    ]
    if len(rows) < 2:
        return
    best, worst = min(rows), max(rows)
    if worst[0] > best[0] * (1 + WORTH_TELLING):
        several = len(set(labels)) > 1

        def place(row: tuple[int, int, str, str]) -> str:
            return f"{row[2]} in {row[3]}" if several else row[2]

        yield Finding(
            INFO,
            f"{place(worst)} left partitions without a reader for {text.duration(worst[0])} in all",
            f"{place(best)} only for {text.duration(best[0])}; {text.plural(worst[1], 'partition')} changed owner "
            f"there, {best[1]} here.",
            "groups",
        )


def render_comparison(
    found: Found,
    labels: Sequence[str],
    tables: Mapping[str, Any],
    made: Sequence[Made],
    findings: Sequence[Finding],
    files: Sequence[str] = ALL_FILES,
) -> str:
    """The page as one HTML text."""
    compared = tables["comparison"].to_pylist()
    by_measure: dict[str, list[Row]] = {}
    for row in compared:
        by_measure.setdefault(row["measure"], []).append(row)
    groups = [
        {"session": label, **row} for one, label in zip(made, labels, strict=True) for row in _rows(one, "groups")
    ]
    parts = made[0].parts
    sections = [(name, title) for name, title, of in _SECTIONS if not of or parts & of]
    return document(
        "comparison.html.j2",
        "comparison.js",
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
        groups=sorted(groups, key=lambda row: (row["group"], row["session"])),
        places=[Moments(info.location).at for info in found.infos],
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
    """What is drawn: one line a session, in the seconds of its own session time."""
    sessions = []
    for one, label in zip(made, labels, strict=True):
        scale = one.scale

        def summed(name: str, value: str, where: tuple[str, str] | None = None, *, made: Made = one) -> Any:
            totals: dict[int, float] = {}
            for row in _rows(made, name):
                if where is None or row[where[0]] == where[1]:
                    totals[row["start_ns"]] = totals.get(row["start_ns"], 0) + (row[value] or 0)
            middle = made.scale.width_ns / 2
            return [[round((at + middle) / 1e9, 4), round(totals[at], 3)] for at in sorted(totals)]

        middle_ns = scale.width_ns / 2
        late = [row for row in _rows(one, "latency_over_time") if row["measure"] == "delivered"]
        curve = [row for row in _rows(one, "latency_curve") if row["measure"] == "delivered"]
        total = sum(row["messages"] for row in curve) or 1
        sessions.append(
            {
                "name": label,
                "published": summed("throughput", "messages_per_s", ("dimension", "topic")),
                "delivered": summed("throughput", "messages_per_s", ("dimension", "consumer")),
                "lag": summed("lag", "lag"),
                "waiting": summed("queues", "waiting"),
                **{
                    name: [[round((row["start_ns"] + middle_ns) / 1e9, 4), row[f"{name}_ns"] / 1e6] for row in late]
                    for name in ("p50", "p99")
                },
                "curve": [
                    [round(1 / max(1 - row["share"], 0.5 / total), 4), row["duration_ns"] / 1e6] for row in curve
                ],
            }
        )
    scales = [one.scale for one in made]
    return {
        "from_s": min(scale.from_ns for scale in scales) / 1e9,
        "to_s": max(scale.to_ns for scale in scales) / 1e9,
        "width_s": max(scale.width_ns for scale in scales) / 1e9,
        "buckets": max(scale.buckets for scale in scales),
        "backlog": next((key for key, (part, _words) in _BACKLOG.items() if part in made[0].parts), ""),
        "sessions": sessions,
        "rebalances": [],
        "markers": [],
    }
