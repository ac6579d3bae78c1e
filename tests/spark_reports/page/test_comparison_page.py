"""What a comparison says first, over sessions that were made up. No Spark needed."""

from __future__ import annotations

from typing import Any

from spark_reports.findings.comparison import comparison_findings
from spark_reports.findings.finding import GOOD, INFO, WARN
from spark_reports.page.comparison_page import comparison_data, render_comparison
from spark_reports.sessions.discovery import Found
from spark_reports.sessions.session import SessionInfo
from tests.spark_reports.page.tables_by_hand import S, equal, made

LABELS = ["before", "after"]


def run(session: int, **values: Any) -> dict[str, Any]:
    return {
        **{
            "session": session,
            "name": LABELS[session],
            "scenario": "Shop",
            "seed": 1,
            "started_at": "2026-11-21T08:00",
        },
        **{"ended": "finished", "duration_ns": 60 * S, "length_ns": 60 * S, **values},
    }


def measure(name: str, value: float, base: float, verdict: str) -> list[dict[str, Any]]:
    change = (value - base) / base if base else None
    told = {"measure": name, "better": "less", "base": base}
    return [
        {**told, "session": 0, "name": "before", "value": base, "difference": 0.0, "change": 0.0, "verdict": "same"},
        {**told, "session": 1, "name": "after", "value": value, "difference": value - base, "change": change,
         "verdict": verdict},
    ]  # fmt: skip


def group(unserved_ns: int, changed: int, rebalances: int = 3) -> dict[str, Any]:
    return {"group": "shop", "unserved_ns": unserved_ns, "changed": changed, "rebalances": rebalances, "delivered": 1}


def said(runs: list[dict[str, Any]], compared: list[dict[str, Any]], *groups: dict[str, Any]) -> list[tuple[str, str]]:
    sessions = [made(groups=[one], reconciliation=[equal()]) for one in groups or (group(0, 0), group(0, 0))]
    found = comparison_findings(runs, compared, sessions, LABELS)
    return [(one.level, f"{one.headline} {one.detail}".replace("\u00a0", " ")) for one in found]


def test_the_session_whose_partitions_stood_still_longest_is_named_beside_the_best() -> None:
    told = said([run(0), run(1)], measure("p99_ns", 1.0 * S, 1.0 * S, "same"), group(4 * S, 12), group(S, 5))
    assert told == [
        (INFO, "shop in before left partitions without a reader for 4 s in all shop in after only for 1 s; "
               "12 partitions changed owner there, 5 here."),
        (GOOD, "No figure differs by more than a tenth and by more than chance would explain The differences below "
        "may be chance."),
    ]  # fmt: skip
    near = said([run(0), run(1)], measure("p99_ns", 1.0 * S, 1.0 * S, "same"), group(105, 5), group(100, 5))
    assert [level for level, _ in near] == [GOOD]


def test_a_difference_is_told_with_its_size_and_its_direction() -> None:
    worse = said([run(0), run(1)], measure("p99_ns", 3.0 * S, 1.0 * S, "worse"))
    assert worse == [(WARN, "First delivery, p99: 3 s in after, 1 s in before That is worse: ×3.0.")]
    better = said([run(0), run(1)], measure("p99_ns", 0.5 * S, 1.0 * S, "better"))
    assert better == [(GOOD, "First delivery, p99: 500 ms in after, 1 s in before That is better: -50 %.")]


def test_sessions_of_different_scenarios_or_lengths_are_said_to_be_so() -> None:
    runs = [run(0), run(1, scenario="Other", length_ns=90 * S)]
    told = dict(said(runs, measure("p99_ns", 1.0 * S, 1.0 * S, "same")))
    assert "These are different scenarios" in told[WARN]
    assert "Their lengths differ From 60 s to 90 s" in told[INFO]


def comparison_page(*files: str) -> str:
    """The page of two sessions alike."""
    sessions = [made(groups=[group(0, 0)]) for _ in LABELS]
    compared = measure("p99_ns", 1.0 * S, 1.0 * S, "same")
    tables = {"runs": Rows([run(0), run(1)]), "comparison": Rows(compared)}
    found = Found(tuple(SessionInfo(f"/sessions/{label}", {}) for label in LABELS))
    return render_comparison(found, LABELS, tables, sessions, [], files)


def test_a_page_names_the_files_that_are_there_and_no_others() -> None:
    assert "as CSV and Parquet in the folder tables" in comparison_page("CSV", "Parquet")
    assert "as CSV in the folder tables" in comparison_page("CSV")
    assert "in the folder tables" not in comparison_page()


def test_a_stretch_without_messages_is_drawn_as_one() -> None:
    """A line from the last message before it to the first one after it would say that some came."""
    ends = (0, 59)
    flows = [
        {"dimension": "topic", "topic": "t", "name": "t", "start_ns": at * S, "messages_per_s": 5.0} for at in ends
    ]
    late = [{"measure": "delivered", "start_ns": at * S, "p50_ns": S, "p99_ns": S} for at in ends]
    one = made(throughput=flows, latency_over_time=late)
    first, _second = comparison_data([one, made()], LABELS)["sessions"]
    assert [value for _at, value in first["published"]] == [5.0] + [0] * 58 + [5.0]
    assert [value for _at, value in first["p99"]] == [1_000.0] + [None] * 58 + [1_000.0]
    assert first["published"][1] == [1.5, 0]
    assert _second["published"] == _second["p99"] == []


class Rows(list[dict[str, Any]]):
    """As a table of Arrow is asked for its rows."""

    def to_pylist(self) -> list[dict[str, Any]]:
        return [*self]
