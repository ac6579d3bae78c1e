"""Tables on paper are read by people: words above, units beside, no line wider than the sheet."""

from __future__ import annotations

from typing import Any

import pytest

from spark_reports.paper.cells import PrintedTable, comparison_table, cost_table, printed, runs_table, trends_table
from spark_reports.paper.contents import history_paper
from spark_reports.paper.paper import CELL_CHARS, ROWS_MAX, _table, are_numbers
from spark_reports.tables import runs
from spark_reports.text import NBSP

S = 1_000_000_000


def plain(rows: object) -> Any:
    """Without what ties a number to its unit."""
    return [[cell.replace(NBSP, " ") for cell in row] for row in rows]  # type: ignore[attr-defined]


def names_of(schema: str) -> list[str]:
    return [part.split()[0].strip("`") for part in schema.split(", ")]


def run(session: int, **values: Any) -> dict[str, Any]:
    empty = dict.fromkeys(names_of(runs.SCHEMA), 0)
    about = {"session": session, "name": f"run-{session}", "scenario": "Test", "started_at": "2026-11-21T07:43:25.671Z"}
    return {**empty, **about, "seed": 12345, "ended": "finished", "duration_ns": 40 * S, **values}


def trend(measure: str, **values: Any) -> dict[str, Any]:
    return {**dict.fromkeys(names_of(runs.TRENDS_SCHEMA)), "scenario": "Test", "measure": measure, **values}


@pytest.mark.parametrize(
    ("name", "value", "head", "said"),
    [
        ("pause_ns", 2_500_000, "pause", "2.5 ms"),
        ("started_ns", 61 * S, "started", "01:01.0"),
        ("p999_ns", 12.011696436e9, "p99.9", "12.0 s"),
        ("share_of_partition", 0.52, "share of partition", "52 %"),
        ("published", 12_207, "published", "12,207"),
        ("seed", 12_345, "seed", "12345"),
        ("ok", False, "ok", "no"),
        ("key", "a_b", "key", "a_b"),
        ("name", "dead_lettered", "name", "dead lettered"),
        ("topic", None, "topic", "-"),
    ],
)
def test_a_cell_is_said_as_people_say_it(name: str, value: object, head: str, said: str) -> None:
    table = printed("Any", [{name: value}])
    assert (list(table.columns), plain(table.rows)) == ([head], [[said]])


def test_what_a_session_cost_has_its_units() -> None:
    rows = [("frame_cost_p99", 12.5, "ms"), ("frames_drawn", 1_300.0, "count"), ("peak_memory", 5e6, "bytes")]
    table = cost_table([{"name": name, "value": value, "unit": unit} for name, value, unit in rows])
    assert plain(table.rows) == [["Frame cost p99", "12.5 ms"], ["Frames drawn", "1,300"], ["Peak memory", "4.77 MiB"]]


def test_sessions_stand_side_by_side() -> None:
    p99 = {"measure": "p99_ns", "change": -0.5, "difference": -5.0 * S, "verdict": "better", "value": 5.0 * S}
    first = {"change": 0.0, "difference": 0.0, "verdict": "same"}
    rows = [
        {**p99, **first, "session": 0, "value": 10.0 * S},
        {**p99, "session": 1},
        {**first, "measure": "published", "session": 0, "value": 7.0},
    ]
    table = comparison_table(rows, ["before", "after"])
    assert list(table.columns) == ["figure", "before", "after", "difference"]
    assert plain(table.rows) == [["Published", "7", "-", "-"], ["First delivery, p99", "10 s", "5 s", "-50 %, better"]]


def test_a_history_on_paper_has_its_trends_and_their_plots() -> None:
    found = [run(number, p99_ns=(number + 1) * S, published=100) for number in range(3)]
    values = {"runs": 3, "first": 1.0 * S, "last": 3.0 * S, "median": 2.0 * S, "change": 2.0, "per_run": 1.0 * S}
    trends = [trend("p99_ns", verdict="worse", **values)]
    paper = history_paper({"runs": found, "trends": trends}, [])
    assert [plot.name for _heading, plot in paper.plots] == ["trend-p99"]
    assert plain(trends_table(trends).rows)[0][1:7] == ["First delivery, p99", "3", "1 s", "2 s", "3 s", "×3.0"]
    assert plain(runs_table(found).rows)[1][:5] == ["run-1", "Test", "12345", "2026-11-21 07:43", "40 s"]


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["1,499", "12", "-"], True),
        (["1 min 40 s", "14.5 s", "n/a"], True),
        (["-15 %, better", "same", "×3.1, worse"], True),
        (["3.17 KiB", "0 B", "below 0.1 %"], True),
        (["2026-11-21 08:55"], False),
        (["00:31.0"], False),
        (["clicks", "7"], False),
        (["-", ""], False),
    ],
)
def test_numbers_are_known_by_how_they_look(cells: list[str], numbers: bool) -> None:
    assert are_numbers(cells) is numbers


def test_numbers_end_below_each_other_and_long_words_break() -> None:
    told = _table(PrintedTable("t", ["group", "messages", "cause"], [["billing", "1,499", "w" * 90], ["a", "7", "x"]]))
    assert told["right"] == [False, True, False]
    assert told["widths"] == [0, 0, CELL_CHARS] and told["rows"][0][2].endswith("…")
    many = _table(PrintedTable("t", ["n"], [["1"]] * (ROWS_MAX + 5)))
    assert len(many["rows"]) == ROWS_MAX and many["note"].startswith(f"The first {ROWS_MAX} of {ROWS_MAX + 5}")
