from __future__ import annotations

from collections.abc import Iterator

from spark_reports.findings.finding import INFO, Finding, Rows
from spark_reports.page import text


def late(rows: Rows, groups: Rows) -> Iterator[Finding]:
    whole = next((row for row in rows if row["measure"] == "delivered"), None)
    if whole is None:
        return
    half = f"within {text.duration(whole['p50_ns'])}" if whole["p50_ns"] else "at once"
    headline = f"Half of the messages were delivered {half}, 99{text.NBSP}% within {text.duration(whole['p99_ns'])}"
    if not whole["p99_ns"]:
        headline = f"99{text.NBSP}% of the messages were delivered at once"
    slowest = max((row for row in groups if row["measure"] == "delivered"), key=lambda row: row["p99_ns"])
    detail = f"Slowest is {slowest['group']} on {slowest['topic']}: p99 {text.duration(slowest['p99_ns'])}."
    yield Finding(INFO, headline, detail, "latency")


def replayed(rows: Rows, groups: Rows, over_time: Rows) -> Iterator[Finding]:
    """Groups that read messages from before their first member joined. That wait is no delay of a reader."""
    whole = next((row for row in rows if row["measure"] == "replayed"), None)
    if whole is None:
        return
    theirs = sorted((row for row in groups if row["measure"] == "replayed"), key=lambda row: -row["messages"])
    names = text.listed(sorted({row["group"] for row in theirs}))
    first = min((row["start_ns"] for row in over_time if row["measure"] == "replayed"), default=None)
    yield Finding(
        INFO,
        f"{names} read {text.plural(whole['messages'], 'message')} from before its time"
        if len({row["group"] for row in theirs}) == 1
        else f"{names} read {text.plural(whole['messages'], 'message')} from before their time",
        f"They were up to {text.duration(whole['max_ns'])} old when they were read. They are left out of the latency "
        "above and have lines of their own.",
        "latency",
        first,
    )
