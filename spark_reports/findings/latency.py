from __future__ import annotations

from collections.abc import Iterator

from spark_reports.findings.evidence import Evidence
from spark_reports.findings.finding import INFO, Finding
from spark_reports.page import text


def late(told: Evidence) -> Iterator[Finding]:
    whole = next((row for row in told.rows["latency"] if row["measure"] == "delivered"), None)
    if whole is None:
        return
    half = f"within {text.duration(whole['p50_ns'])}" if whole["p50_ns"] else "at once"
    headline = f"Half of the messages were delivered {half}, 99{text.NBSP}% within {text.duration(whole['p99_ns'])}"
    if not whole["p99_ns"]:
        headline = f"99{text.NBSP}% of the messages were delivered at once"
    groups = [row for row in told.rows["latency_by_group"] if row["measure"] == "delivered"]
    slowest = max(groups, key=lambda row: row["p99_ns"])
    detail = f"Slowest is {slowest['group']} on {slowest['topic']}: p99 {text.duration(slowest['p99_ns'])}."
    yield Finding(INFO, headline, detail, "latency")


def replayed(told: Evidence) -> Iterator[Finding]:
    """Groups that read messages from before their first member joined. That wait is no delay of a reader."""
    whole, groups, over_time = (
        [row for row in told.rows[name] if row["measure"] == "replayed"]
        for name in ("latency", "latency_by_group", "latency_over_time")
    )
    if not whole:
        return
    names = sorted({row["group"] for row in groups})
    their = "its" if len(names) == 1 else "their"
    yield Finding(
        INFO,
        f"{text.listed(names)} read {text.plural(whole[0]['messages'], 'message')} from before {their} time",
        f"They were up to {text.duration(whole[0]['max_ns'])} old when they were read. They are left out of the "
        "latency above and have lines of their own.",
        "latency",
        min((row["start_ns"] for row in over_time), default=None),
    )
