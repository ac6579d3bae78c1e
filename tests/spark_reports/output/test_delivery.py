"""A report takes the place of an earlier one, and of nothing else that a person has there."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from spark_reports.errors import Busy, ReportError
from spark_reports.jobs.report import Report
from spark_reports.output.delivery import JUNIT, REPORT, SCHEMA, TABLES, delivery
from spark_reports.request.assertions import Verdict
from spark_reports.request.request import FORMATS
from tests.spark_reports.page.tables_by_hand import made, only, rows_of
from tests.spark_reports.page.test_page import info


def _deliver(out: Path, *formats: str) -> None:
    whole = only(made(), frozenset({"totals"}))
    report = Report(info(), whole, rows_of(whole), [], [Verdict("lag < 5", True, "lag is 4")])
    with delivery(out) as folder:
        report.write(folder, frozenset(formats))


def test_a_report_of_all_formats_gives_way_to_each_single_format_and_back(tmp_path: Path) -> None:
    out = tmp_path / "out"
    _deliver(out, *FORMATS)
    assert {path.name for path in out.iterdir()} == {REPORT, TABLES, JUNIT, SCHEMA}
    shutil.copytree(out, tmp_path / "all")
    for name in FORMATS:
        _deliver(out, name)
        assert len([path for path in out.iterdir() if path.name not in (JUNIT, SCHEMA)]) == 1, name
        shutil.rmtree(out)
        shutil.copytree(tmp_path / "all", out)
    _deliver(out, "html")
    _deliver(out, *FORMATS)
    assert {path.name for path in out.iterdir()} == {REPORT, TABLES, JUNIT, SCHEMA}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["all", "out"]


@pytest.mark.parametrize(
    "name",
    [
        "thesis.txt", "notes/day.txt", ".hidden", "tables/mine.csv", "tables/totals.txt", "tables/deep/totals.csv",
        "pictures/holiday.png", "report.pdf",
    ],
)  # fmt: skip
def test_what_a_person_put_into_a_report_stays(name: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    _deliver(out, "html", "csv")
    (out / name).parent.mkdir(parents=True, exist_ok=True)
    (out / name).write_text("irreplaceable")
    page = (out / REPORT).read_bytes()
    with pytest.raises(ReportError, match=r"contains something other than a report, .*: choose another folder\.$"):
        _deliver(out, "html")
    assert (out / name).read_text() == "irreplaceable" and (out / REPORT).read_bytes() == page


def test_a_second_report_in_the_same_folder_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "out"
    (tmp_path / f"out.partial-{os.getppid()}").mkdir()
    with pytest.raises(Busy, match="Another report is being made in"):
        _deliver(out, "html")
    assert not out.exists() and [path.name for path in tmp_path.iterdir()] == [f"out.partial-{os.getppid()}"]


@pytest.mark.parametrize("name", [REPORT, JUNIT, SCHEMA, f"{TABLES}/totals.csv"])
def test_a_file_of_another_program_is_no_report_for_its_name(name: str, tmp_path: Path) -> None:
    (tmp_path / "out" / name).parent.mkdir(parents=True)
    (tmp_path / "out" / name).write_text("made by another program")
    with pytest.raises(ReportError, match="something other than a report"):
        _deliver(tmp_path / "out", "html")
    assert (tmp_path / "out" / name).read_text() == "made by another program"


def test_a_link_in_a_report_is_not_of_it(tmp_path: Path) -> None:
    _deliver(tmp_path / "out", "html")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out" / TABLES).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ReportError, match="something other than a report"):
        _deliver(tmp_path / "out", "html")
