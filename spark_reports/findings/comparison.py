"""Findings of a comparison: what differs between sessions, better or worse."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from spark_reports.collect import Made
from spark_reports.findings.finding import BAD, GOOD, INFO, ORDER, WARN, Finding, Row, Rows
from spark_reports.page import text
from spark_reports.page.measures import MEASURES, change, shown
from spark_reports.tables.comparison import AS_LONG

#: What is worth a sentence of its own, most telling first.
_TOLD = (
    "p99_ns", "p50_ns", "rebalancing_ns", "moved", "dead_lettered", "turned_away", "redelivered", "blocked_ns",
    "delivered_per_s",
)  # fmt: skip
WORTH_TELLING = 0.1


def comparison_findings(runs: Rows, compared: Rows, made: Sequence[Made], labels: Sequence[str]) -> list[Finding]:
    """The sentences of the comparison, worst first."""
    found = [*_wrong(made, labels), *_unlike(runs), *_differences(compared), *_groups(made, labels)]
    return sorted(found, key=lambda finding: ORDER.index(finding.level))


def _wrong(made: Sequence[Made], labels: Sequence[str]) -> Iterator[Finding]:
    """A session that is not whole or broke a rule is no fair comparison; told as far as somebody looked."""
    for one, label in zip(made, labels, strict=True):
        broken = [row["check"] for row in rows_of(one, "audit") if not row["ok"]]
        unequal = [row["name"] for row in rows_of(one, "reconciliation") if not row["equal"]]
        missing = sum(row["missing"] for row in rows_of(one, "recording"))
        parts = [f"messages were {check.split(':')[0]}" for check in broken]
        parts += [f"{text.plural(len(unequal), 'total differs', 'totals differ')} from the broker's"] if unequal else []
        parts += [f"{text.plural(missing, 'event is', 'events are')} missing from the recording"] if missing else []
        if parts:
            yield Finding(BAD, f"{label} is not sound", f"{text.listed(parts, 4)}.".capitalize(), "sessions")


def rows_of(made: Made, name: str) -> list[Row]:
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
        for row in rows_of(one, "groups")
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
