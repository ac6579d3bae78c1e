"""What is asserted of a session: read at once, judged by its tables, told to people and to CI. No Spark needed."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.filters import parse
from spark_reports.errors import ReportError
from spark_reports.jobs.outcome import Outcome
from spark_reports.output.junit import junit
from spark_reports.request.assertions import FIELDS, FIGURES, AssertionVerdict, check, judge, read_file
from spark_reports.request.parts import EVERY, PARTS
from spark_reports.request.request import Request
from tests.spark_reports.page.tables_by_hand import S, made, only, rows_of

MS = S // 1000
ROWS: dict[str, list[dict[str, Any]]] = {
    "latency": [{"measure": "delivered", "p50_ns": 5 * MS, "p99_ns": 341 * MS}],
    "latency_by_group": [
        {"measure": "delivered", "group": group, "topic": topic, "p50_ns": MS, "p99_ns": p99 * MS}
        for group, topic, p99 in (("billing", "a", 80), ("billing", "b", 120), ("Mail-room", "a", 341))
    ],
    "lag": [
        {"group": group, "topic": "t", "partition": partition, "start_ns": at * S, "lag": lag}
        for group, partition, lags in (("billing", 0, (5, 60, 3)), ("billing", 1, (5, 50, 4)), ("other", 0, (1, 2, 90)))
        for at, lag in enumerate(lags)
    ],
    "dead_letters": [{"group": "q", "dead_lettered": 3}, {"group": "q", "dead_lettered": 2}],
    "unserved": [{"group": "billing", "pause_ns": 3 * S}, {"group": "billing", "pause_ns": 4 * S}],
    "throughput_series": [{"dimension": "topic", "name": "a", "messages": 70, "messages_per_s": 3.5}],
}


@pytest.mark.parametrize(
    ("assertion", "holds", "found"),
    [
        ("p99 < 200 ms", False, "p99 is 341 ms"),
        ('p99("billing") < 200 ms', True, "p99(billing) is 120 ms"),
        ("p99(Mail-room) < 0.2 s", False, "p99(Mail-room) is 341 ms"),
        ("lag(billing) < 100", False, "lag(billing) is 110"),
        ("last_lag(billing) = 7 and lag(other) <= 90", True, "last_lag(billing) is 7, lag(other) is 90"),
        ("lag < 100 or dead_letters = 0", False, "lag is 110, dead_letters is 5"),
        ("not (dead_letters > 5)", True, "dead_letters is 5"),
        ("unread < 5 s", True, "unread is 4 s"),
        ("published_per_s(a) > 3", True, "published_per_s(a) is 3.50"),
        ("acknowledged_p99 < 1 s", False, "acknowledged_p99 is n/a"),
        ("lag(nobody) < 100", False, "nobody has no lag here; there are billing, other"),
        ("expired_leases(q) = 0", False, "q has no expired_leases here; nothing has"),
        ("missing = 0 and broken = 0 and rebalances = 0", True, "missing is 0, broken is 0, rebalances is 0"),
    ],
)
def test_an_assertion_holds_or_says_what_it_found(assertion: str, holds: bool, found: str) -> None:
    (verdict,) = judge([assertion], rows_of(made(**ROWS)))
    assert (verdict.holds, verdict.found.replace("\u00a0", " ")) == (holds, found)


@pytest.mark.parametrize(
    ("assertion", "holds", "found"),
    [
        ("lag < 100", False, "lag is n/a"),
        ("lag(late) < 100", True, "lag(late) is 9"),
        ("last_lag(torn) < 100", False, "last_lag(torn) is n/a"),
        ("lag(torn) < 100", False, "lag(torn) is n/a"),
        ("last_lag < 100", False, "last_lag is n/a"),
        ("not lag > 100", False, "lag is n/a"),
        ("lag != 5", False, "lag is n/a"),
        ("lag < 100 or not lag < 100 or lag(late) < 100", True, "lag is n/a, lag(late) is 9"),
        ("lag = none and not last_lag != none", True, "lag is n/a, last_lag is n/a"),
        ("published_per_s(a) < 100", False, "published_per_s(a) is n/a"),
        ("published_per_s(b) < 100", True, "published_per_s(b) is 2"),
        ("published_per_s >= 0", False, "published_per_s is n/a"),
    ],
)
def test_what_is_not_known_is_not_0(assertion: str, holds: bool, found: str) -> None:
    lags = {("torn", 0): (None, None), ("torn", 1): (1, 1), ("late", 0): (None, 9)}
    rows: dict[str, list[dict[str, Any]]] = {
        "lag": [
            {"group": group, "topic": "t", "partition": partition, "start_ns": at * S, "lag": lag}
            for (group, partition), series in lags.items()
            for at, lag in enumerate(series)
        ],
        "throughput_series": [
            {"dimension": "topic", "name": name, "messages": 1, "messages_per_s": rate}
            for name, rate in (("a", None), ("b", 2.0))
        ],
    }
    (verdict,) = judge([assertion], rows_of(made(**rows)))
    assert (verdict.holds, verdict.found.replace("\u00a0", " ")) == (holds, found)


@pytest.mark.parametrize(
    ("assertion", "sentence"),
    [
        ("p99 < 200", "p99 is a length of time; write it like 5 s."),
        ("p98 < 200 ms", "There is no field p98 here; did you mean p99?"),
        ("p99", "asserts nothing: compare a figure with a value"),
        ("p99 < 5 s oops", "asserts nothing"),
        ("", "asserts nothing"),
        ("lag(", "These brackets take one name"),
    ],
)
def test_what_is_no_assertion_is_refused_before_anything_starts(assertion: str, sentence: str) -> None:
    with pytest.raises(ReportError) as caught:
        Request(Path("/a"), Path("/out"), assertions=(assertion,)).check()
    assert sentence in str(caught.value)


def test_what_is_asserted_must_be_asked_for() -> None:
    check(["lag < 5"], {"lag"})
    with pytest.raises(ReportError, match="needs the part lag, which was not requested"):
        check(["rebalances = 0 and lag(x) < 5"], {"rebalances"})


@pytest.mark.parametrize("figure", FIGURES, ids=[figure.name for figure in FIGURES])
def test_every_figure_is_there_with_its_part_alone(figure: Any) -> None:
    assert figure.part in PARTS
    rows = rows_of(only(made(**ROWS), frozenset({figure.part})))
    (verdict,) = judge([f"{figure.name} >= 0"], rows)
    assert verdict.holds or verdict.found.endswith("is n/a")


@given(st.text(max_size=20).filter(lambda name: name.isprintable()))
def test_any_name_may_be_asked_for(name: str) -> None:
    rows = rows_of(made(lag=[{"group": name, "topic": "t", "partition": 0, "start_ns": 0, "lag": 4}]))
    quoted = name.replace("\\", "\\\\").replace('"', '\\"')
    (verdict,) = judge([f'lag("{quoted}") = 4'], rows)
    assert verdict.holds, verdict
    assert parse(f'lag("{quoted}") = 4', FIELDS).only_compares


def test_a_file_has_one_a_line(tmp_path: Path) -> None:
    path = tmp_path / "thresholds.txt"
    path.write_text("# the service level\np99 < 200 ms\n\n  lag < 5  \n", encoding="utf-8")
    assert read_file(path) == ("p99 < 200 ms", "lag < 5")
    with pytest.raises(ReportError, match="cannot be read"):
        read_file(tmp_path / "nowhere.txt")


def test_ci_reads_what_holds_and_what_does_not() -> None:
    verdicts = [
        AssertionVerdict("p99 < 1 s", True, "p99 is 3 ms"),
        AssertionVerdict('lag("a<b>\x00") < 5', False, "lag is 9"),
    ]
    suites = ET.fromstring(junit("A <session>\x01", ["messages are missing"], verdicts))
    assert suites.attrib == {"tests": "3", "failures": "1", "errors": "1"}
    names = {case.get("name"): [child.tag for child in case] for case in suites.iter("testcase")}
    assert names == {
        "the recording is complete": ["error"],
        "p99 < 1 s": ["system-out"],
        'lag("a<b>?") < 5': ["failure"],
    }


@pytest.mark.parametrize(
    ("assertion", "sentence"),
    [
        ("dead_letters = 5", "dead_letters = 5 holds: dead_letters is 5."),
        ("p99 < 200 ms", "p99 < 200 ms does not hold: p99 is 341 ms."),
        ("lag(billin) < 5", "lag(billin) < 5 does not hold: billin has no lag here; did you mean billing?"),
        ("lag(nobody) < 5", "lag(nobody) < 5 does not hold: nobody has no lag here; there are billing, other."),
    ],
)
def test_each_verdict_is_one_sentence(assertion: str, sentence: str) -> None:
    (verdict,) = judge([assertion], rows_of(made(**ROWS)))
    assert verdict.sentence.replace("\u00a0", " ") == sentence


def test_what_holds_is_told_too_and_changes_no_code() -> None:
    outcome = Outcome(held=("a holds.",))
    assert (outcome.code, outcome.lines()) == (0, ["a holds."])
    torn = Outcome(("p",), ("b does not hold.",), ("a holds.",), log="/tmp/log")
    assert Outcome.of({"report": "/out", **torn.told()}) == torn
    assert torn.lines() == ["p", "a holds.", "b does not hold."]


def test_figures_of_a_torn_session_prove_nothing() -> None:
    assert [Outcome(*told).code for told in ((), ((), ("x",)), (("y",), ("x",)), (("y",), ()))] == [0, 4, 3, 3]


def test_every_part_of_a_figure_is_one_of_the_report() -> None:
    assert {figure.part for figure in FIGURES} <= EVERY
