"""What a history says first, over runs that were made up. No Spark needed."""

from __future__ import annotations

from typing import Any

import pytest

from spark_reports.findings.history import history_findings
from spark_reports.page.history_page import MOST_POINTS, history_data
from tests.spark_reports.page.tables_by_hand import S


def trend(runs: int, **values: Any) -> dict[str, Any]:
    flat = {"first": 1.0 * S, "last": 1.0 * S, "median": 1.0 * S, "per_run": 0.0, "change": 0.0, "steady": 0.0}
    odd = {"odd_session": None, "odd_name": None, "odd_value": None}
    return {"scenario": "Test", "measure": "p99_ns", "runs": runs, "verdict": "same", **flat, **odd, **values}


RUNS = [{"name": "one", "ended": "finished"}, {"name": "two", "ended": "finished"}]


@pytest.mark.parametrize(
    ("trends", "said"),
    [
        ([], "There is no trend yet"),
        ([trend(2, verdict="better", change=-0.3, per_run=-0.3 * S, steady=1.0)], "A trend takes 4 runs of a scenario"),
        ([trend(5, verdict="worse", change=0.3, per_run=0.07 * S, steady=0.2)], "No figure drifts clearly"),
        ([trend(5)], "Nothing drifts"),
        (
            [trend(5, verdict="worse", last=2.0 * S, change=1.0, per_run=0.25 * S, steady=0.9)],
            "Test: First delivery, p99 rose from 1\u00a0s to 2\u00a0s over 5 runs",
        ),
    ],
)
def test_a_history_always_says_something(trends: list[dict[str, Any]], said: str) -> None:
    """A heading with nothing below it is no report."""
    assert [one.headline for one in history_findings(RUNS, trends)] == [said]


def _runs(count: int) -> list[dict[str, Any]]:
    return [
        {"session": at, "name": f"run-{at}", "scenario": "One", "p99_ns": float(at), "delivered_per_s": None}
        for at in range(count)
    ]


def test_few_runs_are_a_point_each() -> None:
    data = history_data(_runs(MOST_POINTS))
    assert data["runs_a_point"] == 1 and data["names"][-1] == f"run-{MOST_POINTS - 1}"
    assert data["trends"]["p99_ns"]["lines"][0]["points"][7] == [7, 7.0]


def test_many_runs_are_a_point_together_and_none_is_left_out() -> None:
    data = history_data(_runs(1_000))
    assert data["runs_a_point"] == 9 and data["names"][1] == "run-9 to run-17"
    points = data["trends"]["p99_ns"]["lines"][0]["points"]
    assert len(points) == len(data["names"]) <= MOST_POINTS
    assert points[1] == [1, 13.0, 9.0, 17.0] and points[-1] == [111, 999.0, 999.0, 999.0]
