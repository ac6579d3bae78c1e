"""What differs between sessions, beyond chance, and what was done otherwise. No Spark needed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import resources
from spark_reports.findings.comparison import comparison_findings
from spark_reports.findings.finding import Finding
from spark_reports.findings.settings import Settings
from spark_reports.tables.runs import BETTER
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


@pytest.mark.parametrize("verdict", ["better", "worse", "noise", "same", "different"])
@pytest.mark.parametrize("name", sorted(BETTER))
def test_what_is_marked_is_told_and_nothing_else(name: str, verdict: str) -> None:
    """The headline "no figure differs" once stood above a mark of +28 %."""
    told = _told(found(measure(name, 128, 100, verdict)))
    nothing = [one for one in told if one.startswith("No figure differs")]
    assert bool(nothing) is (verdict not in ("better", "worse"))
    assert len(told) == 1


def _marker(cause: str, at_s: int) -> dict[str, Any]:
    return {"kind": "fault", "client": "w-1", "cause": cause, "time_ns": at_s * S}


def test_what_was_done_otherwise_is_told_and_blamed_only_alone() -> None:
    worse = measure("p99_ns", 3.0 * S, 1.0 * S, "worse")
    told = found(worse, ONE, OTHER)
    (did,) = (one for one in told if "differed in after" in one.headline)
    assert did.detail == "queues.q.config.lease_ms is 500 instead of 3000."
    (late,) = (one for one in told if "p99" in one.headline)
    assert late.why == "One thing was different: queues.q.config.lease_ms is 500 instead of 3000."
    told = found(worse, ONE, OTHER, markers=[[_marker("slow down", 3)], [_marker("crash", 30)]])
    (did,) = (one for one in told if "differed in after" in one.headline)
    assert did.detail.endswith("instead of 3000, crash (w-1) at 00:30.0 and no slow down (w-1) at 00:03.0.")
    (late,) = (one for one in told if "p99" in one.headline)
    assert late.why == (
        "3 things were different, and the data do not show which one it was: queues.q.config.lease_ms is 500 instead "
        "of 3000, crash (w-1) at 00:30.0 and no slow down (w-1) at 00:03.0."
    )
    assert [one.why for one in found(worse, ONE, ONE) if "p99" in one.headline] == [""]


def test_what_was_scheduled_is_told_once_as_what_was_done() -> None:
    """Its settings would be five things more, and the one that explains the difference would be lost among them."""
    done = "schedule: [{at_s: 30, do: {action: crash, client: w-1, for_s: 9}}]\n"
    worse = measure("p99_ns", 3.0 * S, 1.0 * S, "worse")
    told = found(worse, ONE, ONE + done, markers=[[], [_marker("crash", 30)]])
    (one,) = (one for one in told if "p99" in one.headline)
    assert one.why == "One thing was different: crash (w-1) at 00:30.0."


def test_another_seed_is_told_and_what_a_scenario_says_of_itself_is_not() -> None:
    worse = measure("p99_ns", 3.0 * S, 1.0 * S, "worse")
    lesson = "lesson: {steps: [{watch: The lag rises}]}\ntry: [Drag it]\nwatch: [Look]\nabout: Another\n"
    base, this = Settings(f"{ONE}seed: 1\n", 1), Settings(f"{ONE}{lesson}seed: 1\n", 2)
    told = comparison_findings([run(0), run(1)], worse, [made(), made()], LABELS, [base, this])
    (did,) = (one for one in told if "differed in after" in one.headline)
    assert did.detail == "seed is 2 instead of 1."
    assert any(one.why == "One thing was different: seed is 2 instead of 1." for one in told)


@pytest.mark.parametrize("scenario", sorted(resources.path("scenarios").glob("*.yaml")), ids=lambda path: path.stem)
def test_no_bundled_scenario_has_prose_among_its_settings(scenario: Path) -> None:
    kinds = {path.partition(".")[0] for path in Settings(scenario.read_text(encoding="utf-8")).flat()}
    assert kinds and kinds.isdisjoint({"title", "about", "watch", "try", "lesson"})
