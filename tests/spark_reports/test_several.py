"""Several sessions: compared, and as a history, from folders with any names."""

from __future__ import annotations

import csv
import json
import re
import shutil
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark_reports.errors import ReportError
from spark_reports.jobs.kinds import make_kind
from spark_reports.request.parts import EVERY
from spark_reports.request.request import COMPARE, HISTORY, Request
from spark_reports.sessions.discovery import Found, find_remote_sessions, find_sessions, names
from spark_reports.sessions.session import SessionInfo, inspect
from tests.spark_reports.conftest import record
from tests.spark_reports.test_wrong import Silent

pytestmark = pytest.mark.spark

ODD = "it's [1] 100% +ü {x}*?"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three short runs of one scenario, one that is torn, and something else."""
    folder = tmp_path_factory.mktemp("runs")
    for number, name in enumerate((ODD, "second", "third")):
        record(folder / name, seconds=3, rate=40 + 40 * number, seed=number)
        path = folder / name / "session.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | {"started_at": f"2026-01-0{number + 1}T00:00:00Z"}))
    shutil.copytree(folder / "second", folder / "future")
    (folder / "future" / "session.json").write_text('{"format": "brokerscope-session", "format_version": 99}')
    (folder / "thesis").mkdir()
    return folder


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_a_history_reads_a_folder_of_sessions_as_one_dataset(spark: SparkSession, folder: Path, tmp_path: Path) -> None:
    found = find_sessions([str(folder)])
    assert [Path(info.location).name for info in found.infos] == [ODD, "second", "third"]
    assert len(found.problems) == 1 and "format version 99" in found.problems[0]
    request = Request((str(folder),), tmp_path, HISTORY)
    (tmp_path / "tables").mkdir()
    make_kind(spark, request, found, Silent()).write(tmp_path, request.formats)
    runs = _rows(tmp_path / "tables" / "runs.csv")
    assert [run["name"] for run in runs] == [ODD, "second", "third"]
    for run, info in zip(runs, found.infos, strict=True):
        totals = info.metadata["totals"]
        for name in ("published", "delivered", "acknowledged", "dead_lettered", "rebalances"):
            assert int(run[name]) == totals[name], (run["name"], name)
        assert int(run["events"]) == info.metadata["events"]
    trends = {row["measure"]: row for row in _rows(tmp_path / "tables" / "trends.csv")}
    assert float(trends["published"]["per_run"]) > 0 and trends["published"]["runs"] == "3"
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<b>commits</b>" not in page and "format version 99" in page
    assert "3 runs of 1 scenario<" in page

    # The same on a path that only Spark can list.
    remote = find_remote_sessions(spark, [f"file://{folder}"])
    assert [Path(info.location).name for info in remote.infos] == [ODD, "second", "third"]


@pytest.mark.parametrize(
    "parts",
    [
        frozenset({"throughput", "latency", "totals", "rebalances"}),
        pytest.param(EVERY, id="every part", marks=pytest.mark.long),
    ],
)
def test_a_comparison_has_every_difference_and_every_table_of_both(
    spark: SparkSession, folder: Path, tmp_path: Path, parts: frozenset[str]
) -> None:
    sessions = (str(folder / "third"), str(folder / ODD))
    request = Request(sessions, tmp_path, COMPARE, formats=frozenset({"csv", "html"}), parts=parts)
    request.check()
    (tmp_path / "tables").mkdir()
    report = make_kind(spark, request, Found(tuple(map(inspect, sessions))), Silent())
    report.write(tmp_path, request.formats)
    rows = {(row["measure"], row["name"]): row for row in _rows(tmp_path / "tables" / "comparison.csv")}
    counted = [json.loads((Path(session) / "session.json").read_text())["totals"] for session in sessions]
    published = rows["published", ODD]
    assert float(published["base"]) == counted[0]["published"]
    assert float(published["difference"]) == counted[1]["published"] - counted[0]["published"] < 0
    assert published["verdict"] == "different" and rows["delivered_per_s", ODD]["verdict"] == "worse"
    for name in ("latency", "totals", "rebalances"):
        assert {row["session"] for row in _rows(tmp_path / "tables" / f"{name}.csv")} == {"third", ODD}
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "third and it&#39;s [1] 100% +ü {x}*? compared" in page
    data = json.loads(re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[0])
    assert [one["name"] for one in data["sessions"]] == ["third", ODD]
    assert all(one["published"] and one["p99"] and one["curve"] for one in data["sessions"])
    headlines = " ".join(row["headline"] for row in _rows(tmp_path / "tables" / "findings.csv"))
    assert "Delivered a second" in headlines and "is not sound" not in headlines
    assert not list((tmp_path / "tables").glob("*.parquet"))


def test_names_of_sessions_are_short_and_no_two_are_the_same() -> None:
    def named(*locations: str) -> list[str]:
        return names([SessionInfo(location, {}) for location in locations])

    assert named("/a/one", "/a/two") == ["one", "two"]
    assert named("/before/run", "/after/run", "/x/other") == ["before/run", "after/run", "x/other"]
    assert named("/a/run", "/a/run") == ["a/run (1)", "a/run (2)"] or len(set(named("/a/run", "/a/run"))) == 2


@pytest.mark.parametrize(
    ("request_", "sentence"),
    [
        (Request(("a", "b"), "out"), "2 sessions were given: add --compare"),
        (Request(("a",), "out", COMPARE), "A comparison takes 2 to 8 sessions, and 1 was given"),
        (Request(tuple("abcdefghi"), "out", COMPARE), "and 9 were given"),
        (Request(("a", "a"), "out", COMPARE), "given twice"),
        (Request(("a",), "out", from_ns=5, to_ns=5), "--from must be before --to"),
    ],
)
def test_a_request_that_makes_no_sense_is_one_sentence(request_: Request, sentence: str) -> None:
    with pytest.raises(ReportError, match=sentence):
        request_.check()


def test_a_folder_without_sessions_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="There is no session to report on in"):
        find_sessions([str(tmp_path)])
    with pytest.raises(ReportError, match="There is no folder"):
        find_sessions([str(tmp_path / "nowhere")])
