"""What differs between sessions, beyond chance, and what was done otherwise. No Spark needed."""

from __future__ import annotations

from typing import Any

import pytest

from spark_reports.findings.comparison import comparison_findings
from spark_reports.findings.finding import Finding
from spark_reports.findings.settings import Settings
from tests.spark_reports.page.tables_by_hand import S, made
from tests.spark_reports.page.test_comparison_page import LABELS, measure, run

ONE = "title: A\nqueues: [{name: q, config: {lease_ms: 3000}}]\n"
OTHER = "title: B\nqueues: [{name: q, config: {lease_ms: 500}}]\n"


def found(compared: list[dict[str, Any]], *texts: str, **tables: list[list[dict[str, Any]]]) -> list[Finding]:
    sessions = [made(**{name: both[number] for name, both in tables.items()}) for number in (0, 1)]
    return comparison_findings(
        [run(0, delivered=100), run(1, delivered=100)], compared, sessions, LABELS, [Settings(one) for one in texts]
    )


def _told(findings: list[Finding]) -> list[str]:
    return [one.headline for one in findings if one.section == "figures"]


@pytest.mark.parametrize(("died", "beyond"), [(125, False), (140, True)])
def test_a_count_must_differ_by_more_than_chance(died: int, beyond: bool) -> None:
    told = _told(found(measure("dead_lettered", died, 100, "worse")))
    assert bool([one for one in told if one.startswith("Dead letters")]) is beyond


@pytest.mark.parametrize(("spread_s", "beyond"), [(0.1, True), (20.0, False)])
def test_a_percentile_must_differ_by_more_than_it_varies(spread_s: float, beyond: bool) -> None:
    def late(around_s: float) -> list[dict[str, Any]]:
        ends = (around_s - spread_s / 2, around_s + spread_s / 2)
        return [{"measure": "delivered", "start_ns": at * S, "p99_ns": int(ends[at % 2] * S)} for at in range(20)]

    told = _told(found(measure("p99_ns", 8.0 * S, 5.0 * S, "worse"), latency_over_time=[late(5.0), late(8.0)]))
    assert bool([one for one in told if "p99" in one]) is beyond


def _marker(cause: str, at_s: int) -> dict[str, Any]:
    return {"kind": "fault", "client": "w-1", "cause": cause, "time_ns": at_s * S}


def test_what_was_done_otherwise_is_told_and_blamed_only_alone() -> None:
    worse = measure("p99_ns", 3.0 * S, 1.0 * S, "worse")
    told = found(worse, ONE, OTHER)
    (did,) = (one for one in told if "otherwise in after" in one.headline)
    assert did.detail == "queues.q.config.lease_ms is 500 instead of 3000."
    (late,) = (one for one in told if "p99" in one.headline)
    assert late.why == "One thing was otherwise: queues.q.config.lease_ms is 500 instead of 3000."
    told = found(worse, ONE, OTHER, markers=[[_marker("slow down", 3)], [_marker("crash", 30)]])
    (did,) = (one for one in told if "otherwise in after" in one.headline)
    assert did.detail.endswith("instead of 3000, crash (w-1) at 00:30.0 and no slow down (w-1).")
    (late,) = (one for one in told if "p99" in one.headline)
    assert late.why == "3 things were otherwise, so it may be any of them."
    assert [one.why for one in found(worse, ONE, ONE) if "p99" in one.headline] == [""]
