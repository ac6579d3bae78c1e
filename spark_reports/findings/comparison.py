"""Findings of a comparison: what differs between sessions, better or worse."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from resources.measures import AS_LONG, MEASURES
from spark_reports.collect import Made
from spark_reports.findings.finding import BAD, GOOD, INFO, ORDER, WARN, Finding, Row, Rows
from spark_reports.findings.settings import Settings
from spark_reports.page import text
from spark_reports.page.measures import change, shown

#: What is worth a sentence of its own, most telling first.
_TOLD = (
    "p99_ns", "p50_ns", "rebalancing_ns", "moved", "dead_lettered", "turned_away", "redelivered", "blocked_ns",
    "delivered_per_s",
)  # fmt: skip
WORTH_TELLING = 0.1
CHANCE = 2.0  # times what chance does to a count, or to a mean: below it nobody can tell
_PERCENTILES = {"p50_ns": "p50_ns", "p99_ns": "p99_ns"}
_DONE = ("fault", "user_action")
_SHOWN = 4


def comparison_findings(
    runs: Rows,
    compared: Rows,
    made: Sequence[Made],
    labels: Sequence[str],
    settings: Sequence[Settings] = (),
) -> list[Finding]:
    """The sentences of the comparison, worst first. `settings` are those of each session, where they are known."""
    done = {number: _done_differently(number, made, settings) for number in range(1, len(made))}
    found = [
        *_wrong(made, labels),
        *_unlike(runs),
        *(_did(labels[number], labels[0], told) for number, told in done.items() if told),
        *_differences(runs, compared, made, done),
        *_groups(made, labels),
    ]
    return sorted(found, key=lambda finding: ORDER.index(finding.level))


def _done_differently(number: int, made: Sequence[Made], settings: Sequence[Settings]) -> list[str]:
    """What was set or done otherwise in this session than in the first."""
    told = []
    if settings:
        first, this = settings[0].flat(), settings[number].flat()
        told = [
            f"{name} is {this.get(name, 'not set')} instead of {first.get(name, 'not set')}"
            for name in [*first, *(name for name in this if name not in first)]
            if first.get(name) != this.get(name)
        ]
    base, here = (_actions(one) for one in (made[0], made[number]))
    told += [f"{what} at {text.clock(at)}" for what, at in here.items() if what not in base]
    return told + [f"no {what}" for what in base if what not in here]


def _actions(one: Made) -> Mapping[str, int]:
    """Faults and actions in words, with the first time of each."""
    found: dict[str, int] = {}
    for row in rows_of(one, "markers"):
        if row["kind"] in _DONE:
            who = row["client"] if row["client"] and row["client"] not in row["cause"] else ""
            found.setdefault(f"{row['cause'] or row['kind']}{f' ({who})' if who else ''}", row["time_ns"])
    return found


def _did(label: str, first: str, told: Sequence[str]) -> Finding:
    return Finding(INFO, f"What was otherwise in {label} than in {first}", f"{text.listed(told, _SHOWN)}.", "sessions")


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


def _differences(
    runs: Rows, compared: Rows, made: Sequence[Made], done: Mapping[int, Sequence[str]]
) -> Iterator[Finding]:
    """What differs by more than a tenth and by more than chance."""
    names = {row["session"]: row["name"] for row in compared}
    same = any(row["measure"] in _TOLD for row in compared)
    for measure in _TOLD:
        rows = [row for row in compared if row["measure"] == measure and row["session"] > 0]
        worth = [row for row in rows if _is_worth(row) and _beyond_chance(row, runs, made)]
        for row in worth:
            same = False
            better = row["verdict"] == "better"
            first, label = names[0], MEASURES[measure].label
            yield Finding(
                GOOD if better else WARN,
                f"{label}: {shown(measure, row['value'])} in {row['name']}, {shown(measure, row['base'])} in {first}",
                f"That is {'better' if better else 'worse'}: {change(row['change'], row['difference'])}.",
                "figures",
                why=_because(done.get(row["session"], ())),
            )
    if same and len(names) > 1:
        headline = "No figure differs by more than a tenth and by more than chance"
        yield Finding(GOOD, headline, "What differs below may come of nothing.", "figures")


def _is_worth(row: Row) -> bool:
    if row["verdict"] not in ("better", "worse"):
        return False
    return row["change"] is None or abs(row["change"]) >= WORTH_TELLING


def _beyond_chance(row: Row, runs: Rows, made: Sequence[Made]) -> bool:
    """Whether a difference is more than what counts, and the percentiles of single time buckets, vary by themselves."""
    measure, difference = row["measure"], abs(row["difference"])
    if MEASURES[measure].unit == "count":
        return bool(difference > CHANCE * math.sqrt(row["base"] + row["value"]))
    if measure in _PERCENTILES:
        series = [_over_time(made[number], measure) for number in (0, row["session"])]
        if min(map(len, series)) > 1:
            error = math.sqrt(sum(float(one.var(ddof=1)) / len(one) for one in series))
            return bool(difference > CHANCE * error)
    if measure == "delivered_per_s":
        counts = [one.get("delivered") for one in runs if one["session"] in (0, row["session"])]
        if all(counts):
            error = math.sqrt(sum(1 / count for count in counts if count)) * row["base"]
            return bool(difference > CHANCE * error)
    return True


def _over_time(one: Made, column: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    rows = rows_of(one, "latency_over_time")
    return np.array([row[column] for row in rows if row["measure"] == "delivered"], np.float64)


def _because(done: Sequence[str]) -> str:
    """As far as the data show: where one thing alone was otherwise, it may have been that."""
    if not done:
        return ""
    if len(done) == 1:
        return f"One thing was otherwise: {done[0]}."
    return f"{len(done)} things were otherwise, so it may be any of them."


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
