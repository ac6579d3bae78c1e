from __future__ import annotations

from collections.abc import Iterator

from resources.measures import AS_LONG, MEASURES
from spark_reports import text
from spark_reports.findings.finding import GOOD, INFO, ORDER, WARN, Finding
from spark_reports.rows import Rows
from spark_reports.text import change, shown

CLEAR = 0.6  # of the variation explained by a straight line: it is a trend and no accident
WORTH_TELLING = 0.1
FEWEST = 4  # runs that make a trend
FEWEST_COUNTED = 10  # what is counted one by one changes by less from chance alone
_TOLD = ("p99_ns", "p50_ns", "delivered_per_s", "dead_lettered", "turned_away", "redelivered", "rebalancing_ns")


def history_findings(runs: Rows, trends: Rows) -> list[Finding]:
    found = [*_ended_badly(runs), *_trends(trends), *_odd(trends), *_same(runs, trends)]
    if not found and any(row["measure"] in _TOLD for row in trends):
        found = [_nothing(trends)]
    found += _unlike(trends)
    return sorted(found, key=lambda finding: ORDER.index(finding.level))


def _ended_badly(runs: Rows) -> Iterator[Finding]:
    bad = [row for row in runs if row["ended"] in ("crashed", "failed")]
    if bad:
        names = text.listed([row["name"] for row in bad])
        yield Finding(
            WARN,
            f"{text.plural(len(bad), 'run')} did not end well",
            f"{names}: the program died or the recording failed.",
            "runs",
        )


def _trends(trends: Rows) -> Iterator[Finding]:
    for row in trends:
        clear = row["runs"] >= FEWEST and row["steady"] >= CLEAR and row["verdict"] in ("better", "worse")
        grown = row["change"] is None or abs(row["change"]) >= WORTH_TELLING
        drift = abs(row["per_run"]) * (row["runs"] - 1)
        if MEASURES[row["measure"]].unit == "count" and drift < FEWEST_COUNTED:
            continue
        if row["measure"] in _TOLD and clear and grown:
            label = MEASURES[row["measure"]].label
            first, last = shown(row["measure"], row["first"]), shown(row["measure"], row["last"])
            way = "rose" if row["per_run"] > 0 else "fell"
            yield Finding(
                GOOD if row["verdict"] == "better" else WARN,
                f"{row['scenario']}: {label} {way} from {first} to {last} over {row['runs']} runs",
                f"That is {row['verdict']}, {change(row['change'], row['per_run'])} along a straight line that "
                f"explains {text.share(row['steady'])} of the variation.",
                "trends",
            )


def _odd(trends: Rows) -> Iterator[Finding]:
    for row in trends:
        judged = row["verdict"] != "different"
        if row["measure"] in _TOLD and judged and row["odd_session"] is not None and row["runs"] >= FEWEST:
            yield Finding(
                INFO,
                f"{row['odd_name']} is out of line: {MEASURES[row['measure']].label} was "
                f"{shown(row['measure'], row['odd_value'])}",
                f"The median of {text.plural(row['runs'], 'run')} of {row['scenario']} is "
                f"{shown(row['measure'], row['median'])}.",
                "runs",
            )


def _same(runs: Rows, trends: Rows) -> Iterator[Finding]:
    told = [row for row in trends if row["measure"] in _TOLD]
    if told and all(row["verdict"] == "same" for row in told):
        yield Finding(GOOD, "Nothing drifts", f"{text.plural(len(runs), 'run')}, and no figure changes.", "trends")
    elif not trends:
        yield Finding(INFO, "There is no trend yet", "No scenario was run more than once.", "runs")


def _unlike(trends: Rows) -> Iterator[Finding]:
    for row in trends:
        if row["measure"] == "length_ns" and row["most"] > row["least"] * (1 + AS_LONG):
            yield Finding(
                INFO,
                f"{row['scenario']}: the lengths of its runs differ",
                f"From {text.duration(row['least'])} to {text.duration(row['most'])}: rates and percentiles can be "
                "compared; totals cannot, and are not judged.",
                "runs",
            )


def _nothing(trends: Rows) -> Finding:
    longest = max(trends, key=lambda row: row["runs"])
    if longest["runs"] < FEWEST:
        most = f"{longest['scenario']} has {text.plural(longest['runs'], 'run')}, the most of all"
        return Finding(INFO, f"A trend takes {FEWEST} runs of a scenario", f"{most}.", "runs")
    return Finding(GOOD, "No figure drifts clearly", "They vary from run to run, but not in one direction.", "trends")
